// Exponentials, logarithms, sines, tanh and erf, as functors over packets: of(packet), and library(element), C's
// function, for targets without packets and where packets are no faster. float32 is float_math.hpp's; of float64,
// exponentials and logarithms are Eigen's with their edges mended, and the rest is the C library's.
#pragma once

#include "ops/functions/vectors.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

// snippet keep_nan: packets

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

// snippet divided: keep_nan

/// x / y in float32 for many x and one y. Multiplies by the reciprocal and corrects the quotient by two remainders,
/// after which it is correctly rounded (Markstein) if nothing here is subnormal or infinite.
template <class V>
V divided(V x, float y) {
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
  return V(ei::pmadd(ei::pmadd(q, minus, v), reciprocal, q));
#else
  return x / y;
#endif
}

// snippet Exp: keep_nan exp_float <cmath>

/// float64: Eigen's, which stops at the smallest normal number. Far out exp(x) = exp(x/2)^2, which rounds once into the
/// subnormal range and under- or overflows as it should.
struct Exp {
  template <class T>
  static T library(T x) {
    return std::exp(x);
  }
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

// snippet Exp2: keep_nan exp2_float <cmath>

/// float64: 2^x = 2^n * e^(f ln 2), n the whole number nearest to x and f the rest. Scaled in two steps, so that it
/// reaches the subnormals.
struct Exp2 {
  template <class T>
  static T library(T x) {
    return std::exp2(x);
  }
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

// snippet scaled_log: packets

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

// snippet Log: scaled_log <cmath>

struct Log {
  template <class T>
  static T library(T x) {
    return std::log(x);
  }
  template <class P>
  static P of(P x) {
    return scaled_log(x, 0.693147180559945309417, [](P v) { return ei::plog(v); });
  }
};

// snippet Log2: scaled_log <cmath>

struct Log2 {
  template <class T>
  static T library(T x) {
    return std::log2(x);
  }
  template <class P>
  static P of(P x) {
    return scaled_log(x, 1, [](P v) { return ei::plog2(v); });
  }
};

// snippet Sin: sine vectors <cmath>

struct Sin {
  template <class T>
  static T library(T x) {
    return std::sin(x);
  }
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return sine_float<false>(x);
    } else {
      return by_library<Sin>(MaskOf<P>{} - 1, x, x);
    }
  }
};

// snippet Cos: sine vectors <cmath>

struct Cos {
  template <class T>
  static T library(T x) {
    return std::cos(x);
  }
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return sine_float<true>(x);
    } else {
      return by_library<Cos>(MaskOf<P>{} - 1, x, x);
    }
  }
};

// snippet Tanh: tanh_float vectors <cmath>

struct Tanh {
  template <class T>
  static T library(T x) {
    return std::tanh(x);
  }
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return tanh_float(x);
    } else {
      return by_library<Tanh>(MaskOf<P>{} - 1, x, x);
    }
  }
};

// snippet Erf: erf_float vectors <cmath>

struct Erf {
  template <class T>
  static T library(T x) {
    return std::erf(x);
  }
  template <class P>
  static P of(P x) {
    if constexpr (sizeof(ElementOf<P>) == 4) {
      return erf_float(x);
    } else {
      return by_library<Erf>(MaskOf<P>{} - 1, x, x);
    }
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
