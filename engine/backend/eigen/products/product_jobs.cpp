#include "backend/eigen/products/product_jobs.hpp"

#include <thread>

namespace oriel::backend::eigen {
namespace {

// Elements that one job packs.
constexpr std::int64_t kPackJob = std::int64_t{32} * 1024;

std::int64_t pack_jobs(const FactorPlan& factor, const PanelLayout& layout, const PointRange& points) {
  const std::int64_t most = Packer::by_depths(factor) ? layout.depth : quotient_up(points.count, layout.width);
  return std::min(most, quotient_up(points.count * layout.depth, kPackJob));
}

}  // namespace

ProductJobs::ProductJobs(const ContractionPlan& plan, const ProductBlocks& blocks) {
  const codegen::Contraction& shape = plan.shape;
  if (!blocks.share_left && !blocks.share_right) {
    // Blocks share nothing.
    BlockGroup g;
    g.rows.count = shape.rows;
    g.columns.count = shape.columns;
    g.multiply = shape.batches * blocks.count(shape.rows, shape.columns) * blocks.segments;
    groups_.push_back(g);
    count_ = g.multiply;
  } else {
    for (std::int64_t b = 0; b < shape.batches; ++b) add_groups(plan, blocks, b);
  }
  progress_ = std::vector<Progress>(groups_.size());
}

void ProductJobs::add_groups(const ContractionPlan& plan, const ProductBlocks& blocks, std::int64_t batch) {
  const codegen::Contraction& shape = plan.shape;
  for (std::int64_t j = 0; j < shape.columns; j += blocks.shared_columns) {
    for (std::int64_t i = 0; i < shape.rows; i += blocks.shared_rows) {
      BlockGroup g;
      g.batch = batch;
      g.rows = {i, std::min(blocks.shared_rows, shape.rows - i)};
      g.columns = {j, std::min(blocks.shared_columns, shape.columns - j)};
      // Panels that the previous group has packed are not packed again.
      if (blocks.share_left && (j == 0 || blocks.shared_rows < shape.rows)) {
        g.pack_left = pack_jobs(plan.left, blocks.left, g.rows);
      }
      if (blocks.share_right && i == 0) g.pack_right = pack_jobs(plan.right, blocks.right, g.columns);
      g.multiply = blocks.count(g.rows.count, g.columns.count);
      g.begin = count_;
      count_ += g.packs() + g.multiply;
      groups_.push_back(g);
    }
  }
}

void ProductJobs::wait(const std::atomic<std::int64_t>& done, std::int64_t all) const {
  for (int spins = 0; done.load(std::memory_order_acquire) < all; ++spins) {
    if (failed_) return;
    if (spins > 200) std::this_thread::yield();
  }
}

}  // namespace oriel::backend::eigen
