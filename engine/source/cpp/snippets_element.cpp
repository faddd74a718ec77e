// Element operations that need no more than the standard library.
#include "source/cpp/snippets.hpp"

namespace oriel::source::cpp {
namespace {

constexpr Snippet kElementSnippets[] = {
    {"Wide", "", R"src(
/// Integers wrap: arithmetic is done on an unsigned type that is not promoted to int.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
)src"},
    {"Same", "", R"src(
struct Same {
  template <class T>
  static T of(T x) {
    return x;
  }
};
)src"},
    {"False", "", R"src(
struct False {
  template <class T>
  static std::uint8_t of(T) {
    return 0;
  }
};
)src"},
    {"Add", "Wide ", R"src(
struct Add {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x + y;
    } else {
      return static_cast<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y));
    }
  }
};
)src"},
    {"Sub", "Wide ", R"src(
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
)src"},
    {"Mul", "Wide ", R"src(
struct Mul {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return x * y;
    } else {
      return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
    }
  }
};
)src"},
    {"Div", "", R"src(
struct Div {
  template <class T>
  static T of(T x, T y) {
    return x / y;
  }
};
)src"},
    {"Neg", "Sub ", R"src(
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
)src"},
    {"Abs", "Neg <cmath> ", R"src(
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
)src"},
    {"Sign", "", R"src(
struct Sign {
  template <class T>
  static T of(T x) {
    const T sign = static_cast<T>((x > T(0) ? 1 : 0) - (x < T(0) ? 1 : 0));
    return x != x ? x : sign;
  }
};
)src"},
    {"Sqrt", "<cmath> ", R"src(
struct Sqrt {
  template <class T>
  static T of(T x) {
    return std::sqrt(x);
  }
};
)src"},
    {"Rsqrt", "<cmath> ", R"src(
struct Rsqrt {
  template <class T>
  static T of(T x) {
    return T(1) / std::sqrt(x);
  }
};
)src"},
    {"Floor", "<cmath> ", R"src(
struct Floor {
  template <class T>
  static T of(T x) {
    return std::floor(x);
  }
};
)src"},
    {"Ceil", "<cmath> ", R"src(
struct Ceil {
  template <class T>
  static T of(T x) {
    return std::ceil(x);
  }
};
)src"},
    {"Round", "<cmath> ", R"src(
/// Halves to even, the processor's default.
struct Round {
  template <class T>
  static T of(T x) {
    return std::nearbyint(x);
  }
};
)src"},
    {"Trunc", "<cmath> ", R"src(
struct Trunc {
  template <class T>
  static T of(T x) {
    return std::trunc(x);
  }
};
)src"},
    {"IsNan", "", R"src(
struct IsNan {
  template <class T>
  static std::uint8_t of(T x) {
    return x != x ? 1 : 0;
  }
};
)src"},
    {"IsInf", "<cmath> ", R"src(
struct IsInf {
  template <class T>
  static std::uint8_t of(T x) {
    return std::fabs(x) == std::numeric_limits<T>::infinity() ? 1 : 0;
  }
};
)src"},
    {"Not", "", R"src(
struct Not {
  template <class T>
  static T of(T x) {
    return static_cast<T>(~x);
  }
};
)src"},
    {"LogicalNot", "", R"src(
struct LogicalNot {
  static std::uint8_t of(std::uint8_t x) { return x == 0 ? 1 : 0; }
};
)src"},
    {"And", "", R"src(
struct And {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x & y);
  }
};
)src"},
    {"Or", "", R"src(
struct Or {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x | y);
  }
};
)src"},
    {"Xor", "", R"src(
struct Xor {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};
)src"},
    {"Shl", "Wide ", R"src(
/// x * 2^y; 0 where y is no bit's number.
struct Shl {
  template <class T>
  static T of(T x, T y) {
    const bool fits = y >= T(0) && y < T(8 * sizeof(T));
    const T moved = static_cast<T>(static_cast<Wide<T>>(x) << static_cast<Wide<T>>(fits ? y : T(0)));
    return fits ? moved : T(0);
  }
};
)src"},
    {"Shr", "", R"src(
/// floor(x / 2^y); the sign's fill where y is no bit's number.
struct Shr {
  template <class T>
  static T of(T x, T y) {
    const bool fits = y >= T(0) && y < T(8 * sizeof(T));
    const T moved = static_cast<T>(x >> (fits ? y : T(8 * sizeof(T) - 1)));
    return fits || std::is_signed_v<T> ? moved : T(0);
  }
};
)src"},
    {"IntegerPow", "Mul ", R"src(
/// x^y, wrapping; the quotient towards zero where y is negative, and 0 for x = 0.
struct IntegerPow {
  template <class T>
  static T of(T x, T y) {
    if (y < T(0)) {
      if (x == T(1)) return T(1);
      if (x == T(-1)) return (y & 1) != 0 ? T(-1) : T(1);
      return T(0);
    }
    T result = T(1);
    for (auto left = static_cast<std::uint64_t>(y); left != 0; left >>= 1) {
      if ((left & 1) != 0) result = Mul::of(result, x);
      x = Mul::of(x, x);
    }
    return result;
  }
};
)src"},
    {"Min", "", R"src(
/// NaN if either is.
struct Min {
  template <class T>
  static T of(T x, T y) {
    return x < y || x != x ? x : y;
  }
};
)src"},
    {"Max", "", R"src(
/// NaN if either is.
struct Max {
  template <class T>
  static T of(T x, T y) {
    return x > y || x != x ? x : y;
  }
};
)src"},
    {"Eq", "", R"src(
struct Eq {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x == y ? 1 : 0;
  }
};
)src"},
    {"Ne", "", R"src(
struct Ne {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x != y ? 1 : 0;
  }
};
)src"},
    {"Lt", "", R"src(
struct Lt {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x < y ? 1 : 0;
  }
};
)src"},
    {"Le", "", R"src(
struct Le {
  template <class T>
  static std::uint8_t of(T x, T y) {
    return x <= y ? 1 : 0;
  }
};
)src"},
    {"Where", "", R"src(
struct Where {
  template <class T>
  static T of(std::uint8_t choice, T x, T y) {
    return choice != 0 ? x : y;
  }
};
)src"},
    {"CastTo", "", R"src(
/// Integers wrap.
template <class To>
struct CastTo {
  template <class T>
  static To of(T x) {
    return static_cast<To>(x);
  }
};
)src"},
    {"CastToBool", "", R"src(
struct CastToBool {
  template <class T>
  static std::uint8_t of(T x) {
    return x != T(0) ? 1 : 0;
  }
};
)src"},
    {"SaturateTo", "", R"src(
/// A float as an integer: towards zero, the nearest end of the range beyond it, 0 for NaN.
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
)src"},
    {"BitsOf", "", R"src(
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
)src"},
    {"Float16Bits", "float16 ", R"src(
struct Float16Bits {
  static std::uint16_t of(float x) { return narrow_float16(x); }
};
)src"},
    {"Bfloat16Bits", "bfloat16 ", R"src(
struct Bfloat16Bits {
  static std::uint16_t of(float x) { return narrow_bfloat16(x); }
};
)src"},
    {"Float16OfBits", "float16 ", R"src(
struct Float16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_float16(static_cast<std::uint16_t>(bits));
  }
};
)src"},
    {"Bfloat16OfBits", "bfloat16 ", R"src(
struct Bfloat16OfBits {
  template <class T>
  static float of(T bits) {
    return widen_bfloat16(static_cast<std::uint16_t>(bits));
  }
};
)src"},
};

}  // namespace

std::span<const Snippet> element_snippets() { return kElementSnippets; }

}  // namespace oriel::source::cpp
