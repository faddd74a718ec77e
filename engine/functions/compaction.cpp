#include "functions/compaction.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace oriel::api {
namespace {

constexpr std::size_t kWord = 8;                            // bytes of the mask that are looked at together
constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;  // the highest bit of each byte
constexpr std::uint64_t kOnes = 0x0101010101010101ULL;      // one in each byte
constexpr std::int64_t kReadRow = 32;                       // shorter rows are not read one by one
constexpr std::size_t kIndexed = 1024;                      // positions that are turned into indices together

std::uint64_t word_at(const std::uint8_t* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, kWord);
  return word;
}

// One in each byte that is not 0.
std::uint64_t ones_of(std::uint64_t word) noexcept {
  return ((((word & ~kHighBits) + ~kHighBits) | word) & kHighBits) >> 7;
}

// How far a mask is read, and how many true elements came so far.
struct Progress {
  std::size_t n = 0;
  std::size_t k = 0;
};

// Calls put(n, k) for the n-th true element k, from `at` on, up to element `end` or `count` true ones. Between them it
// may call put(n, k) for false elements k too: the next call overwrites what that one stored. `n` stays below `count`.
// Random masks take no longer than others, because nothing branches on an element.
template <class Put>
Progress each_true(MaskBytes mask, Progress at, std::size_t end, std::size_t count, const Put& put) {
  auto [n, k] = at;
  for (; k + kWord <= end && n + kWord <= count; k += kWord) {
    const std::uint64_t word = word_at(mask.data() + k);
    if (word == 0) continue;
    // Byte j counts the true elements up to element j of the word, so that no element waits for the one before it.
    const std::uint64_t up_to = ones_of(word) * kOnes;
    put(n, k);
#pragma GCC unroll 8
    for (std::size_t j = 1; j < kWord; ++j) put(n + (up_to >> (8 * (j - 1)) & 0xFF), k + j);
    n += up_to >> 56;
  }
  while (k < end && n < count) {  // NOLINT(bugprone-infinite-loop): both branches move k
    if (k + kWord <= end && word_at(mask.data() + k) == 0) {
      k += kWord;
      continue;
    }
    put(n, k);
    n += mask[k] != 0 ? 1 : 0;
    ++k;
  }
  return {n, k};
}

// Indices (row, column) in a matrix whose rows are long enough to be read one by one.
void write_in_rows(MaskBytes mask, std::size_t count, std::size_t columns, std::int64_t* out) {
  Progress at;
  for (std::size_t row = 0; at.n < count; ++row) {
    at.k = row * columns;
    at = each_true(mask, at, at.k + columns, count, [=](std::size_t n, std::size_t k) {
      out[2 * n] = static_cast<std::int64_t>(row);
      out[2 * n + 1] = static_cast<std::int64_t>(k - row * columns);
    });
  }
}

template <class T>
void copy_items(MaskBytes mask, std::size_t count, const void* from, void* out) {
  const T* const source = static_cast<const T*>(from);
  T* const target = static_cast<T*>(out);
  each_true(mask, {}, mask.size(), count, [=](std::size_t n, std::size_t k) { target[n] = source[k]; });
}

}  // namespace

std::size_t count_true(MaskBytes mask) noexcept {
  std::size_t count = 0, k = 0;
  while (k + kWord <= mask.size()) {
    // A byte counts up to 255. The bytes are added as sixteen bits each, because their sum does not fit one.
    std::uint64_t sums = 0;
    for (int words = 0; words < 255 && k + kWord <= mask.size(); ++words, k += kWord)
      sums += ones_of(word_at(mask.data() + k));
    constexpr std::uint64_t even = 0x00FF00FF00FF00FFULL;
    const std::uint64_t pairs = (sums & even) + ((sums >> 8) & even);
    count += (pairs * 0x0001000100010001ULL) >> 48;
  }
  for (; k < mask.size(); ++k) count += mask[k] != 0 ? 1 : 0;
  return count;
}

void write_indices(MaskBytes mask, std::size_t count, std::span<const std::int64_t> shape, std::int64_t* out) {
  const std::size_t rank = shape.size();
  if (rank == 0) return;
  if (rank == 1) {
    each_true(mask, {}, mask.size(), count,
              [=](std::size_t n, std::size_t k) { out[n] = static_cast<std::int64_t>(k); });
    return;
  }
  if (rank == 2 && shape[1] >= kReadRow) return write_in_rows(mask, count, static_cast<std::size_t>(shape[1]), out);
  std::array<std::int64_t, kIndexed> rest{};
  std::size_t k = 0;
  for (std::size_t done = 0; done < count; done += kIndexed, out += kIndexed * rank) {
    const std::size_t these = std::min(count - done, kIndexed);
    const auto keep = [&](std::size_t n, std::size_t at) { rest[n] = static_cast<std::int64_t>(at); };
    k = each_true(mask, {0, k}, mask.size(), these, keep).k;
    for (std::size_t d = rank; --d > 0;) {
      // The quotient of floats, rounded down, is exact below 2^52, and so many bytes no machine has. It takes less time
      // than that of integers.
      const auto extent = static_cast<double>(shape[d]);
      for (std::size_t n = 0; n < these; ++n) {
        const auto quotient = static_cast<std::int64_t>(static_cast<double>(rest[n]) / extent);
        out[n * rank + d] = rest[n] - quotient * shape[d];
        rest[n] = quotient;
      }
    }
    for (std::size_t n = 0; n < these; ++n) out[n * rank] = rest[n];
  }
}

void copy_true(MaskBytes mask, std::size_t count, const void* from, std::size_t item, void* out) {
  switch (item) {
    case 1:
      return copy_items<std::uint8_t>(mask, count, from, out);
    case 2:
      return copy_items<std::uint16_t>(mask, count, from, out);
    case 4:
      return copy_items<std::uint32_t>(mask, count, from, out);
    default:
      return copy_items<std::uint64_t>(mask, count, from, out);
  }
}

}  // namespace oriel::api
