// Transcendental functions: those of isa/float_math.hpp, and Eigen's packet functions where they are accurate, with
// their edges mended, as isa/math_ops.cpp has them: the same operations in the same order, so that both tiers give the
// same bits.
#include "source/cpp/snippets.hpp"

namespace oriel::source::cpp {
namespace {

constexpr Snippet kMathSnippets[] = {
    {"keep_nan", "packets ", R"src(
/// y where x is a number, x where it is NaN.
template <class P>
P keep_nan(P x, P y) {
  return ei::pselect(ei::pcmp_eq(x, x), y, x);
}
/// Is any of x below low, above high, or NaN?
template <class P>
bool any_outside(P x, P low, P high) {
  return ei::predux_any(ei::por(ei::pcmp_lt_or_nan(x, low), ei::pcmp_lt_or_nan(high, x)));
}
#if defined(EIGEN_VECTORIZE_AVX512)
// Eigen 3.4 turns the masks of AVX-512 into packets and back.
[[maybe_unused]] inline ei::Packet16f keep_nan(ei::Packet16f x, ei::Packet16f y) {
  return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}
[[maybe_unused]] inline bool any_outside(ei::Packet16f x, ei::Packet16f low, ei::Packet16f high) {
  return (_mm512_cmp_ps_mask(x, low, _CMP_NGE_UQ) | _mm512_cmp_ps_mask(x, high, _CMP_NLE_UQ)) != 0;
}
#endif
)src"},
    {"divided", "keep_nan ", R"src(
/// x / y of float32 with one y for many x: its reciprocal, and two rests that make the quotient correctly rounded
/// (Markstein) where nothing here is subnormal or infinite.
[[maybe_unused]] inline Packet divided(const Packet& x, float y) {
#if defined(EIGEN_VECTORIZE) && defined(EIGEN_HAS_SINGLE_INSTRUCTION_MADD)
  using P = ei::packet_traits<float>::type;
  const P v = P(x);
  const float magnitude = y < 0.0f ? -y : y;
  const bool fits = magnitude >= 0x1p-40f && magnitude <= 0x1p40f;
  if (__builtin_expect(!fits || any_outside(ei::pabs(v), splat<P>(0x1p-60f), splat<P>(0x1p60f)), 0)) return x / y;
  const P reciprocal = splat<P>(1.0f / y);
  const P minus = splat<P>(-y);
  P q = ei::pmul(v, reciprocal);
  q = ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q);
  return Packet(ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q));
#else
  return x / y;
#endif
}
)src"},
    {"Exp", "keep_nan exp_float ", R"src(
/// Of float64 Eigen's, which stops at the smallest normal number; far out exp(x) = exp(x/2)^2.
struct Exp {
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return exp_float(x);
    } else {
      const P low = splat<P>(-708);
      const P high = splat<P>(709);
      if (__builtin_expect(!any_outside(x, low, high), 1)) return ei::pexp(x);
      const P y = ei::pexp(ei::pmax(ei::pmin(x, high), low));
      const P half = ei::pexp(ei::pmax(ei::pmin(ei::pmul(x, splat<P>(0.5)), high), low));
      const P outside = ei::por(ei::pcmp_lt(x, low), ei::pcmp_lt(high, x));
      return keep_nan(x, ei::pselect(outside, ei::pmul(half, half), y));
    }
  }
};
)src"},
    {"Exp2", "keep_nan exp2_float ", R"src(
/// Of float64 2^x = 2^n * e^(f ln 2), n the whole number nearest to x and f the rest.
struct Exp2 {
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return exp2_float(x);
    } else {
      const P bounded = ei::pmax(ei::pmin(x, splat<P>(1100)), splat<P>(-1100));
      const P n = ei::pfloor(ei::padd(bounded, splat<P>(0.5)));
      const P f = ei::psub(bounded, n);
      return keep_nan(x, ei::pldexp(ei::pexp(ei::pmul(f, splat<P>(0.693147180559945309417))), n));
    }
  }
};
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
    {"Tanh", "tanh_float ", R"src(
struct Tanh {
  template <class P>
  static P of(P x) {
    return tanh_float(x);
  }
};
)src"},
    {"Erf", "erf_float ", R"src(
struct Erf {
  template <class P>
  static P of(P x) {
    return erf_float(x);
  }
};
)src"},
    {"scaled_log", "packets ", R"src(
/// Eigen's logarithms take subnormal numbers for the smallest normal one: those are scaled up first.
template <class P, class F>
P scaled_log(P x, double of_a_bit, F log) {
  using T = ElementOf<P>;
  constexpr int bits = sizeof(T) == 4 ? 25 : 54;
  constexpr T scale = static_cast<T>(std::int64_t{1} << bits);
  const P small = ei::pcmp_lt(ei::pabs(x), splat<P>(std::numeric_limits<T>::min()));
  if (__builtin_expect(!ei::predux_any(small), 1)) return log(x);
  const P y = log(ei::pselect(small, ei::pmul(x, splat<P>(scale)), x));
  return ei::pselect(small, ei::psub(y, splat<P>(static_cast<T>(bits * of_a_bit))), y);
}
)src"},
    {"Log", "scaled_log ", R"src(
struct Log {
  template <class P>
  static P of(P x) {
    return scaled_log(x, 0.693147180559945309417, [](P v) { return ei::plog(v); });
  }
};
)src"},
    {"Log2", "scaled_log ", R"src(
struct Log2 {
  template <class P>
  static P of(P x) {
    return scaled_log(x, 1, [](P v) { return ei::plog2(v); });
  }
};
)src"},
    {"LibrarySin", "<cmath> ", R"src(
struct LibrarySin {
  template <class T>
  static T of(T x) {
    return std::sin(x);
  }
};
)src"},
    {"LibraryCos", "<cmath> ", R"src(
struct LibraryCos {
  template <class T>
  static T of(T x) {
    return std::cos(x);
  }
};
)src"},
    {"LibraryTanh", "<cmath> ", R"src(
struct LibraryTanh {
  template <class T>
  static T of(T x) {
    return std::tanh(x);
  }
};
)src"},
    {"LibraryErf", "<cmath> ", R"src(
struct LibraryErf {
  template <class T>
  static T of(T x) {
    return std::erf(x);
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> math_snippets() { return kMathSnippets; }

}  // namespace oriel::source::cpp
