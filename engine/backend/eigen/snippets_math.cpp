// Transcendental functions: Eigen's packet functions where they are accurate, with their edges mended, as
// isa/math_ops.cpp has them: the same operations in the same order, so that both tiers give the same bits.
#include "backend/eigen/snippets.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr Snippet kSnippets[] = {
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
    {"Exp", "keep_nan ", R"src(
/// Eigen's exp stops at the smallest normal number; far out exp(x) = exp(x/2)^2.
struct Exp {
  template <class P>
  static P of(P x) {
    using T = ElementOf<P>;
    const P low = splat<P>(sizeof(T) == 4 ? T(-87) : T(-708));
    const P high = splat<P>(sizeof(T) == 4 ? T(88) : T(709));
    if (__builtin_expect(!any_outside(x, low, high), 1)) return ei::pexp(x);
    const P y = ei::pexp(ei::pmax(ei::pmin(x, high), low));
    const P half = ei::pexp(ei::pmax(ei::pmin(ei::pmul(x, splat<P>(T(0.5))), high), low));
    const P outside = ei::por(ei::pcmp_lt(x, low), ei::pcmp_lt(high, x));
    return keep_nan(x, ei::pselect(outside, ei::pmul(half, half), y));
  }
};
)src"},
    {"Exp2", "keep_nan ", R"src(
/// 2^x = 2^n * e^(f ln 2), n the whole number nearest to x and f the rest.
struct Exp2 {
  template <class P>
  static P of(P x) {
    using T = ElementOf<P>;
    const T limit = sizeof(T) == 4 ? T(160) : T(1100);
    const P bounded = ei::pmax(ei::pmin(x, splat<P>(limit)), splat<P>(-limit));
    const P n = ei::pfloor(ei::padd(bounded, splat<P>(T(0.5))));
    const P f = ei::psub(bounded, n);
    const P y = ei::pldexp(ei::pexp(ei::pmul(f, splat<P>(T(0.693147180559945309417)))), n);
    return keep_nan(x, y);
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
    {"Sin", "packets ", R"src(
struct Sin {
  template <class P>
  static P of(P x) {
    return ei::psin_float(x);
  }
};
)src"},
    {"Cos", "packets ", R"src(
struct Cos {
  template <class P>
  static P of(P x) {
    return ei::pcos_float(x);
  }
};
)src"},
    {"Tanh", "keep_nan ", R"src(
struct Tanh {
  template <class P>
  static P of(P x) {
    return keep_nan(x, ei::generic_fast_tanh_float(x));
  }
};
)src"},
    {"Erf", "keep_nan ", R"src(
/// The rational function underflows before the number does; there the slope 2/sqrt(pi) says it all.
struct Erf {
  template <class P>
  static P of(P x) {
    const P tiny = ei::pcmp_lt(ei::pabs(x), splat<P>(1e-10f));
    const P y = ei::pselect(tiny, ei::pmul(x, splat<P>(1.12837917f)), ei::generic_fast_erf_float(x));
    return keep_nan(x, y);
  }
};
)src"},
    {"LibraryPow", "", R"src(
struct LibraryPow {
  template <class T>
  static T of(T x, T y) {
    return std::pow(x, y);
  }
};
)src"},
    {"Pow", "packets LibraryPow ", R"src(
struct Pow {
  template <class P>
  static P of(P x, P y) {
    constexpr int size = ei::unpacket_traits<P>::size;
#if defined(__SSE4_1__) || !defined(__SSE2__)
    // Eigen's loses the sign of a base of -0 or -infinity: such bases go to the library.
    const P r = ei::generic_pow(x, y);
    const P infinite = ei::pcmp_eq(ei::pabs(x), splat<P>(std::numeric_limits<float>::infinity()));
    if (__builtin_expect(!ei::predux_any(ei::por(infinite, ei::pcmp_eq(x, splat<P>(0.0f)))), 1)) return r;
    const auto special = [](float v) { return v == 0.0f || std::fabs(v) == std::numeric_limits<float>::infinity(); };
#else
    // Eigen's needs a packet rounding that SSE2 lacks.
    const P r = x;
    const auto special = [](float) { return true; };
#endif
    Values<float, size> base, exponent, power;
    ei::pstoreu(base.e, x);
    ei::pstoreu(exponent.e, y);
    ei::pstoreu(power.e, r);
    for (int l = 0; l < size; ++l) {
      if (special(base.e[l])) power.e[l] = std::pow(base.e[l], exponent.e[l]);
    }
    return ei::ploadu<P>(power.e);
  }
};
)src"},
    {"LibrarySin", "", R"src(
struct LibrarySin {
  template <class T>
  static T of(T x) {
    return std::sin(x);
  }
};
)src"},
    {"LibraryCos", "", R"src(
struct LibraryCos {
  template <class T>
  static T of(T x) {
    return std::cos(x);
  }
};
)src"},
    {"LibraryTan", "", R"src(
struct LibraryTan {
  template <class T>
  static T of(T x) {
    return std::tan(x);
  }
};
)src"},
    {"LibraryTanh", "", R"src(
struct LibraryTanh {
  template <class T>
  static T of(T x) {
    return std::tanh(x);
  }
};
)src"},
    {"LibraryErf", "", R"src(
struct LibraryErf {
  template <class T>
  static T of(T x) {
    return std::erf(x);
  }
};
)src"},
    {"LibraryAtan2", "", R"src(
struct LibraryAtan2 {
  template <class T>
  static T of(T y, T x) {
    return std::atan2(y, x);
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> math_snippets() { return kSnippets; }

}  // namespace oriel::backend::eigen
