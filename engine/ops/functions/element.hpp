// Elementwise ops that are IEEE operations on floats or arithmetic on integers, one functor for each op. Folding calls
// them, the loops over elements are built of them for each instruction set, and rendered sources hold their text: each
// part from a line `// snippet NAME: OTHERS` to the next is also the text of the helper of that name, which uses the
// others and the headers in <> (source/cpp/snippets_of.py). The text is C++17.
//
// bool is a byte that holds 0 or 1. Everything is of internal linkage: no instruction set's code can stand in for
// another's.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace oriel::ops {
namespace {

// snippet Wide:

/// Integers wrap: arithmetic is done on an unsigned type that is not promoted to int.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

// snippet Add: Wide

struct Add {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x + y;
    } else {
      return static_cast<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y));
    }
  }
  template <class P>
  static P packets(const P& x, const P& y) {
    return x + y;
  }
};

// snippet Sub: Wide

struct Sub {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x - y;
    } else {
      return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y));
    }
  }
};

// snippet Mul: Wide

struct Mul {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x * y;
    } else {
      return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
    }
  }
  template <class P>
  static P packets(const P& x, const P& y) {
    return x * y;
  }
};

// snippet Div:

struct Div {
  template <class T>
  static T of(T x, T y) {
    return x / y;
  }
};

// snippet Neg: Sub

struct Neg {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return -x;
    } else {
      return Sub::of(T(0), x);
    }
  }
};

// snippet Abs: Neg <cmath>

struct Abs {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x);
    } else {
      return x < T(0) ? Neg::of(x) : x;
    }
  }
};

// snippet AbsAdd: <cmath>

struct AbsAdd {
  template <class T>
  static T of(T x, T y) {
    return std::fabs(x) + std::fabs(y);
  }
};

// snippet Sign:

struct Sign {
  template <class T>
  static T of(T x) {
    const T sign = x > T(0) ? T(1) : x < T(0) ? static_cast<T>(-1) : T(0);
    return x != x ? x : sign;
  }
};

// snippet Sqrt: <cmath>

struct Sqrt {
  template <class T>
  static T of(T x) {
    return std::sqrt(x);
  }
};

// snippet Rsqrt: <cmath>

struct Rsqrt {
  template <class T>
  static T of(T x) {
    return T(1) / std::sqrt(x);
  }
};

// snippet nearest_even: <cmath>

/// Halves to even, the processor's default. Without SSE4.1, whose instruction this is, adding and subtracting 2^23
/// (2^52) rounds: from there on all numbers are whole.
template <class T>
T nearest_even(T x) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
  return std::nearbyint(x);
#else
  constexpr T whole = sizeof(T) == 4 ? T(8388608) : T(4503599627370496);
  const T magnitude = std::fabs(x);
  T r = magnitude + whole;
  r = r - whole;
  return std::copysign(magnitude < whole ? r : magnitude, x);
#endif
}

// snippet Round: nearest_even

struct Round {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return nearest_even(x);
    } else {
      return x;
    }
  }
};

// snippet Floor: nearest_even

struct Floor {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
      return std::floor(x);
#else
      const T r = nearest_even(x);
      return std::copysign(r > x ? r - T(1) : r, x);
#endif
    } else {
      return x;
    }
  }
};

// snippet Ceil: nearest_even

struct Ceil {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
      return std::ceil(x);
#else
      const T r = nearest_even(x);
      return std::copysign(r < x ? r + T(1) : r, x);
#endif
    } else {
      return x;
    }
  }
};

// snippet Trunc: nearest_even

struct Trunc {
  template <class T>
  static T of(T x) {
    if constexpr (std::is_floating_point_v<T>) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
      return std::trunc(x);
#else
      const T magnitude = std::fabs(x);
      const T r = nearest_even(magnitude);
      return std::copysign(r > magnitude ? r - T(1) : r, x);
#endif
    } else {
      return x;
    }
  }
};

// snippet IsNan:

struct IsNan {
  template <class T>
  static std::uint8_t of(T x) {
    return x != x ? 1 : 0;
  }
};

// snippet IsInf: <cmath>

struct IsInf {
  template <class T>
  static std::uint8_t of([[maybe_unused]] T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fabs(x) == std::numeric_limits<T>::infinity() ? 1 : 0;
    } else {
      return 0;
    }
  }
};

// snippet Not:

struct Not {
  template <class T>
  static T of(T x) {
    return static_cast<T>(~x);
  }
};

// snippet LogicalNot:

struct LogicalNot {
  template <class T>
  static T of(T x) {
    return x == 0 ? 1 : 0;
  }
};

// snippet And:

struct And {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x & y);
  }
};

// snippet Or:

struct Or {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x | y);
  }
};

// snippet Xor:

struct Xor {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};

// snippet Shl: Wide

/// x * 2^y; 0 if y is not the number of a bit.
struct Shl {
  template <class T>
  static T of(T x, T y) {
    const bool fits = y >= T(0) && y < T(8 * sizeof(T));
    const T moved = static_cast<T>(static_cast<Wide<T>>(x) << static_cast<Wide<T>>(fits ? y : T(0)));
    return fits ? moved : T(0);
  }
};

// snippet Shr:

/// floor(x / 2^y); only copies of the sign if y is not the number of a bit.
struct Shr {
  template <class T>
  static T of(T x, T y) {
    const bool fits = y >= T(0) && y < T(8 * sizeof(T));
    const T moved = static_cast<T>(x >> (fits ? y : T(0)));
    return fits ? moved : x < T(0) ? static_cast<T>(-1) : T(0);
  }
};

// snippet IntegerPow: Mul

/// x^y, wrapping. If y is negative: the quotient towards zero, and 0 for x = 0.
struct IntegerPow {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_signed_v<T>) {
      if (y < T(0)) {
        if (x == T(1)) return T(1);
        if (x == T(-1)) return (y & 1) != 0 ? T(-1) : T(1);
        return T(0);
      }
    }
    T result = T(1);
    auto left = static_cast<std::make_unsigned_t<T>>(y);
    while (left != 0) {
      if ((left & 1) != 0) result = Mul::of(result, x);
      x = Mul::of(x, x);
      left = static_cast<std::make_unsigned_t<T>>(left >> 1);
    }
    return result;
  }
};

// snippet Min:

/// NaN if either is; the second if they are equal.
struct Min {
  template <class T>
  static T of(T x, T y) {
    return (x < y || x != x) ? x : y;
  }
  template <class P>
  static P packets(const P& x, const P& y) {
    return x < y ? x : y;
  }
};

// snippet Max:

/// NaN if either is; the second if they are equal.
struct Max {
  template <class T>
  static T of(T x, T y) {
    return (x > y || x != x) ? x : y;
  }
  template <class P>
  static P packets(const P& x, const P& y) {
    return x > y ? x : y;
  }
};

// snippet Eq:

struct Eq {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x == y ? 1 : 0;
  }
};

// snippet Ne:

struct Ne {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x != y ? 1 : 0;
  }
};

// snippet Lt:

struct Lt {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x < y ? 1 : 0;
  }
};

// snippet Le:

struct Le {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x <= y ? 1 : 0;
  }
};

// snippet Where:

struct Where {
  template <class T>
  static T of(std::uint8_t choice, T x, T y) {
    return choice != 0 ? x : y;
  }
};

// snippet Copysign: <cmath>

struct Copysign {
  template <class T>
  static T of(T x, T y) {
    return std::copysign(x, y);
  }
};

// snippet Same:

struct Same {
  template <class T>
  static T of(T x) {
    return x;
  }
};

// snippet CastTo:

/// Integers wrap.
template <class To>
struct CastTo {
  template <class T>
  static To of(T x) {
    return static_cast<To>(x);
  }
};

// snippet CastToBool:

struct CastToBool {
  template <class T>
  static std::uint8_t of(T x) {
    return x != T(0) ? 1 : 0;
  }
};

// snippet SaturateTo:

/// A float as an integer: towards zero, the nearest end of the range beyond it, 0 for NaN. 2^digits is exact in both
/// float types; the largest integer may not be.
template <class To>
struct SaturateTo {
  template <class T>
  static To of(T x) {
    constexpr T above = static_cast<T>(std::uint64_t(1) << (std::numeric_limits<To>::digits - 1)) * T(2);
    constexpr T below = std::is_signed_v<To> ? -above : T(0);
    const bool fits = x > below && x < above;
    const To inside = static_cast<To>(fits ? x : T(0));
    const To end = x >= above ? std::numeric_limits<To>::max() : x <= below ? std::numeric_limits<To>::min() : To(0);
    return fits ? inside : end;
  }
};

// snippet BitsOf:

/// The same bits as another type of that width.
template <class To>
struct BitsOf {
  template <class T>
  static To of(T x) {
    static_assert(sizeof(To) == sizeof(T), "same width");
    To y;
    std::memcpy(&y, &x, sizeof y);
    return y;
  }
};

// end of snippets

}  // namespace
}  // namespace oriel::ops
