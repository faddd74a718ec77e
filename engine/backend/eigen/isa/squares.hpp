// Squares of elements, transposed in registers.
#pragma once

#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// The side of squares of 4-byte and 8-byte elements for which every level has registers.
template <class T>
constexpr int kSide = (kVectorBytes < 32 ? kVectorBytes : 32) / static_cast<int>(sizeof(T));

template <class T, int Side>
struct LanesOf {
  typedef T type __attribute__((vector_size(Side * sizeof(T))));
};

template <int Side, class Lanes>
inline void interleave(Lanes* mixed, Lanes a, Lanes b) {
  if constexpr (Side == 16) {
    mixed[0] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    mixed[1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  } else if constexpr (Side == 8) {
    mixed[0] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    mixed[1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (Side == 4) {
    mixed[0] = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    mixed[1] = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else {
    mixed[0] = __builtin_shufflevector(a, b, 0, 2);
    mixed[1] = __builtin_shufflevector(a, b, 1, 3);
  }
}

/// dst[i * dst_row + j] = src[j * src_col + i] for i, j < Side. Interleaves the two halves of the rows log2(Side)
/// times.
template <int Side, class T>
inline void transpose_square(T* dst, std::int64_t dst_row, const T* src, std::int64_t src_col) {
  using Lanes = typename LanesOf<T, Side>::type;
  Lanes rows[Side];
  Lanes mixed[Side];
  ORIEL_UNROLL
  for (int j = 0; j < Side; ++j) std::memcpy(&rows[j], src + j * src_col, sizeof(Lanes));
  ORIEL_UNROLL
  for (int left = Side; left > 1; left /= 2) {
    ORIEL_UNROLL
    for (int k = 0; k < Side / 2; ++k) interleave<Side>(mixed + 2 * k, rows[k], rows[k + Side / 2]);
    std::memcpy(rows, mixed, sizeof(rows));
  }
  ORIEL_UNROLL
  for (int i = 0; i < Side; ++i) std::memcpy(dst + i * dst_row, &rows[i], sizeof(Lanes));
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
