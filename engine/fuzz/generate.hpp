// Generates random cases of several kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuzz/case.hpp"
#include "fuzz/choices.hpp"

namespace oriel::fuzz {

enum class Kind : std::uint8_t { Movement, Raw, Accident, Stack, Chain, Deep, Huge, Planted, Edge, Kernels, Each };
inline constexpr std::size_t kKinds = 11;

struct KindInfo {
  Kind kind;
  std::string_view name;
  std::string_view summary;
  bool table;   // small enough that brute force lists every index
  bool on_own;  // runs only if asked for
  int weight;   // its share of the cases relative to other kinds
};
std::span<const KindInfo> kinds();
const KindInfo& info(Kind kind);

/// A random case of the kind. Tables have at most six times `most_elements` entries; the least useful value is 8; huge
/// and planted cases ignore it. No valid index of a case has a negative position, and its arithmetic fits 64 bits.
Case generate(Kind kind, Choices& choices, std::int64_t most_elements);

}  // namespace oriel::fuzz
