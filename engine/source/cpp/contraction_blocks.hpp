// How a rendered contraction is cut into blocks, where its factors' elements lie when they are multiplied, and the loop
// programs that pack them and finish the results.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/contraction.hpp"
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

/// A matrix for each batch in a buffer, as codegen::Matrices, of sizes that may be symbols.
struct FactorMemory {
  std::int32_t buffer = -1;
  SymInt offset;
  SymInt row;
  SymInt step;
  Ints extents;  // of the batch loops
  Ints strides;
};
/// The left factor (or the right one) as the kernel reads it; nothing if it is no such matrix for all sizes.
std::optional<FactorMemory> factor_memory(const codegen::LoopProgram& program, const codegen::Contraction& contraction,
                                          bool left);

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
  std::optional<FactorMemory> left_factor;
  std::optional<FactorMemory> right_factor;

  /// Does a loop program of its own pack the factor?
  bool packs(bool of_left) const {
    return of_left ? left != FactorLayout::InMemory && !left_in_memory
                   : right != FactorLayout::InMemory && !right_in_memory;
  }

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

/// `keep`: on the stack and in a caller's frame blocks are smaller; shorter tiles make them smaller still. `symbolic`:
/// blocks that do for all sizes of the program.
ContractionBlocks choose_blocks(const codegen::LoopProgram& program, const codegen::ProductForm& plan, Keep keep,
                                int longest_tile, bool symbolic);

/// A program without inner loops, and the argument of it that lies in what the kernel keeps.
struct PackedProgram {
  codegen::LoopProgram program;
  int argument = 0;
};

/// Stores a factor's elements, `pitch` apart from row to row (columns are rows of the right factor) and side by side
/// along the depth, its points numbered by batch, row and depth; or, without `by_rows`, `pitch` apart from depth to
/// depth, numbered by depth, batch and row. Batches lie over each other.
PackedProgram packing_program(const codegen::LoopProgram& program, const codegen::Contraction& contraction, bool left,
                              bool by_rows, std::int64_t pitch);

/// Joins neighbouring loops that are one loop in all operands.
void merge_loops(codegen::LoopProgram& program);

/// What is done to the results, which are read `pitch` apart from row to row; points are numbered by batch, row and
/// column.
PackedProgram results_program(const codegen::LoopProgram& program, const codegen::Contraction& contraction,
                              std::int64_t pitch);

}  // namespace oriel::source::cpp
