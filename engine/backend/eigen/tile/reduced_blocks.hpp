// The reductions of a stage, block by block.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "backend/eigen/tile/plan.hpp"

namespace oriel::backend::eigen {

/// Sets n elements of 1 << log_bytes bytes.
inline void fill(const isa::Table& table, void* dst, int log_bytes, std::uint64_t bytes, std::int64_t n) {
  table.copy[log_bytes](dst, 0, 1, &bytes, 0, 0, 1, n);
}

/// Combines the blocks of reductions, whose accumulators and waiting values lie in the arena.
class ReducedBlocks {
 public:
  ReducedBlocks(char* arena, const isa::Table& table) : arena_(arena), table_(table) {}

  /// Sets `lanes` lanes of the accumulator to the identity.
  void start(const TileReduction& r, std::int64_t n, std::int64_t lanes) const {
    fill(table_, arena_ + r.accumulator, r.log_bytes, r.fns->identity, lanes * n);
  }

  /// Blocks are combined like the digits of a binary counter.
  void end(const TileReduction& r, std::int64_t n, std::int64_t lanes, std::int64_t blocks) const {
    r.fns->combine(arena_ + r.accumulator, n, lanes);
    join(r, n, blocks);
    start(r, n, lanes);
  }

  /// Combines a block's value, which is at the accumulator's start, with those that wait.
  void join(const TileReduction& r, std::int64_t n, std::int64_t blocks) const {
    char* acc = arena_ + r.accumulator;
    char* waiting = arena_ + r.waiting;
    const std::int64_t bytes = n << r.log_bytes;
    std::int64_t depth = std::popcount(static_cast<std::uint64_t>(blocks));
    for (; (blocks & 1) != 0; blocks >>= 1) {
      --depth;
      r.fns->merge(acc, waiting + depth * bytes, acc, n);
    }
    std::memcpy(waiting + depth * bytes, acc, static_cast<std::size_t>(bytes));
  }

  /// Combines all blocks that wait, into `result`.
  void finish(const TileReduction& r, std::int64_t n, std::int64_t blocks, void* result) const {
    // One value waits for each set bit of the count. Combine them, starting with the smallest block.
    char* waiting = arena_ + r.waiting;
    const std::int64_t bytes = n << r.log_bytes;
    for (std::int64_t depth = std::popcount(static_cast<std::uint64_t>(blocks)) - 1; depth > 0; --depth) {
      r.fns->merge(waiting + (depth - 1) * bytes, waiting + (depth - 1) * bytes, waiting + depth * bytes, n);
    }
    std::memcpy(result, waiting, static_cast<std::size_t>(bytes));
  }

 private:
  char* const arena_;
  const isa::Table& table_;
};

}  // namespace oriel::backend::eigen
