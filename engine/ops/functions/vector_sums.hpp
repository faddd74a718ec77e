// Sums of products in registers, and squares transposed in registers: compiled for each instruction set, and text of
// rendered contractions. Strides are numbers, or constants as std::integral_constant. The first part stands above the
// others in a source, though they do not name it: contractions have it in a place of its own.
#pragma once

#if defined(__FMA__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_FMA)
#include <arm_neon.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace oriel::ops {
namespace {

// snippet VectorOf:

template <class T, int kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
};
#if defined(__clang__)
#define ORIEL_UNROLLED _Pragma("unroll")
#else
#define ORIEL_UNROLLED _Pragma("GCC unroll 16")
#endif

// snippet sum_products:

/// a * b + c. One rounding where the processor has that.
template <class T, class V>
V multiply_add(const V& a, const V& b, const V& c) {
  if constexpr (std::is_same<T, float>::value) {  // NOLINT(bugprone-branch-clone): alike where nothing fuses
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm_fmadd_ps(a, b, c);
#elif defined(__aarch64__) && defined(__ARM_FEATURE_FMA)
    return vfmaq_f32(c, a, b);
#else
    return a * b + c;
#endif
  } else if constexpr (std::is_same<T, double>::value) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, c);
#elif defined(__FMA__)
    return _mm_fmadd_pd(a, b, c);
#elif defined(__aarch64__) && defined(__ARM_FEATURE_FMA)
    return vfmaq_f64(c, a, b);
#else
    return a * b + c;
#endif
  } else {
    return a * b + c;
  }
}

/// The distance in elements from a row of b to the row that is prefetched with it.
template <class T>
constexpr std::int64_t ahead_of(std::int64_t step) {
  constexpr std::int64_t kLeast = 2048 / static_cast<std::int64_t>(sizeof(T));
  return step > 0 && 8 * step < kLeast ? kLeast : 8 * step;
}

/// For p < depth, one after the other, adds a[i * a_row + p * a_step] times vector j of the row at b + p * b_row to
/// sum[i][j]. `fetch`() is called for every kDepths of the depths, which are unrolled.
template <int kDepths, class T, class V, int kRows, int kVectors, class ARow, class AStep, class BRow, class Fetch>
__attribute__((always_inline)) inline void sum_products(V (&sum)[kRows][kVectors], const T* a, ARow a_row, AStep a_step,
                                                        const T* b, BRow b_row, std::int64_t depth, Fetch fetch) {
  constexpr int kLanesOf = static_cast<int>(sizeof(V) / sizeof(T));
  const std::int64_t ahead = ahead_of<T>(b_row);
  const auto add_depth = [&] {
    ORIEL_UNROLLED
    for (int j = 0; j < kVectors * kLanesOf; j += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(b + ahead + j);
    V x[kVectors];
    ORIEL_UNROLLED
    for (int j = 0; j < kVectors; ++j) std::memcpy(&x[j], b + j * kLanesOf, sizeof(V));
    ORIEL_UNROLLED
    for (int i = 0; i < kRows; ++i) {
      const V y = a[i * a_row] - V{};
      ORIEL_UNROLLED
      for (int j = 0; j < kVectors; ++j) sum[i][j] = multiply_add<T>(y, x[j], sum[i][j]);
    }
    a += a_step;
    b += b_row;
  };
  std::int64_t p = 0;
  for (; p + kDepths <= depth; p += kDepths) {
    fetch();
    ORIEL_UNROLLED
    for (int u = 0; u < kDepths; ++u) add_depth();
  }
  if constexpr (kDepths > 1) {
    for (; p < depth; ++p) add_depth();
  }
}

// snippet transpose_square:

#if defined(__clang__)
template <int kSide, int kShift, class V, std::size_t... l>
inline V woven(const V& x, const V& y, std::index_sequence<l...>) {
  return __builtin_shufflevector(x, y, (static_cast<int>(l) / 2 + kShift + (l % 2 != 0 ? kSide : 0))...);
}
#else
template <int kSide, int kShift, class V, std::size_t... l>
inline V woven(const V& x, const V& y, std::index_sequence<l...>) {
  using Places = decltype(x < y);
  using Lane = std::remove_reference_t<decltype(Places()[0])>;
  return __builtin_shuffle(x, y,
                           Places{static_cast<Lane>(static_cast<int>(l) / 2 + kShift + (l % 2 != 0 ? kSide : 0))...});
}
#endif
/// dst[i * dst_row + j] = src[j * src_row + i] for i, j < kSide. Each of log2(kSide) rounds interleaves the two halves
/// of the rows.
template <int kSide, class T, class DstRow, class SrcRow>
inline void transpose_square(T* dst, DstRow dst_row, const T* src, SrcRow src_row) {
  using V = typename VectorOf<T, kSide* static_cast<int>(sizeof(T))>::type;
  constexpr std::make_index_sequence<kSide> all;
  V x[kSide];
  ORIEL_UNROLLED
  for (int j = 0; j < kSide; ++j) std::memcpy(&x[j], src + j * src_row, sizeof(V));
  ORIEL_UNROLLED
  for (int left = kSide; left > 1; left /= 2) {
    V y[kSide];
    ORIEL_UNROLLED
    for (int k = 0; k < kSide / 2; ++k) {
      y[2 * k] = woven<kSide, 0>(x[k], x[k + kSide / 2], all);
      y[2 * k + 1] = woven<kSide, kSide / 2>(x[k], x[k + kSide / 2], all);
    }
    std::memcpy(x, y, sizeof x);
  }
  ORIEL_UNROLLED
  for (int i = 0; i < kSide; ++i) std::memcpy(dst + i * dst_row, &x[i], sizeof(V));
}

// end of snippets

}  // namespace
}  // namespace oriel::ops
