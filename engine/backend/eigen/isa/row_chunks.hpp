// Short rows, copied in chunks of registers: a call of memcpy for each would take twice as long.
#pragma once

#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// Rows of more bytes are left to memcpy.
constexpr std::int64_t kLongestRow = 8 * kVectorBytes;

template <int kBytes>
void copy_bytes(char* to, const char* from) {
  char bytes[kBytes];
  std::memcpy(bytes, from, kBytes);
  std::memcpy(to, bytes, kBytes);
}

/// Copies `rows` rows of `bytes` bytes, at most kLongestRow. from(i) is row i. The last chunk of a row ends with it and
/// may overlap the one before.
template <int kChunk = kVectorBytes, class From>
void copy_rows(char* dst, std::int64_t dst_row, std::int64_t bytes, std::int64_t rows, From from) {
  if constexpr (kChunk > 1) {
    if (bytes < kChunk) return copy_rows<kChunk / 2>(dst, dst_row, bytes, rows, from);
  }
  if (bytes == kChunk) {
    ORIEL_UNROLL
    for (std::int64_t i = 0; i < rows; ++i) copy_bytes<kChunk>(dst + i * dst_row, from(i));
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i, dst += dst_row) {
    const char* const row = from(i);
    if constexpr (kChunk == kVectorBytes)
      for (std::int64_t at = kChunk; at + kChunk < bytes; at += kChunk) copy_bytes<kChunk>(dst + at, row + at);
    char first[kChunk], last[kChunk];
    std::memcpy(first, row, kChunk);
    std::memcpy(last, row + bytes - kChunk, kChunk);
    std::memcpy(dst, first, kChunk);
    std::memcpy(dst + bytes - kChunk, last, kChunk);
  }
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
