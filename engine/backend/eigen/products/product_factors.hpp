// The factors of a contraction in one run: where their elements and their panels are.
#pragma once

#include <cstdint>
#include <span>

#include "backend/eigen/products/panel_product.hpp"
#include "backend/eigen/products/product_blocks.hpp"

namespace oriel::backend::eigen {

/// The results that one job computes, and where they are summed.
struct ResultBlock {
  std::int64_t batch = 0;
  std::int64_t row = 0;
  std::int64_t rows = 0;
  std::int64_t column = 0;
  std::int64_t columns = 0;
  char* results = nullptr;  // of the last block of depths
  std::int64_t pitch = 0;
  char* sums = nullptr;    // of the earlier blocks of depths; rows are adjacent
  std::int64_t depth = 0;  // the first of the depths that are summed
  std::int64_t depth_end = 0;
};

/// The address of a block's results, if the results are only stored.
inline char* result_address(const ContractionPlan& plan, std::span<void* const> arguments, const ResultBlock& b) {
  const Matrices& m = *plan.results;
  char* const out = static_cast<char*>(arguments[static_cast<std::size_t>(m.buffer)]);
  return out + ((m.at(b.batch) + b.row * m.row + b.column) << plan.log_bytes);
}

/// Runs the operations on the results of a block.
inline void finish_block(const ContractionPlan& plan, Worker& worker, const ResultBlock& b) {
  worker.run_given(plan.epilogue.slot, b.results, b.pitch, plan.log_bytes,
                   {b.batch * plan.shape.rows + b.row, b.rows, b.column, b.columns}, kResultTile);
}

/// The panels of one factor that a block multiplies. Point p at depth d lies in layout.at(count, d, offset + p).
struct BlockPanels {
  const char* data = nullptr;
  std::int64_t count = 0;
  std::int64_t offset = 0;
};

/// Numbers of a thread's memories in a contraction.
struct ProductMemory {
  enum : int { LeftWorker = 1, RightWorker, ResultWorker, LeftPanels, RightPanels, Results, Shared };
  static_assert(Shared < kFirstPartMemory);
};

/// Thread safety: any thread; each one has its own memory for panels that only its block needs.
class ProductFactors {
 public:
  ProductFactors(const ContractionPlan& plan, const ProductBlocks& blocks, std::span<void* const> arguments,
                 std::span<const graph::Scalar> parameters)
      : plan_(plan),
        blocks_(blocks),
        arguments_(arguments),
        left_(*plan.left.values.plan, arguments, parameters),
        right_(*plan.right.values.plan, arguments, parameters) {}

  const PanelLayout& layout(bool left) const noexcept { return left ? blocks_.left : blocks_.right; }
  /// The address of a factor's element.
  const char* address(bool left, std::int64_t batch, std::int64_t point, std::int64_t d) const {
    return element_address(factor(left), arguments_, plan_.log_bytes, batch, point, d);
  }
  /// The memory of one batch of a factor, to be prefetched. Empty if the factor is not read in memory.
  Ahead ahead(bool left, std::int64_t batch, std::int64_t points) const;

  /// Packs what job `job` of `jobs` packs of the panels of `points` that blocks share.
  void pack_shared(bool left, char* panels, std::int64_t batch, const PointRange& points, std::int64_t job,
                   std::int64_t jobs) const;
  /// The memory for panels that only block `b` needs, for one block of depths. Null if it needs none.
  char* own_memory(bool left, const ResultBlock& b) const;
  /// Packs these panels for the block of depths that begins at d.
  BlockPanels pack_own(bool left, char* memory, const ResultBlock& b, std::int64_t d) const;

 private:
  const FactorPlan& factor(bool left) const noexcept { return left ? plan_.left : plan_.right; }
  Packer packer(bool left) const;

  const ContractionPlan& plan_;
  const ProductBlocks& blocks_;
  std::span<void* const> arguments_;
  BoundLaunch left_;
  BoundLaunch right_;
};

}  // namespace oriel::backend::eigen
