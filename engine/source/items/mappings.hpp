// The ways in which the points of a kernel are distributed to items. Each function renders the programs that its way
// suits, and returns nullopt for others. Those with options throw DeviceError as `render` does.
#pragma once

#include <optional>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/loop_program.hpp"
#include "schedule/pattern_limits.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Scans (LoopProgram::scanning): what is combined up to each element along an axis. Lines are cut into shares where
/// there are fewer of them than the device needs: one function combines each share, one combines what is before each,
/// one scans the shares. On GPUs, a group takes a share of neighbouring elements tile by tile through local memory;
/// elsewhere, and for lines that lie side by side in memory, an item takes a share of one line.
std::optional<Rendered> render_scan(const codegen::LoopProgram& program, const Dialect& dialect,
                                    const DeviceTraits& table);

/// Sorts (LoopProgram::sorting): rows in order, or the positions of their elements. Elements become unsigned keys in
/// their order, which are sorted from the lowest digits up; each pass keeps the order of equal digits. A group sorts a
/// row that fits its local memory there. Longer rows are cut into shares: for each digit of 8 bits, one function counts
/// the digits of each share, one adds up what is before each share, and one moves the elements, after it has sorted
/// them by tiles.
std::optional<Rendered> render_sort(const codegen::LoopProgram& program, const Dialect& dialect,
                                    const DeviceTraits& table);

/// Below this side and depth, packing panels costs more than it saves. Below this work, launching another kernel does.
inline constexpr schedule::PatternLimits kProductPatterns{.product_work = 1 << 16,
                                                          .product_side = 24,
                                                          .product_depth = 16,
                                                          .integer_products = false,
                                                          .vector_work = -1,
                                                          .window_work = -1};
/// Contractions of floats on CPUs by blocks, which `options.shape` selects the sizes of: panels of both factors in
/// local memory, tiles of results in registers.
std::optional<Rendered> render_product(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

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
/// Contractions on GPUs by groups, in one of tile_shapes (`options.shape`): slabs of both factors in local memory, a
/// tile of results in the registers of each item.
std::optional<Rendered> render_tiles(const codegen::LoopProgram& program, const Dialect& dialect,
                                     const DeviceTraits& table, const RenderOptions& options);

/// Elementwise programs that load contiguously along another loop than the last, along which they store: squares are
/// loaded along one axis, transposed in registers, and stored along another axis.
std::optional<Rendered> render_squares(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

/// Reductions along columns of at least two vectors on CPUs: an item takes several neighbouring vectors of columns, so
/// it reads whole cache lines of each row.
std::optional<Rendered> render_columns(const codegen::LoopProgram& program, const Dialect& dialect,
                                       const DeviceTraits& table, const RenderOptions& options);

}  // namespace oriel::source::items
