#include "backend/eigen/snippets.hpp"

#include <algorithm>
#include <iterator>

#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

struct Snippet {
  std::string_view name;
  std::string_view uses;  // names, each followed by a space
  std::string_view text;
};

// Each uses only what stands above it.
constexpr Snippet kSnippets[] = {
    // --- tiles
    // ---------------------------------------------------------------------------------------------------------
    {"at", "", R"src(
/// Element k of a tile; a number stands for a tile of it.
template <class T, int N>
T at(const Eigen::Array<T, N, 1>& x, Int k) {
  return x.coeff(k);
}
template <class T>
T at(T x, Int) {
  return x;
}
)src"},
    {"map", "at ", R"src(
// Elements do not depend on each other, also where the result is an operand.
#ifndef ORIEL_VECTOR_LOOP
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif
#endif

/// y[k] = F::of(x[k]...) for each element.
template <class F, class T, int N, class... X>
[[gnu::noinline]] void map(Eigen::Array<T, N, 1>& y, const X&... x) {
  ORIEL_VECTOR_LOOP
  for (int k = 0; k < N; ++k) y.coeffRef(k) = F::of(at(x, k)...);
}
)src"},
    {"packets", "", R"src(
namespace ei = Eigen::internal;

template <class P, class T, int N>
P packet_at(const Eigen::Array<T, N, 1>& x, Int k) {
  return ei::ploadu<P>(x.data() + k);
}
template <class P, class T>
P packet_at(T x, Int) {
  return ei::pset1<P>(x);
}

/// y[k] = F::of(x[k]...), a packet at a time.
template <class F, class T, int N, class... X>
[[gnu::noinline]] void packets(Eigen::Array<T, N, 1>& y, const X&... x) {
  using P = typename ei::packet_traits<T>::type;
  for (int k = 0; k < N; k += ei::packet_traits<T>::size) {
    ei::pstoreu(y.data() + k, F::of(packet_at<P>(x, k)...));
  }
}
)src"},
    {"keep_nan", "packets ", R"src(
/// y where x is a number, x where it is NaN.
template <class P>
P keep_nan(P x, P y) {
  return ei::pselect(ei::pcmp_eq(x, x), y, x);
}
)src"},
    // --- halves
    // --------------------------------------------------------------------------------------------------------
    {"float16", "", R"src(
/// Between float32 and float16, to nearest even.
inline float widen_float16(std::uint16_t bits) {
  return Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits));
}
inline std::uint16_t narrow_float16(float x) { return Eigen::half_impl::float_to_half_rtne(x).x; }
)src"},
    {"bfloat16", "", R"src(
/// Between float32 and bfloat16, to nearest even.
inline float widen_bfloat16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float x = 0;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}
inline std::uint16_t narrow_bfloat16(float x) {
  std::uint32_t wide = 0;
  std::memcpy(&wide, &x, sizeof wide);
  if (x != x) return static_cast<std::uint16_t>(wide >> 16 | 0x40);
  return static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}
)src"},
    {"RoundFloat16", "float16 ", R"src(
struct RoundFloat16 {
  static float of(float x) { return widen_float16(narrow_float16(x)); }
};
)src"},
    {"RoundBfloat16", "bfloat16 ", R"src(
struct RoundBfloat16 {
  static float of(float x) { return widen_bfloat16(narrow_bfloat16(x)); }
};
)src"},
    // --- memory
    // --------------------------------------------------------------------------------------------------------
    {"Segment", "", R"src(
/// Elements [begin, end) of a tile.
struct Segment {
  Int begin;
  Int end;
};
)src"},
    {"segment", "Segment ", R"src(
/// The part of a tile's n elements whose loop, at `first` for the first of them, runs in [lo, hi); nothing unless `valid`.
inline Segment segment(Int lo, Int hi, Int first, Int n, bool valid = true) {
  const Int begin = std::max<Int>(lo - first, 0);
  const Int end = std::min<Int>(hi - first, n);
  return valid && begin < end ? Segment{begin, end} : Segment{0, 0};
}
)src"},
    {"load", "", R"src(
/// y[k] = x[position + k] for k < n, 0 after them.
template <class T, int N>
void load(Eigen::Array<T, N, 1>& y, const T* x, Int position, Int n) {
  if (n == N) {
    y = Eigen::Map<const Eigen::Array<T, N, 1>>(x + position);
  } else {
    y.setZero();
    y.head(n) = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>(x + position, n);
  }
}
)src"},
    {"load_strided", "Segment ", R"src(
/// y[k] = x[position + k * step] for k in the segment, 0 elsewhere.
template <class T, int N>
void load_strided(Eigen::Array<T, N, 1>& y, const T* x, Int position, Int step, Segment s) {
  using Strided = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;
  const Int n = s.end - s.begin;
  if (n < N) y.setZero();
  if (n > 0) y.segment(s.begin, n) = Strided(x + (position + s.begin * step), n, Eigen::InnerStride<>(step));
}
)src"},
    {"load_float16", "Segment float16 ", R"src(
/// y[k] = x[position + k * step], widened, for k in the segment, 0 elsewhere.
template <int N>
void load_float16(Eigen::Array<float, N, 1>& y, const std::uint16_t* x, Int position, Int step, Segment s) {
  if (s.end - s.begin < N) y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = widen_float16(x[position + k * step]);
}
)src"},
    {"load_bfloat16", "Segment bfloat16 ", R"src(
/// y[k] = x[position + k * step], widened, for k in the segment, 0 elsewhere.
template <int N>
void load_bfloat16(Eigen::Array<float, N, 1>& y, const std::uint16_t* x, Int position, Int step, Segment s) {
  if (s.end - s.begin < N) y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = widen_bfloat16(x[position + k * step]);
}
)src"},
    {"positions", "Segment ", R"src(
/// y[k] = position + k * step for k in the segment, 0 elsewhere.
template <int N>
void positions(Eigen::Array<Int, N, 1>& y, Int position, Int step, Segment s) {
  y.setZero();
  for (Int k = s.begin; k < s.end; ++k) y.coeffRef(k) = position + k * step;
}
)src"},
    {"valid", "Segment ", R"src(
/// y[k] = 1 for k in the segment, 0 elsewhere.
template <int N>
void valid(Eigen::Array<std::uint8_t, N, 1>& y, Segment s) {
  y.setZero();
  y.segment(s.begin, s.end - s.begin).setOnes();
}
)src"},
    {"store", "", R"src(
/// y[position + k] = x[k] for k < n.
template <class T, int N>
void store(T* y, Int position, const Eigen::Array<T, N, 1>& x, Int n) {
  if (n == N) {
    Eigen::Map<Eigen::Array<T, N, 1>>(y + position) = x;
  } else {
    Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>(y + position, n) = x.head(n);
  }
}
)src"},
    {"store_strided", "Segment ", R"src(
/// y[position + k * step] = x[k] for k in the segment.
template <class T, int N>
void store_strided(T* y, Int position, Int step, const Eigen::Array<T, N, 1>& x, Segment s) {
  using Strided = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::Unaligned, Eigen::InnerStride<>>;
  const Int n = s.end - s.begin;
  if (n > 0) Strided(y + (position + s.begin * step), n, Eigen::InnerStride<>(step)) = x.segment(s.begin, n);
}
)src"},
    {"store_float16", "Segment float16 ", R"src(
/// y[position + k * step] = x[k], narrowed, for k in the segment.
template <int N>
void store_float16(std::uint16_t* y, Int position, Int step, const Eigen::Array<float, N, 1>& x, Segment s) {
  for (Int k = s.begin; k < s.end; ++k) y[position + k * step] = narrow_float16(x.coeff(k));
}
)src"},
    {"store_bfloat16", "Segment bfloat16 ", R"src(
/// y[position + k * step] = x[k], narrowed, for k in the segment.
template <int N>
void store_bfloat16(std::uint16_t* y, Int position, Int step, const Eigen::Array<float, N, 1>& x, Segment s) {
  for (Int k = s.begin; k < s.end; ++k) y[position + k * step] = narrow_bfloat16(x.coeff(k));
}
)src"},
    // --- elementwise
    // ---------------------------------------------------------------------------------------------------
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
    {"Abs", "Neg ", R"src(
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
    {"Sqrt", "", R"src(
struct Sqrt {
  template <class T>
  static T of(T x) {
    return std::sqrt(x);
  }
};
)src"},
    {"Rsqrt", "", R"src(
struct Rsqrt {
  template <class T>
  static T of(T x) {
    return T(1) / std::sqrt(x);
  }
};
)src"},
    {"Floor", "", R"src(
struct Floor {
  template <class T>
  static T of(T x) {
    return std::floor(x);
  }
};
)src"},
    {"Ceil", "", R"src(
struct Ceil {
  template <class T>
  static T of(T x) {
    return std::ceil(x);
  }
};
)src"},
    {"Round", "", R"src(
/// Halves to even, the processor's default.
struct Round {
  template <class T>
  static T of(T x) {
    return std::nearbyint(x);
  }
};
)src"},
    {"Trunc", "", R"src(
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
    {"IsInf", "", R"src(
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
    {"TruncDiv", "Neg ", R"src(
/// Towards zero. Integers: x / 0 is 0, and the smallest by -1 wraps.
struct TruncDiv {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::trunc(x / y);
    } else {
      if (y == T(0)) return T(0);
      if (std::is_signed_v<T> && y == T(-1)) return Neg::of(x);
      return static_cast<T>(x / y);
    }
  }
};
)src"},
    {"Fmod", "", R"src(
/// What TruncDiv leaves: the sign of x. Integers: 0 where y is 0.
struct Fmod {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(x, y);
    } else {
      if (y == T(0) || (std::is_signed_v<T> && y == T(-1))) return T(0);
      return static_cast<T>(x % y);
    }
  }
};
)src"},
    {"FloorDiv", "TruncDiv Fmod ", R"src(
/// Towards minus infinity. Integers: 0 where y is 0.
struct FloorDiv {
  template <class T>
  static T of(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::floor(x / y);
    } else {
      const T quotient = TruncDiv::of(x, y);
      const T rest = Fmod::of(x, y);
      return rest != T(0) && (rest < T(0)) != (y < T(0)) ? Sub::of(quotient, T(1)) : quotient;
    }
  }
};
)src"},
    {"Remainder", "Fmod Add ", R"src(
/// What FloorDiv leaves: the sign of y. Integers: 0 where y is 0.
struct Remainder {
  template <class T>
  static T of(T x, T y) {
    const T rest = Fmod::of(x, y);
    return rest != T(0) && (rest < T(0)) != (y < T(0)) ? Add::of(rest, y) : rest;
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
    // --- transcendental
    // ------------------------------------------------------------------------------------------------
    {"Exp", "keep_nan ", R"src(
/// Eigen's exp stops at the smallest normal number; below it, exp(x) = exp(x/2)^2.
struct Exp {
  template <class P>
  static P of(P x) {
    using T = typename ei::unpacket_traits<P>::type;
    const P edge = ei::pset1<P>(sizeof(T) == 4 ? T(-87) : T(-708));
    const P low = ei::pcmp_lt(x, edge);
    P y = ei::pexp(ei::pselect(low, edge, x));
    if (ei::predux_any(low)) {
      const P root = ei::pexp(ei::pmax(ei::pmul(x, ei::pset1<P>(T(0.5))), edge));
      y = ei::pselect(low, ei::pmul(root, root), y);
    }
    return keep_nan(x, y);
  }
};
)src"},
    {"Exp2", "keep_nan ", R"src(
/// 2^x = 2^n * e^(f ln 2), n the whole number nearest to x and f the rest.
struct Exp2 {
  template <class P>
  static P of(P x) {
    using T = typename ei::unpacket_traits<P>::type;
    const P limit = ei::pset1<P>(sizeof(T) == 4 ? T(160) : T(1100));
    const P bounded = ei::pmax(ei::pmin(x, limit), ei::pnegate(limit));
    const P n = ei::pfloor(ei::padd(bounded, ei::pset1<P>(T(0.5))));
    const P f = ei::psub(bounded, n);
    const P y = ei::pldexp(ei::pexp(ei::pmul(f, ei::pset1<P>(T(0.693147180559945309417)))), n);
    return keep_nan(x, y);
  }
};
)src"},
    {"Log", "packets ", R"src(
struct Log {
  template <class P>
  static P of(P x) {
    return ei::plog(x);
  }
};
)src"},
    {"Log2", "packets ", R"src(
struct Log2 {
  template <class P>
  static P of(P x) {
    return ei::plog2(x);
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
struct Erf {
  template <class P>
  static P of(P x) {
    return keep_nan(x, ei::generic_fast_erf_float(x));
  }
};
)src"},
    {"Pow", "packets map ", R"src(
#if defined(__SSE4_1__) || !defined(__SSE2__)
struct PacketPow {
  template <class P>
  static P of(P x, P y) {
    return ei::generic_pow(x, y);
  }
};
template <class Y, class X1, class X2>
void pow(Y& y, const X1& x1, const X2& x2) {
  packets<PacketPow>(y, x1, x2);
}
#else
// Eigen's needs a packet rounding that SSE2 lacks.
struct LibraryPow {
  template <class T>
  static T of(T x, T y) {
    return std::pow(x, y);
  }
};
template <class Y, class X1, class X2>
void pow(Y& y, const X1& x1, const X2& x2) {
  map<LibraryPow>(y, x1, x2);
}
#endif
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
    // --- reductions
    // ----------------------------------------------------------------------------------------------------
    {"Sum", "Add ", R"src(
struct Sum : Add {
  template <class T>
  static T identity() {
    return T(0);
  }
};
)src"},
    {"Prod", "Mul ", R"src(
struct Prod : Mul {
  template <class T>
  static T identity() {
    return T(1);
  }
};
)src"},
    {"Largest", "Max ", R"src(
struct Largest : Max {
  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
)src"},
    {"Smallest", "Min ", R"src(
struct Smallest : Min {
  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};
)src"},
    {"Any", "Or ", R"src(
struct Any : Or {
  template <class T>
  static T identity() {
    return T(0);
  }
};
)src"},
    {"All", "And ", R"src(
struct All : And {
  template <class T>
  static T identity() {
    return T(1);
  }
};
)src"},
    {"order", "", R"src(
// The order of every reduction, whatever runs it: value r goes to lane r % kLanes of its block of kBlock values; a block's lanes are
// halved down to one; blocks pair up like the digits of a binary counter, and what is left is joined from the smallest up.
constexpr Int kLanes = 16;
constexpr Int kBlock = 1024;
)src"},
    {"RowReduction", "order at ", R"src(
/// Reduces values that come one after the other.
template <class F, class T>
class RowReduction {
 public:
  void reset() {
    count_ = 0;
    blocks_ = 0;
    depth_ = 0;
  }

  /// The first n elements of x.
  template <class X>
  void add(const X& x, Int n) {
    for (Int k = 0; k < n;) {
      if (count_ == 0) std::fill(lane_, lane_ + kLanes, F::template identity<T>());
      const Int run = std::min(n - k, kBlock - count_);
      Int i = 0;
      for (; i < run && (count_ + i) % kLanes != 0; ++i) put((count_ + i) % kLanes, at(x, k + i));
      T lane[kLanes];
      std::copy(lane_, lane_ + kLanes, lane);
      for (; i + kLanes <= run; i += kLanes) {
        for (Int l = 0; l < kLanes; ++l) lane[l] = F::of(lane[l], at(x, k + i + l));
      }
      std::copy(lane, lane + kLanes, lane_);
      for (; i < run; ++i) put((count_ + i) % kLanes, at(x, k + i));
      k += run;
      count_ += run;
      if (count_ == kBlock) end_block();
    }
  }

  T result() {
    if (count_ > 0) end_block();
    if (depth_ == 0) return F::template identity<T>();
    T value = waiting_[--depth_];
    while (depth_ > 0) value = F::of(waiting_[--depth_], value);
    return value;
  }

 private:
  void put(Int l, T x) { lane_[l] = F::of(lane_[l], x); }

  void end_block() {
    for (Int half = kLanes / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half; ++l) put(l, lane_[l + half]);
    }
    T value = lane_[0];
    for (Int b = blocks_; b % 2 != 0; b /= 2) value = F::of(waiting_[--depth_], value);
    waiting_[depth_++] = value;
    ++blocks_;
    count_ = 0;
  }

  T lane_[kLanes];
  T waiting_[64];
  Int count_ = 0;   // in this block
  Int blocks_ = 0;  // before it
  int depth_ = 0;
};
)src"},
    {"ColumnReduction", "order map ", R"src(
/// Reduces tiles that come one after the other, element by element. At most 2^kLevels - 1 blocks.
template <class F, class T, int N, int kLevels>
class ColumnReduction {
 public:
  using Values = Eigen::Array<T, N, 1>;

  void reset() {
    count_ = 0;
    blocks_ = 0;
    depth_ = 0;
  }

  template <class X>
  void add(const X& x) {
    Values& lane = lane_[count_ % kLanes];
    if (count_ < kLanes) {
      map<F>(lane, F::template identity<T>(), x);
    } else {
      map<F>(lane, lane, x);
    }
    if (++count_ == kBlock) end_block();
  }

  Values result() {
    if (count_ > 0) end_block();
    if (depth_ == 0) return Values::Constant(F::template identity<T>());
    Values value = waiting_[--depth_];
    while (depth_ > 0) map<F>(value, waiting_[--depth_], value);
    return value;
  }

 private:
  // Lanes that no value reached hold the identity, which changes nothing: they are passed over.
  void end_block() {
    for (Int half = kLanes / 2; half > 0; half /= 2) {
      for (Int l = 0; l < half && l + half < count_; ++l) map<F>(lane_[l], lane_[l], lane_[l + half]);
    }
    for (Int b = blocks_; b % 2 != 0; b /= 2) map<F>(lane_[0], waiting_[--depth_], lane_[0]);
    waiting_[depth_++] = lane_[0];
    ++blocks_;
    count_ = 0;
  }

  Values lane_[kLanes];
  Values waiting_[kLevels];
  Int count_ = 0;   // in this block
  Int blocks_ = 0;  // before it
  int depth_ = 0;
};
)src"},
};

}  // namespace

void Snippets::need(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kSnippets), std::end(kSnippets), [&](const Snippet& s) { return s.name == name; });
  if (found == std::end(kSnippets)) throw InternalError("render", "no helper is named " + std::string(name));
  if (!needed_.insert(found->name).second) return;
  std::string_view uses = found->uses;
  while (!uses.empty()) {
    const std::size_t end = uses.find(' ');
    need(uses.substr(0, end));
    uses.remove_prefix(end + 1);
  }
}

std::string Snippets::text() const {
  std::string text;
  for (const Snippet& s : kSnippets) {
    if (needs(s.name)) text += s.text;
  }
  return text;
}

}  // namespace oriel::backend::eigen
