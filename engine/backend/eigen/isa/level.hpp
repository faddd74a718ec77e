// Opens the namespace of the instruction-set level that this translation unit is compiled for. Include first.
#pragma once

#if defined(ORIEL_ISA_AVX512)
#define ORIEL_ISA_LEVEL avx512
#define Eigen EigenAvx512
#elif defined(ORIEL_ISA_AVX2)
#define ORIEL_ISA_LEVEL avx2
#define Eigen EigenAvx2
#elif defined(ORIEL_ISA_NEON)
#define ORIEL_ISA_LEVEL neon
#define Eigen EigenNeon
#else
#define ORIEL_ISA_LEVEL baseline
#define Eigen EigenBaseline
#endif
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG

#include <Eigen/Core>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/eigen/isa/table.hpp"

// Elements do not depend on each other, also where dst is an operand.
#if defined(__clang__)
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

// Loops over registers, whose number is known.
#if defined(__clang__)
#define ORIEL_UNROLL _Pragma("unroll")
#else
#define ORIEL_UNROLL _Pragma("GCC unroll 16")
#endif

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {

void add_float_ops(Table& table);
void add_math_ops(Table& table);
void add_pair_ops(Table& table);
void add_chain_ops(Table& table);
void add_integer_ops(Table& table);
void add_cast_ops(Table& table);
void add_copy_ops(Table& table);
void add_reduce_ops(Table& table);
void add_product_ops(Table& table);
void add_sort_ops(Table& table);
void add_window_ops(Table& table);
void fill_table(Table& table);

/// Bytes of a vector register.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
inline constexpr int kDTypeIndex = static_cast<int>(dtype_of<T>);

// The loops are functions of the level: `f` is a stateless functor, inlined.
template <class R, class A, class F>
void map1(void* dst, const void* a, const void*, const void*, std::int64_t n) {
  R* d = static_cast<R*>(dst);
  const A* x = static_cast<const A*>(a);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = F::of(x[i]);
}

template <class R, class A, class F>
void map2(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  R* d = static_cast<R*>(dst);
  const A* x = static_cast<const A*>(a);
  const A* y = static_cast<const A*>(b);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = F::of(x[i], y[i]);
}

/// c ? x : y, on bytes that hold 0 or 1.
template <class T>
void select(void* dst, const void* c, const void* a, const void* b, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const std::uint8_t* k = static_cast<const std::uint8_t*>(c);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) {
    const T yes = x[i];
    const T no = y[i];
    d[i] = k[i] != 0 ? yes : no;
  }
}

template <class T>
inline constexpr T kLowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                                         : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T kHighest = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::max();

// x != x is true for NaN alone; the larger (smaller) of two, NaN if either is.
struct MaxOf {
  template <class T>
  static T of(T a, T b) {
    return (a > b || a != a) ? a : b;
  }
};
struct MinOf {
  template <class T>
  static T of(T a, T b) {
    return (a < b || a != a) ? a : b;
  }
};

struct EqOf {
  template <class T>
  static std::uint8_t of(T a, T b) {
    return a == b ? 1 : 0;
  }
};
struct NeOf {
  template <class T>
  static std::uint8_t of(T a, T b) {
    return a != b ? 1 : 0;
  }
};
struct LtOf {
  template <class T>
  static std::uint8_t of(T a, T b) {
    return a < b ? 1 : 0;
  }
};
struct LeOf {
  template <class T>
  static std::uint8_t of(T a, T b) {
    return a <= b ? 1 : 0;
  }
};

/// The entries that integers, bool and floats share. T is the register's type, `dtype` the table's column.
template <class T>
void add_common(Table& t, int dtype) {
  using graph::Op;
  const auto at = [&](Op op) -> ElementFn& { return t.element[static_cast<int>(op)][dtype]; };
  at(Op::Min) = map2<T, T, MinOf>;
  at(Op::Max) = map2<T, T, MaxOf>;
  at(Op::Eq) = map2<std::uint8_t, T, EqOf>;
  at(Op::Ne) = map2<std::uint8_t, T, NeOf>;
  at(Op::Lt) = map2<std::uint8_t, T, LtOf>;
  at(Op::Le) = map2<std::uint8_t, T, LeOf>;
  at(Op::Where) = select<T>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
