// Contractions on GPUs by work-groups: slabs of both factors in local memory, a tile of results in the registers of
// each item.
#pragma once

#include <optional>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "schedule/pattern_limits.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Below this side and depth, a slab is mostly empty. Below this work, launching another kernel costs more than it
/// saves.
inline constexpr schedule::PatternLimits kTilePatterns{
    .product_work = 1 << 16, .product_side = 16, .product_depth = 8, .vector_work = -1, .window_work = -1};

/// How a contraction's results are distributed: a group computes rows * group_rows by columns * group_columns results.
struct TileShape {
  int group_rows = 16;  // items of a group along rows
  int group_columns = 16;
  int rows = 4;     // neighbouring results of an item
  int columns = 4;  // a multiple of four: lanes are neighbours, vectors are group_columns * 4 apart
  int depth = 16;   // of a slab in local memory
  int block_rows() const { return group_rows * rows; }
  int block_columns() const { return group_columns * columns; }
};

/// The shapes that the device can run and that suit the contraction; the default comes first. Devices do not report how
/// many registers an item has, so a tile has at most 64 results of 4 bytes.
std::vector<TileShape> tile_shapes(const codegen::Contraction& contraction, const DeviceTraits& table);

/// Renders the program as one function over blocks of results. Returns nullopt unless it is a contraction
/// (codegen/contraction.hpp), large enough, on a device other than a CPU. `options.shape` selects one of tile_shapes.
/// Throws DeviceError as `render` does.
std::optional<Rendered> render_tiles(const codegen::LoopProgram& program, const Dialect& dialect,
                                     const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
