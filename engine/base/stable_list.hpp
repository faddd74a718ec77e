// A list whose entries never move.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>

namespace oriel::base {

/// Up to 2^24 entries of a trivial type, in pieces of doubling length. Grows only. One thread at a time adds; any
/// thread may read entries that were added before.
template <class T>
class StableList {
 public:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 24;

  /// Adds an entry. `memory` owns the pieces and outlives the list. Precondition: there are less than kMost entries.
  void add(std::pmr::memory_resource& memory, T entry) {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    const Place place(count);
    T* piece = pieces_[place.piece].load(std::memory_order_relaxed);
    if (piece == nullptr) {
      const std::size_t length = std::size_t{kFirst} << place.piece;
      piece = static_cast<T*>(memory.allocate(length * sizeof(T), alignof(T)));
      pieces_[place.piece].store(piece, std::memory_order_relaxed);
    }
    std::construct_at(piece + place.offset, entry);
    count_.store(count + 1, std::memory_order_release);
  }
  std::uint32_t size() const noexcept { return count_.load(std::memory_order_acquire); }
  /// Precondition: i < size().
  T operator[](std::uint32_t i) const noexcept {
    const Place place(i);
    return pieces_[place.piece].load(std::memory_order_relaxed)[place.offset];
  }

 private:
  static constexpr std::uint32_t kFirst = 64;  // entries of the first piece

  struct Place {
    explicit Place(std::uint32_t i) noexcept
        : piece(static_cast<std::uint32_t>(std::bit_width(i / kFirst + 1)) - 1),
          offset(i - kFirst * ((std::uint32_t{1} << piece) - 1)) {}
    std::uint32_t piece;
    std::uint32_t offset;
  };

  std::array<std::atomic<T*>, 19> pieces_{};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace oriel::base
