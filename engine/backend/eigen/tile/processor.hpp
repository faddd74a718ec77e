// Sizes of tiles and choices of prefetching that depend on the processor.
#pragma once

#include <cstdint>

namespace oriel::backend::eigen {

/// These numbers never change a result: the order of sums does not depend on tiles.
///
/// Measured on a Zen 4 core (32 KiB and 1 MiB of cache of its own; huge pages, one thread, medians). Its hardware
/// prefetches streams up to the ends of pages of 4 KiB, and beyond on huge pages:
/// - One loop reads 64 MB of float32 in 2.2 ms. Prefetching the next tile at once before each tile takes 3.4 to 3.9 ms,
/// because prefetches compete with the reads. Rows that a later stage reads again are no stream: there, prefetching the
/// next row saves 6% (softmax) to 15% (layer norm of long rows).
/// - Between two tiles nothing is read. Sums in tiles of 1024 elements take 3.6 ms, in tiles of 4096 elements 2.6 ms.
/// - Sums of the columns of 4096x4096 take 4.9 to 5.9 ms in blocks of 128 to 1024 columns, and 3.5 ms in blocks of
/// 4096, as long as their lanes take at most half of the second-level cache.
/// On Intel's Ice Lake and later servers prefetching the next tile pays, and block sizes are those measured there.
struct Processor {
  bool follows_streams = false;                        // do not prefetch a tile that follows another one in memory
  std::int64_t read_tile = 1024;                       // elements in a tile of a reduction that reads memory
  std::int64_t widest_columns = 1024;                  // the most columns that are reduced together
  std::int64_t lane_bytes = std::int64_t{512} * 1024;  // the most bytes that their lanes take
};

const Processor& processor();

}  // namespace oriel::backend::eigen
