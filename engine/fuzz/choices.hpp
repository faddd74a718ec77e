// The source of a generator's decisions: a seeded random sequence, or the bytes from a coverage-guided fuzzer.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace oriel::fuzz {

/// Cheap to construct, so that every case has its own: case k of a seed does not depend on earlier cases.
class Choices {
 public:
  /// Sequence number `stream` of the family of sequences of `seed`.
  Choices(std::uint64_t seed, std::uint64_t stream) : state_(scramble(seed) ^ scramble(~stream)) {}
  /// Takes decisions from the bytes. After their end each decision is the least possible, so that generation ends.
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  /// A number from lo to hi, both included, with uniform distribution. lo <= hi, and not all of int64.
  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    const std::uint64_t count = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    if (from_bytes_) return lo + static_cast<std::int64_t>(read(count) % count);
    if (count <= UINT32_MAX) return lo + static_cast<std::int64_t>((next() >> 32) * count >> 32);
    return lo + static_cast<std::int64_t>(next() % count);
  }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(between(0, static_cast<std::int64_t>(count) - 1));
  }
  bool chance(double probability) { return static_cast<double>(between(0, 255)) < probability * 256.; }

  template <class List>
  void shuffle(List& list) {
    for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[below(k)]);
  }

 private:
  /// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  static std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  std::uint64_t next() { return scramble(state_ += 0x9e3779b97f4a7c15U); }
  std::uint64_t read(std::uint64_t count) {
    std::uint64_t value = 0;
    for (; count > 1 && !bytes_.empty(); count >>= 8) {
      value = value << 8 | bytes_.front();
      bytes_ = bytes_.subspan(1);
    }
    return value;
  }

  std::uint64_t state_ = 0;
  std::span<const std::uint8_t> bytes_;
  bool from_bytes_ = false;
};

}  // namespace oriel::fuzz
