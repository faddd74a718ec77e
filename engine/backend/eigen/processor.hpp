// What of tiles and fetching follows from the processor.
#pragma once

#include <cstdint>

namespace oriel::backend::eigen {

/// No number here changes a result: the orders of sums do not depend on tiles.
///
/// On a Zen 4 core (32 KiB and 1 MiB of its own; huge pages, one thread, medians), which fetches ahead of a stream by
/// itself, to the ends of pages of 4 KiB and beyond on huge ones:
///   - 64 MB of float32 are read in 2.2 ms by one loop. Fetching the next tile in one go before each tile makes that
///     3.4 to 3.9: the fetches take the places of the reads. Rows that a later stage reads again are no such stream:
///     there fetching the next row saves 6% (softmax) to 15% (layer norm of long rows).
///   - Between two tiles nothing is read. Sums in tiles of 1024 elements take 3.6 ms, of 4096 2.6.
///   - Sums of the columns of 4096x4096: blocks of 128 to 1024 columns 4.9 to 5.9 ms, of 4096 3.5, while their lanes
///     take no more than half of the second cache.
/// On Intel's (Ice Lake and later servers) fetching the next tile pays, and blocks are as they were measured there.
struct Processor {
  bool follows_streams = false;                        // a tile that follows another in memory is not fetched
  std::int64_t read_tile = 1024;                       // elements of a tile of a reduction of what lies in memory
  std::int64_t widest_columns = 1024;                  // that are reduced together
  std::int64_t lane_bytes = std::int64_t{512} * 1024;  // their lanes, at most
};

const Processor& processor();

}  // namespace oriel::backend::eigen
