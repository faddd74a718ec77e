// Mixes words into a hash.
#pragma once

#include <cstdint>

namespace oriel::base {

/// Mixes `v` into `h`. For tables in memory: fast, but not safe against an adversary. Every bit of `v` affects the low
/// bits, which hash tables use; the low bits of integers stored as doubles are all zero.
constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) noexcept {
  const std::uint64_t product = (h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2))) * 0xff51afd7ed558ccdULL;
  return product ^ product >> 32 ^ product >> 48;
}

}  // namespace oriel::base
