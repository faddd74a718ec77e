// How a kernel's domain is dealt out to a device's items, lanes and groups.
#pragma once

#include <cstdint>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// Elements of a float sum that are added in a row before they join the others: it bounds the rounding error.
inline constexpr std::int64_t kSummedInARow = 4096;

struct WorkDivision {
  bool rows = false;       // an item, or a group, has one outer point; otherwise lanes are outer points
  bool long_rows = false;  // of more than a few inner points
  bool wide = false;       // positions are 64-bit
  bool fp64 = false;
  int widest = 1;          // lanes that the device prefers
  int outer_width = 1;     // outer points an item has as lanes
  int group = 1;           // items that share a row
  std::int64_t parts = 1;  // of what a reduction gathers, each an item's, joined by a second function
  int shapes = 1;          // ways to deal a reduction out
  int split = -1;          // the stage that is dealt out so, along its loop `split_loop`
  std::size_t split_loop = 0;

  /// Lanes along a loop of this extent.
  int width_along(std::int64_t extent) const;
};

/// Does a stage have loops?

/// Throws DeviceError where the device lacks what the program needs.
WorkDivision divide_work(const codegen::LoopProgram& program, const DeviceTraits& table, const RenderOptions& options);

/// Sets parts anew for strips of `columns` columns an item: where there are few strips for the device's units.
void choose_column_parts(const codegen::LoopProgram& program, const DeviceTraits& table, std::int64_t columns,
                         WorkDivision& work);

}  // namespace oriel::source::items
