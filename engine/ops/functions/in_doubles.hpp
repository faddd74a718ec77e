// Functions whose float32 is computed in float64, where formulas that lose a few places there are still right to
// float32: wide() takes and gives packets of float64, and the rounding at the end is nearly all of the error. Their
// float64 is the C library's.
#pragma once

#include "ops/functions/angle_math.hpp"
#include "ops/functions/elementary.hpp"

namespace oriel::ops::ORIEL_ISA_LEVEL {
namespace {

// snippet float32_in_doubles: vectors

/// F::wide of float32, the C library's function of float64.
template <class F, class P, class... X>
P float32_in_doubles(P x, X... others) {
  if constexpr (sizeof(ElementOf<P>) == 4) {
    return in_doubles<F>(x, others...);
  } else {
    return by_library<F>(MaskOf<P>{} - 1, x, x, others...);
  }
}

// snippet wide_exp: vectors keep_nan

/// e^x of float64. It saturates below 1e-300 and above 1e300, which float32 rounds to 0 and infinity.
template <class P>
NumberOf<P> wide_exp(NumberOf<P> x) {
  return NumberOf<P>(keep_nan(P(x), ei::pexp(P(x))));
}

// snippet wide_log: vectors

/// The natural logarithm of float64 that is not subnormal.
template <class P>
NumberOf<P> wide_log(NumberOf<P> x) {
  return NumberOf<P>(ei::plog(P(x)));
}

// snippet wide_sqrt: vectors

/// Correctly rounded. Eigen's for AVX-512 is an approximation, and NaN for infinity.
template <class P>
NumberOf<P> wide_sqrt(NumberOf<P> x) {
#if defined(EIGEN_VECTORIZE_AVX512)
  return NumberOf<P>(_mm512_sqrt_pd(__m512d(x)));
#else
  return NumberOf<P>(ei::psqrt(P(x)));
#endif
}

// snippet near_zero: vectors

// Below this the functions that are x at 0 are x times a polynomial; from there on their formulas lose at most 12 of 53
// bits.
constexpr double kNearZero = 0x1p-10;

/// x times a polynomial of z where |x| is small, else far. Keeps the sign of a zero.
template <class P, int kCount>
NumberOf<P> near_zero(NumberOf<P> x, const double (&terms)[kCount], NumberOf<P> z, NumberOf<P> far) {
  return chosen<P>(magnitude<P>(x) < kNearZero, x * polynomial<P>(terms, z), far);
}

// snippet Hypot: float32_in_doubles wide_sqrt <cmath>

/// Squares of float32 are exact in float64 and do not overflow there. Infinite if either is, even beside NaN.
struct Hypot {
  template <class T>
  static T library(T x, T y) {
    return std::hypot(x, y);
  }
  template <class P>
  static P wide(P first, P second) {
    using N = NumberOf<P>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const N x = magnitude<P>(N(first));
    const N y = magnitude<P>(N(second));
    return P(chosen<P>((x == infinity) | (y == infinity), N{} + infinity, wide_sqrt<P>(x * x + y * y)));
  }
  template <class P>
  static P of(P x, P y) {
    return float32_in_doubles<Hypot>(x, y);
  }
};

// snippet Expm1: float32_in_doubles wide_exp near_zero <cmath>

struct Expm1 {
  template <class T>
  static T library(T x) {
    return std::expm1(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {1.0 / 24, 1.0 / 6, 0.5, 1.0};
    const N x = N(packet);
    return P(near_zero<P>(x, terms, x, wide_exp<P>(x) - 1.0));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Expm1>(x);
  }
};

// snippet Log1p: float32_in_doubles wide_log near_zero <cmath>

struct Log1p {
  template <class T>
  static T library(T x) {
    return std::log1p(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {-0.25, 1.0 / 3, -0.5, 1.0};
    const N x = N(packet);
    return P(near_zero<P>(x, terms, x, wide_log<P>(x + 1.0)));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Log1p>(x);
  }
};

// snippet Log10: float32_in_doubles wide_log <cmath>

struct Log10 {
  template <class T>
  static T library(T x) {
    return std::log10(x);
  }
  template <class P>
  static P wide(P x) {
    return P(wide_log<P>(NumberOf<P>(x)) * 0.43429448190325182765);
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Log10>(x);
  }
};

// snippet Asin: float32_in_doubles wide_sqrt Atan2 <cmath>

/// The angle of the point (sqrt(1 - x^2), x).
struct Asin {
  template <class T>
  static T library(T x) {
    return std::asin(x);
  }
  template <class P>
  static P wide(P packet) {
    const NumberOf<P> x = NumberOf<P>(packet);
    return Atan2::wide(packet, P(wide_sqrt<P>((1.0 - x) * (x + 1.0))));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Asin>(x);
  }
};

// snippet Acos: float32_in_doubles wide_sqrt Atan2 <cmath>

/// The angle of the point (x, sqrt(1 - x^2)).
struct Acos {
  template <class T>
  static T library(T x) {
    return std::acos(x);
  }
  template <class P>
  static P wide(P packet) {
    const NumberOf<P> x = NumberOf<P>(packet);
    return Atan2::wide(P(wide_sqrt<P>((1.0 - x) * (x + 1.0))), packet);
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Acos>(x);
  }
};

// snippet Atan: float32_in_doubles Atan2 <cmath>

/// The angle of the point (1, x).
struct Atan {
  template <class T>
  static T library(T x) {
    return std::atan(x);
  }
  template <class P>
  static P wide(P x) {
    return Atan2::wide(x, P(NumberOf<P>{} + 1.0));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Atan>(x);
  }
};

// snippet Sinh: float32_in_doubles wide_exp near_zero <cmath>

struct Sinh {
  template <class T>
  static T library(T x) {
    return std::sinh(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {1.0 / 120, 1.0 / 6, 1.0};
    const N x = N(packet);
    const N e = wide_exp<P>(magnitude<P>(x));
    return P(near_zero<P>(x, terms, x * x, signed_by<P>((e - 1.0 / e) * 0.5, sign_of<P>(x))));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Sinh>(x);
  }
};

// snippet Cosh: float32_in_doubles wide_exp <cmath>

struct Cosh {
  template <class T>
  static T library(T x) {
    return std::cosh(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    const N e = wide_exp<P>(magnitude<P>(N(packet)));
    return P((e + 1.0 / e) * 0.5);
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Cosh>(x);
  }
};

// snippet Asinh: float32_in_doubles wide_log wide_sqrt near_zero <cmath>

/// log(|x| + sqrt(x^2 + 1)), with the sign of x.
struct Asinh {
  template <class T>
  static T library(T x) {
    return std::asinh(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {3.0 / 40, -1.0 / 6, 1.0};
    const N x = N(packet);
    const N z = x * x;
    const N far = wide_log<P>(magnitude<P>(x) + wide_sqrt<P>(z + 1.0));
    return P(near_zero<P>(x, terms, z, signed_by<P>(far, sign_of<P>(x))));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Asinh>(x);
  }
};

// snippet Acosh: float32_in_doubles wide_log wide_sqrt <cmath>

/// log(x + sqrt(x^2 - 1)); NaN below 1. The difference is exact near 1.
struct Acosh {
  template <class T>
  static T library(T x) {
    return std::acosh(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    const N x = N(packet);
    const N y = wide_log<P>(x + wide_sqrt<P>(x * x - 1.0));
    return P(chosen<P>(x < 1.0, N{} + std::numeric_limits<double>::quiet_NaN(), y));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Acosh>(x);
  }
};

// snippet Atanh: float32_in_doubles wide_log near_zero <cmath>

/// Half of log((1 + x) / (1 - x)).
struct Atanh {
  template <class T>
  static T library(T x) {
    return std::atanh(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {0.2, 1.0 / 3, 1.0};
    const N x = N(packet);
    return P(near_zero<P>(x, terms, x * x, wide_log<P>((x + 1.0) / (1.0 - x)) * 0.5));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Atanh>(x);
  }
};

// snippet Erfc: float32_in_doubles wide_exp <cmath>

/// t exp(p(t) - x^2) with t = 1 / (1 + |x| / 2), the form of W. Press et al., "Numerical Recipes", section 6.2; 2 less
/// that for negative x. The polynomial interpolates at Chebyshev points for |x| up to 10.7, where float32 is 0, with a
/// relative error of 3e-10.
struct Erfc {
  template <class T>
  static T library(T x) {
    return std::erfc(x);
  }
  template <class P>
  static P wide(P packet) {
    using N = NumberOf<P>;
    constexpr double terms[] = {0x1.8c080075bdcbcp-3,  -0x1.6cd0d0a28e06ap+0, 0x1.238d6edb8f84ap+2,
                                -0x1.0566b6918f964p+3, 0x1.1c3d2e6783e75p+3,  -0x1.825c6b69dba00p+2,
                                0x1.69feb6c1c207bp+1,  -0x1.23e76d8cf2626p+0, 0x1.3d289b1b38fe0p-3,
                                0x1.60af564279103p-5,  0x1.84897c0ffbaf2p-2,  0x1.ffda4af39342bp-1,
                                -0x1.43f80e6b48933p+0};
    const N x = N(packet);
    const N a = magnitude<P>(x);
    const N t = 1.0 / fused<P>(a, N{} + 0.5, N{} + 1.0);
    const N y = t * wide_exp<P>(polynomial<P>(terms, t) - a * a);
    return P(chosen<P>(x < 0.0, 2.0 - y, y));
  }
  template <class P>
  static P of(P x) {
    return float32_in_doubles<Erfc>(x);
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops::ORIEL_ISA_LEVEL
