// The factors of a contraction in one run, where their elements and their panels are, and the products of one block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/product_blocks.hpp"

namespace oriel::backend::eigen {

/// Memory to prefetch into the second-level cache.
struct Ahead {
  const char* at = nullptr;
  std::int64_t bytes = 0;
};

/// `rows` by `columns` results, summed over `depth`. Factors are panels, or memory that is read like a panel.
struct PanelProduct {
  const char* a = nullptr;
  std::int64_t a_point = 0;  // bytes from one row to the next
  std::int64_t a_row = 1;    // as in ProductBlock
  std::int64_t a_step = 0;
  const char* b = nullptr;
  std::int64_t b_point = 0;  // bytes from one column to the next, or from panel to panel
  /// If b is read in place: elements from one depth to the next, of any sign, or 0. nullopt for panels, whose rows are
  /// as wide as their columns need.
  std::optional<std::int64_t> b_row;
  bool cold = false;  // b is not in the second-level cache: each panel is prefetched while the one before is read
  const char* next = nullptr;  // if cold: the panel of b that is multiplied next
  std::array<Ahead, 2> ahead;  // prefetched when no panel of b is
  char* c = nullptr;
  std::int64_t c_row = 0;
  const char* from = nullptr;
  std::int64_t from_row = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;

  void a_in_memory(const char* at, const Matrices& m, int log_bytes) noexcept {
    a = at;
    a_row = m.row;
    a_step = m.step;
    a_point = m.row << log_bytes;
  }
  void a_in_panels(const char* at, std::int64_t height, std::int64_t point_bytes) noexcept {
    a = at;
    a_step = height;
    a_point = point_bytes;
  }
  /// b is read in place: rows of all columns, `row` elements apart.
  void b_in_rows(const char* at, std::int64_t row, int log_bytes) noexcept {
    b = at;
    b_row = row;
    b_point = std::int64_t{1} << log_bytes;
  }
  void b_in_panels(const char* at, std::int64_t point_bytes, bool is_cold) noexcept {
    b = at;
    b_row = std::nullopt;
    b_point = point_bytes;
    cold = is_cold;
  }
};

void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p);

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

/// Thread safety: any thread may sum another block.
class BlockProduct {
 public:
  /// The objects must outlive this one.
  BlockProduct(const ContractionPlan& plan, const ProductBlocks& blocks, const ProductFactors& factors)
      : plan_(plan), blocks_(blocks), factors_(factors) {}

  /// Computes the block's products over its depths. `left` and `right` are the panels that blocks share. A factor whose
  /// panels are not shared is packed here, or read in place.
  void sum_depths(const ResultBlock& b, BlockPanels left, BlockPanels right) const;

 private:
  struct Target {
    char* data = nullptr;
    std::int64_t pitch = 0;
  };
  /// Where the sums go when the block of depths that begins at d is added.
  Target target_of(const ResultBlock& b, std::int64_t d) const;
  void add_depths(const ResultBlock& b, std::int64_t d, const BlockPanels& left, const BlockPanels& right) const;
  void stream_depths(const ResultBlock& b, std::int64_t d, const BlockPanels& left, const BlockPanels& right) const;
  void sum_dots(const ResultBlock& b, std::int64_t d, const BlockPanels& left) const;

  const ContractionPlan& plan_;
  const ProductBlocks& blocks_;
  const ProductFactors& factors_;
};

}  // namespace oriel::backend::eigen
