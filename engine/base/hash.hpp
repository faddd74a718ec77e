// Folding words into a hash.
#pragma once

#include <cstdint>

namespace oriel::base {

/// `h` with `v` folded in. For tables in memory: fast, and not against an adversary.
constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) noexcept {
  return (h ^ (v + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2))) * 0xff51afd7ed558ccdULL;
}

}  // namespace oriel::base
