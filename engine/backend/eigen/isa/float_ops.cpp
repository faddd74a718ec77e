// Arithmetic on float32 and float64 that IEEE 754 fixes to the bit.
#include "backend/eigen/isa/level.hpp"
#include "graph/division.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using graph::Op;

template <class T>
using In = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <class T>
using Out = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>, Eigen::AlignedMax>;

// An Eigen expression of one or two arrays: dst is aligned and n is whole packets, so every element takes Eigen's
// packet path.
#define ORIEL_EIGEN1(name, expression)                                            \
  template <class T>                                                              \
  void name(void* dst, const void* a, const void*, const void*, std::int64_t n) { \
    const In<T> x(static_cast<const T*>(a), n);                                   \
    Out<T>(static_cast<T*>(dst), n) = expression;                                 \
  }
#define ORIEL_EIGEN2(name, expression)                                              \
  template <class T>                                                                \
  void name(void* dst, const void* a, const void* b, const void*, std::int64_t n) { \
    const In<T> x(static_cast<const T*>(a), n);                                     \
    const In<T> y(static_cast<const T*>(b), n);                                     \
    Out<T>(static_cast<T*>(dst), n) = expression;                                   \
  }
// Eigen's AVX-512 negation is 0 - x, which loses the sign of -(+0).
ORIEL_EIGEN1(negate, x* T(-1))
ORIEL_EIGEN1(absolute, x.abs())
ORIEL_EIGEN2(add, x + y)
ORIEL_EIGEN2(subtract, x - y)
ORIEL_EIGEN2(multiply, x* y)
ORIEL_EIGEN2(divide, x / y)
#undef ORIEL_EIGEN1
#undef ORIEL_EIGEN2

template <class T>
[[maybe_unused]] constexpr T kWhole = sizeof(T) == 4 ? T(8388608)
                                                     : T(4503599627370496);  // from here on all numbers are whole

// Rounding without an SSE4.1 instruction: adding and subtracting 2^23 (2^52) rounds to nearest even.
template <class T>
T nearest_even(T x) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
  return std::nearbyint(x);
#else
  const T magnitude = std::fabs(x);
  T r = magnitude + kWhole<T>;
  r = r - kWhole<T>;
  return std::copysign(magnitude < kWhole<T> ? r : magnitude, x);
#endif
}

struct RoundOf {
  template <class T>
  static T of(T x) {
    return nearest_even(x);
  }
};
struct FloorOf {
  template <class T>
  static T of(T x) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
    return std::floor(x);
#else
    const T r = nearest_even(x);
    return std::copysign(r > x ? r - T(1) : r, x);
#endif
  }
};
struct CeilOf {
  template <class T>
  static T of(T x) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
    return std::ceil(x);
#else
    const T r = nearest_even(x);
    return std::copysign(r < x ? r + T(1) : r, x);
#endif
  }
};
struct TruncOf {
  template <class T>
  static T of(T x) {
#if defined(__SSE4_1__) || !defined(__SSE2__)
    return std::trunc(x);
#else
    const T magnitude = std::fabs(x);
    const T r = nearest_even(magnitude);
    return std::copysign(r > magnitude ? r - T(1) : r, x);
#endif
  }
};
struct SqrtOf {
  template <class T>
  static T of(T x) {
    return std::sqrt(x);
  }
};
struct RsqrtOf {
  template <class T>
  static T of(T x) {
    return T(1) / std::sqrt(x);
  }
};
struct SignOf {
  template <class T>
  static T of(T x) {
    const T s = x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
    return x != x ? x : s;
  }
};
struct IsNanOf {
  template <class T>
  static std::uint8_t of(T x) {
    return x != x ? 1 : 0;
  }
};
struct IsInfOf {
  template <class T>
  static std::uint8_t of(T x) {
    return std::fabs(x) == std::numeric_limits<T>::infinity() ? 1 : 0;
  }
};
/// F over two arrays, without a branch where that is sure, one by one where it is not.
template <class T, class F>
void map2_quick(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (std::int64_t i = 0; i < n; i += kPacket) {
    alignas(64) T r[kPacket];
    int doubts = 0;
    ORIEL_VECTOR_LOOP
    for (std::int64_t k = 0; k < kPacket; ++k) {
      bool sure = false;
      r[k] = F::quick(x[i + k], y[i + k], sure);
      doubts |= sure ? 0 : 1;
    }
    if (__builtin_expect(doubts != 0, 0)) {
      for (std::int64_t k = 0; k < kPacket; ++k) r[k] = F::of(x[i + k], y[i + k]);
    }
    std::memcpy(d + i, r, sizeof r);
  }
}

// std::trunc would be a call without SSE4.1.
struct TruncDivOf {
  template <class T>
  static T of(T x, T y) {
    return TruncOf::of(x / y);
  }
};

template <class T>
void add_floats(Table& t) {
  constexpr int d = kDTypeIndex<T>;
  add_common<T>(t, d);
  const auto at = [&](Op op) -> ElementFn& { return t.element[static_cast<int>(op)][d]; };
  at(Op::Neg) = negate<T>;
  at(Op::Abs) = absolute<T>;
  at(Op::Add) = add<T>;
  at(Op::Sub) = subtract<T>;
  at(Op::Mul) = multiply<T>;
  at(Op::Div) = divide<T>;
  at(Op::Sqrt) = map1<T, T, SqrtOf>;
  at(Op::Rsqrt) = map1<T, T, RsqrtOf>;
  at(Op::Sign) = map1<T, T, SignOf>;
  at(Op::Floor) = map1<T, T, FloorOf>;
  at(Op::Ceil) = map1<T, T, CeilOf>;
  at(Op::Round) = map1<T, T, RoundOf>;
  at(Op::Trunc) = map1<T, T, TruncOf>;
  at(Op::IsNan) = map1<std::uint8_t, T, IsNanOf>;
  at(Op::IsInf) = map1<std::uint8_t, T, IsInfOf>;
  at(Op::FloorDiv) = map2_quick<T, graph::FloorDiv>;
  at(Op::TruncDiv) = map2<T, T, TruncDivOf>;
  at(Op::Fmod) = map2_quick<T, graph::Fmod>;
  at(Op::Remainder) = map2_quick<T, graph::Remainder>;
}

}  // namespace

void add_float_ops(Table& table) {
  add_floats<float>(table);
  add_floats<double>(table);
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
