// Division with a remainder: TruncDiv, Fmod, FloorDiv and Remainder. As element.hpp: called by folding, compiled for
// each instruction set, and text of rendered sources. The bits are the same everywhere, because remainders are exact.
#pragma once

#include "ops/functions/element.hpp"

namespace oriel::ops {
namespace {

// snippet ExactRest: <cmath>

/// The remainder of x / y that std::fmod gives, without that function's loop if the quotient is small. Then the rounded
/// quotient, truncated, is the true one or one more, and the remainder is exact: by a fused product and difference, or,
/// for float32, in float64.
struct ExactRest {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
  static constexpr bool kDouble = true;
#else
  static constexpr bool kDouble = false;
#endif
  template <class T>
  using Work = std::conditional_t<kDouble, T, double>;

  /// The remainder, if `sure` is set to true; else any number. Has no branch.
  template <class T>
  static T quick(T x, T y, bool& sure) {
    using W = Work<T>;
    const W limit = sizeof(T) == 4 ? W(4194304) : W(2251799813685248.0);
    const W a = std::fabs(W(x));
    const W b = std::fabs(W(y));
    const W n = std::trunc(a / b);
    sure = n < limit && (kDouble || sizeof(T) == 4);  // false for NaN
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
    const W rest = sizeof(T) == 4 ? W(__builtin_fmaf(float(-n), float(b), float(a))) : W(__builtin_fma(-n, b, a));
#else
    const W rest = a - n * b;
#endif
    const W inside = rest < W(0) ? rest + b : rest;
    return std::copysign(T(n == W(0) ? a : inside), x);  // an infinite y leaves x
  }
  template <class T>
  static T of(T x, T y) {
    bool sure = false;
    const T rest = quick(x, y, sure);
    return __builtin_expect(sure, 1) ? rest : std::fmod(x, y);
  }
};

// snippet TruncDiv: Trunc

/// Towards zero. Integers: x / 0 is 0, and the smallest by -1 wraps.
struct TruncDiv {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return Trunc::of(x / y);
    } else {
      if (y == T(0)) return T(0);
      if (std::is_signed_v<T> && y == T(-1)) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
      return static_cast<T>(x / y);
    }
  }
};

// snippet Fmod: ExactRest

/// The remainder of TruncDiv; it has the sign of x. Integers: 0 where y is 0.
struct Fmod {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return ExactRest::of(x, y);
    } else {
      if (y == T(0) || (std::is_signed_v<T> && y == T(-1))) return T(0);
      return static_cast<T>(x % y);
    }
  }
  template <class T>
  static T quick(T x, T y, bool& sure) {
    return ExactRest::quick(x, y, sure);
  }
};

// snippet FloorDiv: TruncDiv Fmod

/// Towards minus infinity. Floats: the whole number q with x - q y = Remainder, as in Python and PyTorch, rounded if it
/// is large; x / 0 is IEEE's quotient. Integers: 0 if y is 0.
struct FloorDiv {
  template <class T>
  static T of_rest(T x, T y, T rest) {
    T quotient = (x - rest) / y;
    quotient = rest != T(0) && (rest < T(0)) != (y < T(0)) ? quotient - T(1) : quotient;
    const T down = std::floor(quotient);
    const T nearest = quotient - down > T(0.5) ? down + T(1) : down;
    const T ratio = x / y;
    return y == T(0) ? ratio : quotient != T(0) ? nearest : std::copysign(T(0), ratio);
  }
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return of_rest(x, y, Fmod::of(x, y));
    } else {
      const T quotient = TruncDiv::of(x, y);
      const T rest = Fmod::of(x, y);
      return rest != T(0) && (rest < T(0)) != (y < T(0)) ? static_cast<T>(quotient - T(1)) : quotient;
    }
  }
  template <class T>
  static T quick(T x, T y, bool& sure) {
    return of_rest(x, y, Fmod::quick(x, y, sure));
  }
};

// snippet Remainder: Fmod

/// The remainder of FloorDiv. It has the sign of y, but a zero has the sign of x, as in PyTorch. Integers: 0 if y is 0.
struct Remainder {
  template <class T>
  static T of_rest(T y, T rest) {
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? static_cast<T>(rest + y) : rest;
  }
  template <class T>
  static T of(T x, T y) {
    return of_rest(y, Fmod::of(x, y));
  }
  template <class T>
  static T quick(T x, T y, bool& sure) {
    return of_rest(y, Fmod::quick(x, y, sure));
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops
