// A made-up language for tests, near Metal: C++ whose pointers name their memory, whose vectors are computed lane by
// lane, and which has doubles.
#pragma once

#include "source/dialect.hpp"

namespace oriel::test {

inline constexpr source::Dialect kMetal{
    .name = "Metal",
    .ending = "metal",
    .types = {"uchar", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "float", "float", "float",
              "double"},
    .half_bits = "ushort",
    .opening = R"(#include <metal_stdlib>
using namespace metal;

template <class T, int N>
struct alignas(sizeof(T) * N) Lanes {
  T e[N];
  Lanes() {}
  explicit Lanes(T x) { for (int k = 0; k < N; ++k) e[k] = x; }
};
template <int N, class P>
static inline auto load_lanes(P p) {
  Lanes<decay_t<decltype(*p)>, N> x;
  for (int k = 0; k < N; ++k) x.e[k] = p[k];
  return x;
}
template <class T, int N, class P>
static inline void store_lanes(Lanes<T, N> x, P p) { for (int k = 0; k < N; ++k) p[k] = x.e[k]; }
template <class T, int N>
static inline Lanes<T, N> every_second(Lanes<T, N> a, Lanes<T, N> b, int odd) {
  Lanes<T, N> y;
  for (int k = 0; k < N; ++k) y.e[k] = k < N / 2 ? a.e[2 * k + odd] : b.e[2 * k - N + odd];
  return y;
}
template <class T, class X>
static inline T saturated(X x) {
  const T least = numeric_limits<T>::min(), most = numeric_limits<T>::max();
  return x <= (X)least ? least : x >= (X)most ? most : (T)x;
}

)",
    .kernel =
        "kernel void {3}({4}, uint3 in_grid [[thread_position_in_grid]], uint3 in_groups "
        "[[threadgroup_position_in_grid]], uint3 in_group [[thread_position_in_threadgroup]]) {\n{5}}\n",
    .number_argument = "constant {0}& {1}",
    .function_prefix = "static inline ",
    .called_function_prefix = "static __attribute__((noinline)) ",
    .restricted = "__restrict",
    .pointers = {"thread {1}{0}*", "device {1}{0}*", "threadgroup {1}{0}*"},
    .local_array = "threadgroup {0} {1}[{2}]",
    .global_id = "in_grid[{0}]",
    .group_id = "in_groups[{0}]",
    .local_id = "in_group[{0}]",
    .barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);",
    .global_barrier = "threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);",
    .increment = "atomic_fetch_add_explicit((threadgroup atomic_int*)({0}), 1, memory_order_relaxed)",
    .vector_type = "Lanes<{0}, {1}>",
    .load_vector = "load_lanes<{0}>({1})",
    .store_vector = "store_lanes({1}, {2})",
    .lane = "{0}.e[{1}]",
    .halves = {"load_lanes<{1}>({0}.e)", "load_lanes<{1}>({0}.e + {1})"},
    .every_second = "every_second({1}, {2}, {4})",
    .clamped = "(int)clamp((long)({0}), {1}L, {2}L)",
    .bits_as = "as_type<{0}>({1})",
    .converted = "({0})({1})",
    .saturated = "saturated<{0}>({1})",
    .magnitude = "({0})abs({1})",
    .load_half = "(float)((device const half*){0})[{1}]",
    .store_half = "((device half*){0})[{1}] = (half)({2})",
    .half_functions = {"static inline ushort {0}(float x) { return as_type<ushort>((half)x); }\n"
                       "static inline float {0}_widened(ushort x) { return as_type<half>(x); }\n"},
};

}  // namespace oriel::test
