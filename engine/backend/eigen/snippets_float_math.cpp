// float32 functions over Eigen's packets, as isa/float_math.hpp has them: the same operations in the same order.
#include "backend/eigen/snippets.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr Snippet kFloatMathSnippets[] = {
    {"library", "lanes ", R"src(
struct Exp;
struct Exp2;
struct Log;
struct Log2;
struct Sin;
struct Cos;
struct Tanh;
struct Erf;
struct Pow;

/// The C library's function of that name, for targets on which Eigen has no packets.
template <class F>
struct Library {
  template <class T, class... Y>
  static T of(T x, Y... y) {
    if constexpr (std::is_same<F, Exp>::value) return std::exp(x);
    if constexpr (std::is_same<F, Exp2>::value) return std::exp2(x);
    if constexpr (std::is_same<F, Log>::value) return std::log(x);
    if constexpr (std::is_same<F, Log2>::value) return std::log2(x);
    if constexpr (std::is_same<F, Sin>::value) return std::sin(x);
    if constexpr (std::is_same<F, Cos>::value) return std::cos(x);
    if constexpr (std::is_same<F, Tanh>::value) return std::tanh(x);
    if constexpr (std::is_same<F, Erf>::value) return std::erf(x);
    if constexpr (std::is_same<F, Pow>::value) return std::pow(x, y...);
  }
};
)src"},
    {"packets", "Packet library ", R"src(
namespace ei = Eigen::internal;

template <class P>
using ElementOf = typename ei::unpacket_traits<P>::type;
template <class P>
P splat(ElementOf<P> x) {
  return ei::pset1<P>(x);
}

/// F::of on Eigen's packets; on values of other types as many at a time as these hold.
template <class F, class... X>
[[gnu::always_inline]] inline auto packets(const X&... x) {
  using T = std::common_type_t<decltype(at(x, 0))...>;
  using P = typename ei::packet_traits<T>::type;
  constexpr int size = ei::packet_traits<T>::size;
  if constexpr (size == 1) {
    return lanes<Library<F>>(x...);
  } else if constexpr (std::is_same<T, Main>::value) {
    static_assert(sizeof(P) == sizeof(Packet), "one width");
    return Packet(F::of(P(all(x))...));
  } else {
    // A packet may be longer than the lanes are.
    Values<T, (kLanes > size ? kLanes : size)> y{};
    for (int l = 0; l < kLanes; l += size) {
      const auto part = [&](const auto& from) {
        Values<T, size> some{};
        for (int i = 0; i < size && l + i < kLanes; ++i) some.e[i] = at(from, l + i);
        return ei::ploadu<P>(some.e);
      };
      ei::pstoreu(y.e + l, F::of(part(x)...));
    }
    Lanes<T> z;
    std::memcpy(z.e, y.e, sizeof z.e);
    return z;
  }
}
)src"},
    {"float_math", "packets ", R"src(
// x + 1.5 * 2^23 has the whole number nearest to x in its lowest bits.
constexpr float kWhole = 12582912.0f;

/// y * 2^n where both are normal numbers; `whole` is kWhole + n.
template <class P>
P with_exponent(P y, P whole) {
  using I = typename ei::unpacket_traits<P>::integer_packet;
  return ei::preinterpret<P>(
      ei::padd(ei::preinterpret<I>(y), ei::plogical_shift_left<23>(ei::preinterpret<I>(whole))));
}

// 2 to this power is 0 and found at once, where processors take a hundred times as long for what is near the smallest
// numbers.
#if defined(EIGEN_VECTORIZE_AVX512)
constexpr float kFarOut = -1000.0f;
#else
constexpr float kFarOut = -245.0f;
#endif

/// a where x < y, else b. Eigen turns AVX-512's masks into packets and back, which can take longer than exp.
#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
P less(P x, P y, P a, P b) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), b, a);
}
#else
template <class P>
P less(P x, P y, P a, P b) {
  return ei::pselect(ei::pcmp_lt(x, y), a, b);
}
#endif

/// Within [far, high]; x itself where it is NaN. Below `low` the result is 0: `far` where that costs nothing to ask.
template <class P>
P within(P x, [[maybe_unused]] float low, float far, float high) {
  const P y = ei::pmin(x, splat<P>(high));
#if defined(EIGEN_VECTORIZE_AVX512)
  return ei::pmax(y, splat<P>(far));
#else
  return less(y, splat<P>(low), splat<P>(far), y);
#endif
}

#if defined(EIGEN_VECTORIZE_AVX512)
template <class P>
bool beyond(P, float) {
  return true;
}
/// y * 2^n, rounded once where that is subnormal; `whole` is kWhole + n. Not `far`: the result is normal.
template <class P>
P scaled(P y, P n, P, bool) {
  return _mm512_scalef_ps(y, n);
}
#else
/// Is any |x| beyond the limit, or NaN?
template <class P>
bool beyond(P x, float limit) {
  return ei::predux_any(ei::pcmp_lt_or_nan(splat<P>(limit), ei::pabs(x)));
}
/// y * 2^n, rounded once where that is subnormal; `whole` is kWhole + n. Not `far`: the result is normal.
template <class P>
P scaled(P y, P n, P whole, bool far) {
  if (__builtin_expect(!far, 1)) return with_exponent(y, whole);
  const P half = ei::pmadd(n, splat<P>(0.5f), splat<P>(kWhole));
  const P rest = ei::padd(ei::psub(n, ei::psub(half, splat<P>(kWhole))), splat<P>(kWhole));
  const P z = ei::pmul(with_exponent(y, half), with_exponent(splat<P>(1.0f), rest));
  return ei::pselect(ei::pcmp_eq(y, y), z, y);
}
#endif
)src"},
    {"exp_tail", "float_math ", R"src(
constexpr float kLog2E = 1.44269504f;
// ln 2 in two parts; whole numbers of 9 bits times the first are exact.
constexpr float kLn2 = 0.693359375f;
constexpr float kLn2Rest = -2.12194440e-4f;

/// (e^r - 1 - r) / r^2 for |r| up to ln(2)/2.
template <class P>
P exp_tail(P r) {
  P q = ei::pmadd(splat<P>(1.3818304e-3f), r, splat<P>(8.368533e-3f));
  q = ei::pmadd(q, r, splat<P>(4.1668292e-2f));
  q = ei::pmadd(q, r, splat<P>(0.16666523f));
  return ei::pmadd(q, r, splat<P>(0.49999994f));
}

/// x - n ln 2.
template <class P>
P without_ln2(P x, P n) {
  return ei::pmadd(n, splat<P>(-kLn2Rest), ei::pmadd(n, splat<P>(-kLn2), x));
}
)src"},
    {"exp_float", "exp_tail ", R"src(
/// e^x = 2^n e^r.
template <class P>
P exp_float(P x) {
  const bool far = beyond(x, 87.0f);
  if (__builtin_expect(far, 0)) x = within(x, -104.0f, 0.69f * kFarOut, 89.0f);
  const P whole = ei::pmadd(x, splat<P>(kLog2E), splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = without_ln2(x, n);
  P y = ei::pmadd(exp_tail(r), r, splat<P>(1.0f));
  y = ei::pmadd(y, r, splat<P>(1.0f));
  return scaled(y, n, whole, far);
}
)src"},
    {"exp2_float", "float_math ", R"src(
template <class P>
P exp2_float(P x) {
  const bool far = beyond(x, 125.0f);
  if (__builtin_expect(far, 0)) x = within(x, -151.0f, kFarOut, 129.0f);
  const P whole = ei::padd(x, splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = ei::psub(x, n);
  P y = ei::pmadd(splat<P>(1.5326464e-4f), r, splat<P>(1.3390806e-3f));
  y = ei::pmadd(y, r, splat<P>(9.618506e-3f));
  y = ei::pmadd(y, r, splat<P>(5.55036e-2f));
  y = ei::pmadd(y, r, splat<P>(0.24022648f));
  y = ei::pmadd(y, r, splat<P>(0.6931472f));
  y = ei::pmadd(y, r, splat<P>(1.0f));
  return scaled(y, n, whole, far);
}
)src"},
    {"Tanh", "exp_tail ", R"src(
/// m / (m + 2) with m = e^2x - 1 = 2^n (e^r - 1) + (2^n - 1); below 1/2, where that loses places, x (1 + x^2 p(x^2)).
template <class P>
P tanh_float(P x) {
  const P bounded = ei::pmin(ei::pabs(x), splat<P>(10.0f));
  const P twice = ei::padd(bounded, bounded);
  const P whole = ei::pmadd(twice, splat<P>(kLog2E), splat<P>(kWhole));
  const P n = ei::psub(whole, splat<P>(kWhole));
  const P r = without_ln2(twice, n);
  const P part = ei::pmadd(ei::pmul(r, r), exp_tail(r), r);
  const P scale = with_exponent(splat<P>(1.0f), whole);
  const P m = ei::pmadd(part, scale, ei::psub(scale, splat<P>(1.0f)));
  const P z = ei::pdiv(m, ei::padd(m, splat<P>(2.0f)));
  const P x2 = ei::pmul(bounded, bounded);
  P p = ei::pmadd(splat<P>(1.724041e-2f), x2, splat<P>(-5.304498e-2f));
  p = ei::pmadd(p, x2, splat<P>(0.13325872f));
  p = ei::pmadd(p, x2, splat<P>(-0.33333144f));
  p = ei::pmul(bounded, ei::pmadd(p, x2, splat<P>(1.0f)));
  return ei::por(less(x2, splat<P>(0.25f), p, z), ei::pand(x, splat<P>(-0.0f)));
}

struct Tanh {
  template <class P>
  static P of(P x) {
    return tanh_float(x);
  }
};
)src"},
    {"Erf", "float_math ", R"src(
/// x + x p(x^2) below 0.9; from there on 1 - 2^q(x), which is 1 from 4 on.
template <class P>
P erf_float(P x) {
  const P magnitude = ei::pabs(x);
  const P x2 = ei::pmul(x, x);
  P p = ei::pmadd(splat<P>(-6.034459e-4f), x2, splat<P>(5.0014905e-3f));
  p = ei::pmadd(p, x2, splat<P>(-2.6772095e-2f));
  p = ei::pmadd(p, x2, splat<P>(0.11281961f));
  p = ei::pmadd(p, x2, splat<P>(-0.37612507f));
  p = ei::pmadd(p, x2, splat<P>(0.12837915f));
  p = ei::pmadd(p, x, x);
  const P a = ei::pmin(magnitude, splat<P>(4.0f));
  P q = ei::pmadd(splat<P>(3.095996e-4f), a, splat<P>(-4.6454747e-3f));
  q = ei::pmadd(q, a, splat<P>(3.3046514e-2f));
  q = ei::pmadd(q, a, splat<P>(-0.15189697f));
  q = ei::pmadd(q, a, splat<P>(-0.9171202f));
  q = ei::pmadd(q, a, splat<P>(-1.6281102f));
  q = ei::pmul(q, a);
  const P whole = ei::padd(q, splat<P>(kWhole));
  const P r = ei::psub(q, ei::psub(whole, splat<P>(kWhole)));
  P y = ei::pmadd(splat<P>(1.3269407e-3f), r, splat<P>(9.671294e-3f));
  y = ei::pmadd(y, r, splat<P>(5.5507112e-2f));
  y = ei::pmadd(y, r, splat<P>(0.24022247f));
  y = ei::pmadd(y, r, splat<P>(0.693147f));
  y = ei::pmadd(y, r, splat<P>(1.0f));
  y = ei::psub(splat<P>(1.0f), with_exponent(y, whole));
  return less(splat<P>(0.9f), magnitude, ei::por(y, ei::pand(x, splat<P>(-0.0f))), p);
}

struct Erf {
  template <class P>
  static P of(P x) {
    return erf_float(x);
  }
};
)src"},
    {"sine", "float_math ", R"src(
// |x| less n times pi/2, in parts whose products with n are exact (but for the last) up to a limit; beyond it the C
// library takes over.
#if defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
constexpr float kTurnLimit = 1e5f;
template <class P>
P without_turns(P x, P n) {
  P r = ei::pmadd(n, splat<P>(-1.57079637f), x);
  r = ei::pmadd(n, splat<P>(4.37113883e-8f), r);
  return ei::pmadd(n, splat<P>(1.71512449e-15f), r);
}
#else
constexpr float kTurnLimit = 2e4f;
template <class P>
P without_turns(P x, P n) {
  const P first = ei::psub(x, ei::pmul(n, splat<P>(1.5703125f)));
  const P second = ei::psub(first, ei::pmul(n, splat<P>(4.839897155761719e-4f)));
  const P part = ei::pmul(n, splat<P>(1.6298145055770874e-7f));
  const P third = ei::padd(second, part);
  const P lost = ei::psub(part, ei::psub(third, second));
  return ei::padd(third, ei::psub(lost, ei::pmul(n, splat<P>(6.07710062827671e-11f))));
}
#endif

/// Polynomials for sine and cosine up to pi/4; the number of quarter turns says which one, and the sign.
template <bool kCosine, class P>
P sine_float(P x) {
  using I = typename ei::unpacket_traits<P>::integer_packet;
  const P magnitude = ei::pabs(x);
  const P whole = ei::pmadd(magnitude, splat<P>(0.636619772f), splat<P>(kWhole));
  const P r = without_turns(magnitude, ei::psub(whole, splat<P>(kWhole)));
  const P r2 = ei::pmul(r, r);
  P s = ei::pmadd(splat<P>(-1.9518276e-4f), r2, splat<P>(8.332189e-3f));
  s = ei::pmadd(s, r2, splat<P>(-0.16666655f));
  s = ei::pmadd(s, ei::pmul(r2, r), r);
  P c = ei::pmadd(splat<P>(2.4432327e-5f), r2, splat<P>(-1.388731e-3f));
  c = ei::pmadd(c, r2, splat<P>(4.1666646e-2f));
  c = ei::pmadd(c, r2, splat<P>(-0.5f));
  c = ei::pmadd(c, r2, splat<P>(1.0f));
  const I turns = ei::preinterpret<I>(whole);
  const P odd = ei::preinterpret<P>(ei::parithmetic_shift_right<31>(ei::plogical_shift_left<31>(turns)));
  const I half_turns = kCosine ? ei::padd(turns, ei::pset1<I>(1)) : turns;
  P sign = ei::pand(ei::preinterpret<P>(ei::plogical_shift_left<30>(half_turns)), splat<P>(-0.0f));
  if (!kCosine) sign = ei::pxor(sign, ei::pand(x, splat<P>(-0.0f)));
  const P y = ei::pxor(kCosine ? ei::pselect(odd, s, c) : ei::pselect(odd, c, s), sign);
  if (__builtin_expect(!ei::predux_any(ei::pcmp_lt_or_nan(splat<P>(kTurnLimit), magnitude)), 1)) return y;
  constexpr int size = ei::unpacket_traits<P>::size;
  float from[size];
  float to[size];
  ei::pstoreu(from, x);
  ei::pstoreu(to, y);
  for (int l = 0; l < size; ++l) {
    if (!(std::fabs(from[l]) <= kTurnLimit)) to[l] = kCosine ? std::cos(from[l]) : std::sin(from[l]);
  }
  return ei::ploadu<P>(to);
}
)src"},
    {"Sin", "sine ", R"src(
struct Sin {
  template <class P>
  static P of(P x) {
    return sine_float<false>(x);
  }
};
)src"},
    {"Cos", "sine ", R"src(
struct Cos {
  template <class P>
  static P of(P x) {
    return sine_float<true>(x);
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> float_math_snippets() { return kFloatMathSnippets; }

}  // namespace oriel::backend::eigen
