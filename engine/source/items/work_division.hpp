// Distributes a kernel's domain to a device's items, lanes and groups.
#pragma once

#include <cstdint>
#include <limits>

#include "codegen/loop_program.hpp"
#include "source/items/device.hpp"
#include "source/items/render.hpp"

namespace oriel::source::items {

/// A run of this many elements of a float sum is added up before it is added to the rest. This bounds the rounding
/// error.
inline constexpr std::int64_t kSummedInARow = 4096;

/// Positions up to this one have 32 bits, and so has what is added to them.
inline constexpr std::int64_t kMostNarrow = std::numeric_limits<std::int32_t>::max() - 65536;

struct WorkDivision {
  bool rows = false;       // true: an item or a group has one outer point; false: lanes are outer points
  bool long_rows = false;  // rows have more than a few inner points
  bool wide = false;       // positions are 64-bit
  bool fp64 = false;
  int widest = 1;          // lanes of a vector, as the device prefers
  int outer_width = 1;     // outer points that an item computes as lanes
  int group = 1;           // items that share a row
  std::int64_t parts = 1;  // parts that the points of a reduction are split into; a second function combines them
  int shapes = 1;          // ways to distribute a reduction
  int split = -1;          // the stage that is split into parts, along its loop `split_loop`
  std::size_t split_loop = 0;

  /// The number of lanes along a loop of this extent.
  int width_along(std::int64_t extent) const;
};

/// Throws DeviceError if the device lacks something that the program needs.
WorkDivision divide_work(const codegen::LoopProgram& program, const DeviceTraits& table, const RenderOptions& options);

/// Sets `parts` for strips of `columns` columns for each item: more than one if there are too few strips for the
/// device's units.
void choose_column_parts(const codegen::LoopProgram& program, const DeviceTraits& table, std::int64_t columns,
                         WorkDivision& work);

}  // namespace oriel::source::items
