// Rows of memory at keys: elements, short rows and long ones.
#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

// Keys that are compared with their range together.
constexpr std::int64_t kGroup = 64;
// Rows that one turn of a loop copies.
constexpr int kTogether = 8;
// Longer rows are fetched so many rows ahead; the processor itself runs ahead over shorter ones.
constexpr std::int64_t kFetched = 64;
constexpr std::int64_t kAhead = 8;

/// Copies n rows of kChunk bytes, or of up to twice as many as two chunks that may overlap. kStride: the bytes from a
/// key to the next one, if known here, else 0.
template <int kChunk, bool kTwo, int kStride, class K>
void copy_chunks(char* dst, const char* src, const K* keys, std::int64_t step, std::int64_t stride, std::int64_t bytes,
                 std::int64_t n) {
  if constexpr (kStride != 0) stride = kStride;
  if constexpr (!kTwo) bytes = kChunk;
  const auto copy = [&](std::int64_t i) __attribute__((always_inline)) {
    const char* const from = src + static_cast<std::int64_t>(keys[i * step]) * stride;
    char first[kChunk], last[kChunk];
    std::memcpy(first, from, kChunk);
    if constexpr (kTwo) std::memcpy(last, from + bytes - kChunk, kChunk);
    std::memcpy(dst + i * bytes, first, kChunk);
    if constexpr (kTwo) std::memcpy(dst + i * bytes + bytes - kChunk, last, kChunk);
  };
  std::int64_t i = 0;
  if (step == 1) {
    step = 1;
    for (; i + kTogether <= n; i += kTogether) {
      ORIEL_UNROLL
      for (int k = 0; k < kTogether; ++k) copy(i + k);
    }
  }
  for (; i < n; ++i) copy(i);
}

template <class K>
void copy_long(char* dst, const char* src, const K* keys, std::int64_t step, std::int64_t stride, std::int64_t bytes,
               std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i, dst += bytes) {
    if (i + kAhead < n) {
      const char* const next = src + static_cast<std::int64_t>(keys[(i + kAhead) * step]) * stride;
      for (std::int64_t at = 0; at < std::min<std::int64_t>(bytes, 4 * kFetched); at += kFetched)
        __builtin_prefetch(next + at);
    }
    std::memcpy(dst, src + static_cast<std::int64_t>(keys[i * step]) * stride, static_cast<std::size_t>(bytes));
  }
}

template <class K>
using CopyRows = void (*)(char*, const char*, const K*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

template <class K, int kChunk = 64>
CopyRows<K> rows_of(std::int64_t bytes, std::int64_t stride) {
  if (bytes > 128) return copy_long<K>;
  if (bytes == kChunk)
    return stride == kChunk ? copy_chunks<kChunk, false, kChunk, K> : copy_chunks<kChunk, false, 0, K>;
  if constexpr (kChunk > 1) {
    if (bytes < kChunk) return rows_of<K, kChunk / 2>(bytes, stride);
  }
  return copy_chunks<kChunk, true, 0, K>;
}

/// How many of n keys come before the first one outside of [first, last].
template <class K>
std::int64_t count_inside(const K* keys, std::int64_t step, std::int64_t first, std::int64_t last, std::int64_t n) {
  using U = std::make_unsigned_t<K>;
  const U low = static_cast<U>(first), range = static_cast<U>(static_cast<U>(last) - low);
  if (n == kGroup && step == 1) {
    U most = 0;
    ORIEL_VECTOR_LOOP
    for (std::int64_t i = 0; i < kGroup; ++i) most = std::max(most, static_cast<U>(static_cast<U>(keys[i]) - low));
    if (most <= range) return n;
  }
  std::int64_t i = 0;
  while (i < n && static_cast<U>(keys[i * step]) - low <= range) ++i;
  return i;
}

template <class K>
std::int64_t keyed_rows(const KeyedRows& r) {
  const std::int64_t stride = r.factor * r.element_bytes;
  const auto copy = rows_of<K>(r.bytes, stride);
  const auto copy_placed = rows_of<std::int64_t>(r.bytes, r.element_bytes);
  const K* keys = static_cast<const K*>(r.keys);
  const char* const src = static_cast<const char*>(r.src);
  char* dst = static_cast<char*>(r.dst);
  for (std::int64_t i = 0; i < r.rows; i += kGroup, dst += kGroup * r.bytes, keys += kGroup * r.step) {
    const std::int64_t n = std::min(kGroup, r.rows - i);
    std::int64_t inside = count_inside(keys, r.step, r.first, r.last, n);
    if (r.rest == nullptr) {
      copy(dst, src + r.offset * r.element_bytes, keys, r.step, stride, r.bytes, inside);
    } else {
      std::int64_t places[kGroup];
      const std::int64_t* const rest = r.rest + i * r.rest_step;
      ORIEL_VECTOR_LOOP
      for (std::int64_t j = 0; j < n; ++j)
        places[j] = static_cast<std::int64_t>(
            static_cast<std::uint64_t>(keys[j * r.step]) * static_cast<std::uint64_t>(r.factor) +
            static_cast<std::uint64_t>(rest[j * r.rest_step]) + static_cast<std::uint64_t>(r.offset));
      inside = std::min(inside, count_inside<std::int64_t>(places, 1, 0, r.limit, n));
      copy_placed(dst, src, places, 1, r.element_bytes, r.bytes, inside);
    }
    if (inside < n) return i + inside;
  }
  return r.rows;
}

}  // namespace

void add_lookup_ops(Table& table) {
  table.keyed_rows[0] = keyed_rows<std::int32_t>;
  table.keyed_rows[1] = keyed_rows<std::int64_t>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
