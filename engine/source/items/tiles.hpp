// Sums of products by work-groups, as GPUs want them: slabs of both factors in local memory, each item with a tile of
// results in registers.
#pragma once

#include <optional>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "schedule/form_limits.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Below this side and depth, a slab is mostly empty; below this work, launching another kernel costs more.
inline constexpr schedule::FormLimits kTileForms{
    .product_work = 1 << 16, .product_side = 16, .product_depth = 8, .vector_work = -1, .window_work = -1};

/// How a contraction's results are dealt out: a group has rows * group_rows by columns * group_columns of them.
struct TileShape {
  int group_rows = 16;  // items of a group
  int group_columns = 16;
  int rows = 4;     // results of an item, as many neighbours
  int columns = 4;  // a multiple of four: lanes are neighbours, vectors are group_columns * 4 apart
  int depth = 16;   // of a slab in local memory
  int block_rows() const { return group_rows * rows; }
  int block_columns() const { return group_columns * columns; }
};

/// The shapes that a device can run and that suit the contraction, the one that is taken unasked first. What its items
/// have as registers no device tells: a tile has at most 64 results of 4 bytes.
std::vector<TileShape> tile_shapes(const codegen::Contraction& contraction, const DeviceTraits& table);

/// The program as one function over blocks of results, where it is a contraction (codegen/contraction.hpp) that is
/// large enough, on a device that is no CPU; else nothing. `options.shape` picks among tile_shapes. Throws DeviceError
/// as `render`.
std::optional<Rendered> render_tiles(const codegen::LoopProgram& program, const ItemDialect& dialect,
                                     const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
