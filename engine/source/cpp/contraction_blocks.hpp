// How a rendered contraction is cut into blocks, and where its factors' elements lie when they are multiplied.
#pragma once

#include <cstdint>

#include "codegen/product_form.hpp"
#include "source/cpp/loops_source.hpp"

namespace oriel::source::cpp {

/// Rows that no level's register block exceeds.
inline constexpr std::int64_t kStrip = 8;

/// The layout in which a block reads the elements of a factor.
enum class FactorLayout : std::uint8_t {
  InMemory,    // where they are, at even steps
  ByRows,      // packed, a row's (or column's) depths side by side
  ByDepths,    // packed, a depth's columns side by side; of the left factor, 8 rows, then the next depth's
  Transposed,  // packed by rows, or in memory so, and then transposed by depths
};

/// Sizes in elements. They depend on the program and the tile length alone, never on the level: panels of every level
/// fit into them.
struct ContractionBlocks {
  std::int64_t rows = 8;      // of a block of results, a multiple of 8
  std::int64_t columns = 48;  // of a block of results, a multiple of every level's panel
  std::int64_t panel = 48;    // that multiple
  std::int64_t chunk = 1;     // depths that are packed at a time
  bool strips = false;        // all depths are one chunk: results leave 8 rows at a time
  FactorLayout left = FactorLayout::ByRows;
  std::int64_t left_pitch = 0;  // from a packed row to the next, or from 8 of them to the next 8
  bool left_in_memory = false;  // the left factor has the ByDepths layout in memory already, so it is not packed
  FactorLayout right = FactorLayout::ByDepths;
  std::int64_t right_pitch = 0;
  bool right_in_memory = false;  // the right factor is transposed in memory and read there, without packing
  std::int64_t transposed_pitch = 0;

  // What is kept, in elements; the parts follow each other in this order.
  std::int64_t left_size = 0;
  std::int64_t line_size = 0;   // rows of the left factor at one depth
  std::int64_t right_size = 0;  // where it is not packed, of the columns that fill no register
  std::int64_t transposed_size = 0;
  std::int64_t sums_size = 0;
  std::int64_t carry_size = 0;
  std::int64_t total_size = 0;
  std::int64_t size() const {
    return left_size + line_size + right_size + transposed_size + sums_size + carry_size + total_size;
  }
};

/// `keep`: on the stack and in a caller's frame blocks are smaller; shorter tiles make them smaller still.
ContractionBlocks choose_blocks(const codegen::ProductForm& plan, Keep keep, int longest_tile);
/// Blocks that do for all sizes. Both factors are packed. `plan`: at some sizes, of which the speed alone depends.
ContractionBlocks symbolic_blocks(const codegen::ProductForm& plan, Keep keep, int longest_tile);

}  // namespace oriel::source::cpp
