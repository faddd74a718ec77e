// Sums the products of one block of results.
#pragma once

#include <cstdint>

#include "backend/eigen/products/product_factors.hpp"

namespace oriel::backend::eigen {

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
