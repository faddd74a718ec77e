// What the loops of all instruction-set levels share. Everything stands in the namespace of the level that this
// translation unit is compiled for. Include this header first.
#pragma once

#include "backend/eigen/isa/table.hpp"
#include "ops/level.hpp"

// Tells the compiler that iterations are independent, even if dst is one of the operands.
#if defined(__clang__)
#define ORIEL_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ORIEL_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

// Unrolls loops over registers, whose count is known at compile time.
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
void add_lookup_ops(Table& table);
void add_sum_ops(Table& table);
void add_reduce_ops(Table& table);  // the other reductions
void add_product_ops(Table& table);
void add_scan_ops(Table& table);
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

// In the profile small, loops have fewer variants: at both levels those that take the most code, and at the lowest one,
// which runs on processors older than AVX2 alone, all that have some. No variant changes a result.
#if defined(ORIEL_ISA_PLAIN)
inline constexpr bool kPlain = true;
inline constexpr bool kFew = true;
#elif defined(ORIEL_ISA_FEW)
inline constexpr bool kPlain = false;
inline constexpr bool kFew = true;
#else
inline constexpr bool kPlain = false;
inline constexpr bool kFew = false;
#endif

template <class T>
inline constexpr int kDTypeIndex = static_cast<int>(dtype_of<T>);

// Loops that every level compiles for itself. `f` is a stateless functor, inlined.
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

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
