// What a kernel works in: how long a rendered one's tiles are, how much memory its variables take, and sizes that both
// tiers share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace oriel::source::cpp {

/// An output of so many bytes is not found in the caches by who reads it next; written past them, its lines need not be
/// read first.
inline constexpr std::int64_t kStreamBytes = std::int64_t{32} << 20;

/// Lanes of the order of a reduction (README.md).
inline constexpr int kReductionLanes = 32;

/// The tile length that wastes least on loops of these extents: whole blocks of the reduction order, a few elements'
/// time a tile.
int tile_length(const std::vector<std::int64_t>& extents, int longest);

/// At least what a struct of these members takes, on any target, where it begins at a multiple of 64. `members`: a line
/// each, as Writer::member writes them; `tile`, `rows`: elements of a Tile and of Rows. Throws InternalError for a type
/// that no renderer writes.
std::int64_t frame_bytes(std::string_view members, std::int64_t tile, std::int64_t rows);

}  // namespace oriel::source::cpp
