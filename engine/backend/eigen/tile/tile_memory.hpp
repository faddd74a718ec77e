// Where the elements of a tile lie in memory.
#pragma once

#include <cstdint>

#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {

inline std::int64_t whole_packets(std::int64_t n) { return (n + isa::kPacket - 1) / isa::kPacket * isa::kPacket; }

inline void* address(const Launch& launch, const MemoryAccess& r, std::int64_t position) {
  return static_cast<char*>(launch.arguments[static_cast<std::size_t>(r.buffer)]) + position * r.bytes;
}

/// The address of n elements from `position` on, if a register may stand for them: they are whole packets of the
/// register's type; else null. The last packet of a load may include what lies beyond them.
inline void* in_place(const Launch& launch, const MemoryAccess& r, std::int64_t position, std::int64_t n) {
  if (!r.same || r.own || position < 0 || (n % isa::kPacket != 0 && !r.slack)) return nullptr;
  if (n % isa::kPacket != 0 && position + whole_packets(n) > r.elements) return nullptr;
  return address(launch, r, position);
}
inline void* in_place(const Launch& launch, const MemoryAccess& r, const Tile& tile) {
  if (!r.same || r.own || (tile.size() % isa::kPacket != 0 && !r.slack)) return nullptr;
  return in_place(launch, r, r.walk.in_place(tile), tile.size());
}

}  // namespace oriel::backend::eigen
