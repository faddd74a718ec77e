// Packs panels of a contraction's factors.
#pragma once

#include <cstdint>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {

/// The layout of points [first, first + count) of a factor (rows or columns, numbered through all batches) at all
/// depths, as panels. Each block of depths has panels of `width` points, which lie side by side at each depth. The last
/// panel is padded to whole packets.
struct PanelLayout {
  std::int64_t width = 1;
  std::int64_t packet = 1;
  std::int64_t depth = 1;
  std::int64_t depth_block = 1;
  int log_bytes = 2;

  std::int64_t padded(std::int64_t count) const noexcept { return round_up(count, packet); }
  std::int64_t bytes(std::int64_t count) const noexcept { return (padded(count) * depth << log_bytes) + 64; }
  /// The bytes of a point in the block that begins at depth d.
  std::int64_t point_bytes(std::int64_t d) const noexcept {
    return (depth - d < depth_block ? depth - d : depth_block) << log_bytes;
  }
  /// The offset of the panel at `point` (a multiple of width) in the block that begins at depth d.
  std::int64_t at(std::int64_t count, std::int64_t d, std::int64_t point) const noexcept {
    return (d * padded(count) << log_bytes) + point * point_bytes(d);
  }
};

/// Thread safety: none; each thread has its own.
class Packer {
 public:
  Packer(const FactorPlan& factor, const isa::Table& table, const Launch& launch, int which)
      : factor_(factor), table_(table), launch_(launch), worker_(launch, which) {}

  /// Are whole rows of points cut into panels? Then threads share depths, else they share panels.
  static bool by_depths(const FactorPlan& factor) { return factor.order == codegen::PackOrder::Depths; }

  /// Packs panels [begin, end) of the layout of `count` points of a batch from `first` on, for depths [d, d_end).
  void pack(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first, std::int64_t count,
            std::int64_t d, std::int64_t d_end, std::int64_t begin, std::int64_t end);

 private:
  /// Packs depths [d, d_end) of the block that begins at depth `block`.
  void pack_block(char* panels, const PanelLayout& layout, std::int64_t batch, std::int64_t first, std::int64_t count,
                  std::int64_t block, std::int64_t d, std::int64_t d_end, std::int64_t begin, std::int64_t end);
  /// Packs whole panels through a register that holds many of them, because contiguous runs in memory are longer than
  /// panels.
  void pack_wide(char* panels, std::int64_t panel, std::int64_t width, int log_bytes, std::int64_t d,
                 std::int64_t depths, std::int64_t first, std::int64_t count);
  void pack_points(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                   std::int64_t first, std::int64_t count);
  void pack_panel(char* panel, std::int64_t width, int log_bytes, std::int64_t d, std::int64_t depths,
                  std::int64_t first, std::int64_t count);

  const FactorPlan& factor_;
  const isa::Table& table_;
  const Launch& launch_;
  Worker worker_;
};

}  // namespace oriel::backend::eigen
