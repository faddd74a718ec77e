// Packs panels of a contraction's factors.
#pragma once

#include <cstdint>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {

/// Points [first, first + count) of a factor (rows or columns of one batch, counted through all batches) at all depths,
/// as panels: for each block of depths, for each `width` points, the points side by side at each depth. The last panel
/// is as wide as whole packets ask for.
struct PanelLayout {
  std::int64_t width = 1;
  std::int64_t packet = 1;
  std::int64_t depth = 1;
  std::int64_t depth_block = 1;
  int log_bytes = 2;

  std::int64_t padded(std::int64_t count) const noexcept { return round_up(count, packet); }
  std::int64_t bytes(std::int64_t count) const noexcept { return (padded(count) * depth << log_bytes) + 64; }
  /// Bytes that a point takes in the block that begins at depth d.
  std::int64_t point_bytes(std::int64_t d) const noexcept {
    return (depth - d < depth_block ? depth - d : depth_block) << log_bytes;
  }
  /// Where the panel at `point` (a multiple of width) of the block that begins at depth d starts.
  std::int64_t at(std::int64_t count, std::int64_t d, std::int64_t point) const noexcept {
    return (d * padded(count) << log_bytes) + point * point_bytes(d);
  }
};

/// Thread safety: none; each thread has its own.
class Packer {
 public:
  Packer(const FactorPlan& factor, const isa::Table& table, const Launch& launch, int which)
      : factor_(factor), table_(table), launch_(launch), worker_(launch, which) {}

  /// Are whole rows of points cut into panels? Then depths are dealt out, else panels.
  static bool by_depths(const FactorPlan& factor) { return !factor.turned; }

  /// Panels [begin, end) of the layout of `count` points of a batch from `first` on, in the depths [d, d_end).
  void pack(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first, std::int64_t count,
            std::int64_t d, std::int64_t d_end, std::int64_t begin, std::int64_t end);

 private:
  /// The depths [d, d_end) of one block that begins at depth `block`.
  void pack_block(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first, std::int64_t count,
                  std::int64_t block, std::int64_t d, std::int64_t d_end, std::int64_t begin, std::int64_t end);
  /// Values of whole panels by way of a register that holds many of them: runs of memory are longer than panels.
  void pack_wide(char* panels, std::int64_t panel, std::int64_t width, int log_bytes, std::int64_t d,
                 std::int64_t depths, std::int64_t first, std::int64_t count);
  void pack_panel(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                  std::int64_t first, std::int64_t count);

  const FactorPlan& factor_;
  const isa::Table& table_;
  const Launch& launch_;
  Worker worker_;
};

}  // namespace oriel::backend::eigen
