// Rows of memory at keys: elements, short rows and long ones.
#include "backend/eigen/isa/row_chunks.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

// Keys that are compared with their range together.
constexpr std::int64_t kGroup = 64;
// Long rows are fetched so many rows ahead; the processor itself runs ahead over shorter ones.
constexpr std::int64_t kAhead = 8;

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

/// Copies n rows, of which row i begins `stride` * keys[i * step] bytes after src.
template <class K>
void copy_keyed(char* dst, const char* src, const K* keys, std::int64_t step, std::int64_t stride, std::int64_t bytes,
                std::int64_t n) {
  const auto row = [=](std::int64_t i) { return src + static_cast<std::int64_t>(keys[i * step]) * stride; };
  if (step == 1 && bytes <= kLongestRow)
    return copy_rows(dst, bytes, bytes, n,
                     [=](std::int64_t i) { return src + static_cast<std::int64_t>(keys[i]) * stride; });
  for (std::int64_t i = 0; i < n; ++i, dst += bytes) {
    for (std::int64_t at = 0; i + kAhead < n && at < 256; at += 64) __builtin_prefetch(row(i + kAhead) + at);
    std::memcpy(dst, row(i), static_cast<std::size_t>(bytes));
  }
}

template <class K>
std::int64_t keyed_rows(const KeyedRows& r) {
  const K* keys = static_cast<const K*>(r.keys);
  const char* const src = static_cast<const char*>(r.src);
  char* dst = static_cast<char*>(r.dst);
  for (std::int64_t i = 0; i < r.rows; i += kGroup, dst += kGroup * r.bytes, keys += kGroup * r.step) {
    const std::int64_t n = std::min(kGroup, r.rows - i);
    std::int64_t inside = count_inside(keys, r.step, r.first, r.last, n);
    if (r.rest == nullptr) {
      copy_keyed(dst, src + r.offset * r.element_bytes, keys, r.step, r.factor * r.element_bytes, r.bytes, inside);
    } else {
      std::int64_t places[kGroup];
      const std::int64_t* const rest = r.rest + i * r.rest_step;
      ORIEL_VECTOR_LOOP
      for (std::int64_t j = 0; j < n; ++j)
        places[j] = static_cast<std::int64_t>(
            static_cast<std::uint64_t>(keys[j * r.step]) * static_cast<std::uint64_t>(r.factor) +
            static_cast<std::uint64_t>(rest[j * r.rest_step]) + static_cast<std::uint64_t>(r.offset));
      inside = std::min(inside, count_inside<std::int64_t>(places, 1, 0, r.limit, n));
      copy_keyed(dst, src, places, 1, r.element_bytes, r.bytes, inside);
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
