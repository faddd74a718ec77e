#include "backend/eigen/products/product_factors.hpp"

#include <algorithm>

namespace oriel::backend::eigen {

Packer ProductFactors::packer(bool left) const {
  return {factor(left), *plan_.table, left ? left_.launch() : right_.launch(),
          left ? ProductMemory::LeftWorker : ProductMemory::RightWorker};
}

Ahead ProductFactors::ahead(bool left, std::int64_t batch, std::int64_t points) const {
  const FactorPlan& plan = factor(left);
  const std::int64_t elements = plan.memory ? plan.memory->reach(points, plan_.shape.depth) : 0;
  return elements > 0 ? Ahead{address(left, batch, 0, 0), elements << plan_.log_bytes} : Ahead{};
}

void ProductFactors::pack_shared(bool left, char* panels, std::int64_t batch, const PointRange& points,
                                 std::int64_t job, std::int64_t jobs) const {
  const std::int64_t depth = plan_.shape.depth;
  const std::int64_t count = quotient_up(points.count, layout(left).width);
  const auto share = [&](std::int64_t all, std::int64_t j) { return all * j / jobs; };
  if (Packer::by_depths(factor(left))) {
    packer(left).pack(panels, layout(left), batch, points.first, points.count, share(depth, job), share(depth, job + 1),
                      0, count);
  } else {
    packer(left).pack(panels, layout(left), batch, points.first, points.count, 0, depth, share(count, job),
                      share(count, job + 1));
  }
}

char* ProductFactors::own_memory(bool left, const ResultBlock& b) const {
  if (left) {
    if (blocks_.share_left || plan_.left.direct) return nullptr;
    const std::int64_t elements = blocks_.left.padded(b.rows) * blocks_.left.depth_block;
    return thread_memory(ProductMemory::LeftPanels, elements << plan_.log_bytes);
  }
  if (blocks_.share_right || blocks_.right_direct || blocks_.right_kept) return nullptr;
  const std::int64_t elements = blocks_.right.padded(b.columns) * plan_.depth_block + blocks_.width;
  return thread_memory(ProductMemory::RightPanels, elements << plan_.log_bytes);
}

BlockPanels ProductFactors::pack_own(bool left, char* memory, const ResultBlock& b, std::int64_t d) const {
  const PanelLayout& panels = layout(left);
  const std::int64_t count = left ? b.rows : b.columns;
  // The memory holds only this block of depths, so the pointer is shifted by the layout's offset.
  char* data = memory - panels.at(count, d, 0);
  packer(left).pack(data, panels, b.batch, left ? b.row : b.column, count, d,
                    std::min(plan_.shape.depth, d + panels.depth_block), 0, quotient_up(count, panels.width));
  return {data, count, 0};
}

}  // namespace oriel::backend::eigen
