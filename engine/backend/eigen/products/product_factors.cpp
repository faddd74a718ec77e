#include "backend/eigen/products/product_factors.hpp"

#include <algorithm>
#include <utility>

#include "backend/eigen/products/packer.hpp"
#include "backend/eigen/tile/processor.hpp"

namespace oriel::backend::eigen {

namespace {

constexpr std::int64_t kFetchedLine = 64;

/// Memory that `blocks` register blocks prefetch together, each a part of it.
class Shared {
 public:
  Shared(const std::array<Ahead, 2>& ahead, std::int64_t blocks)
      : ahead_(ahead), part_(round_up(quotient_up(ahead[0].bytes + ahead[1].bytes, blocks), kFetchedLine)) {}
  /// Where the next block's part begins; null if nothing is left.
  const char* take() {
    const std::int64_t at = std::exchange(at_, at_ + part_);
    if (at < ahead_[0].bytes) return ahead_[0].at + at;
    return at - ahead_[0].bytes < ahead_[1].bytes ? ahead_[1].at + (at - ahead_[0].bytes) : nullptr;
  }

 private:
  std::array<Ahead, 2> ahead_;
  std::int64_t part_;
  std::int64_t at_ = 0;
};

}  // namespace

// A panel of columns is larger than the first-level cache and is read once for each panel of rows; the rows stay in the
// second-level cache. So each block of results prefetches its share of the next panel of columns.
void multiply_panels(const isa::ProductFns& fns, int log_bytes, const PanelProduct& p) {
  const std::int64_t panel = static_cast<std::int64_t>(fns.packet) * fns.packets;
  const std::int64_t groups = quotient_up(p.rows, fns.rows);
  Shared ahead(p.ahead, quotient_up(p.columns, panel) * groups);
  isa::ProductBlock q;
  q.a_row = p.a_row;
  q.a_step = p.a_step;
  q.c_row = p.c_row;
  q.from_row = p.from_row;
  q.depth = p.depth;
  for (std::int64_t j = 0; j < p.columns; j += panel) {
    const std::int64_t count = std::min(panel, p.columns - j);
    q.cols = static_cast<int>(count);
    q.b = p.b + j * p.b_point;
    q.b_row = p.b_row ? *p.b_row : round_up(count, fns.packet);
    if (p.cold) {
      const char* next = j + panel < p.columns ? p.b + (j + panel) * p.b_point : p.next;
      ahead = Shared({Ahead{next, next != nullptr ? panel * p.b_point : 0}, Ahead{}}, groups);
    }
    for (std::int64_t i = 0; i < groups; ++i) {
      const std::int64_t row = i * fns.rows;
      q.a = p.a + row * p.a_point;
      q.c = p.c + ((row * p.c_row + j) << log_bytes);
      if (p.from != nullptr) q.from = p.from + ((row * p.from_row + j) << log_bytes);
      q.rows = static_cast<int>(std::min<std::int64_t>(fns.rows, p.rows - row));
      q.next = ahead.take();
      fns.block(q);
    }
  }
}

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

void BlockProduct::sum_depths(const ResultBlock& b, BlockPanels left, BlockPanels right) const {
  char* const own_left = factors_.own_memory(true, b);
  char* const own_right = factors_.own_memory(false, b);
  const std::int64_t step = plan_.path == Path::Dots ? plan_.segment : plan_.depth_block;
  for (std::int64_t d = b.depth; d < b.depth_end; d += step) {
    if (own_left != nullptr) left = factors_.pack_own(true, own_left, b, d);
    if (own_right != nullptr) right = factors_.pack_own(false, own_right, b, d);
    switch (plan_.path) {
      case Path::Blocked:
        add_depths(b, d, left, right);
        break;
      case Path::Streamed:
        stream_depths(b, d, left, right);
        break;
      case Path::Dots:
        sum_dots(b, d, left);
        break;
    }
  }
}

BlockProduct::Target BlockProduct::target_of(const ResultBlock& b, std::int64_t d) const {
  if (d + plan_.depth_block >= b.depth_end) return {b.results, b.pitch};
  return {b.sums, b.columns};
}

void BlockProduct::add_depths(const ResultBlock& b, std::int64_t d, const BlockPanels& left,
                              const BlockPanels& right) const {
  const PanelLayout& rows = blocks_.left;
  const PanelLayout& columns = blocks_.right;
  PanelProduct p;
  p.depth = std::min(plan_.depth_block, plan_.shape.depth - d);
  if (plan_.left.direct) {
    p.a_in_memory(factors_.address(true, b.batch, b.row, d), *plan_.left.memory, plan_.log_bytes);
  } else {
    p.a_in_panels(left.data + rows.at(left.count, d, left.offset), blocks_.height, rows.point_bytes(d));
  }
  if (blocks_.right_direct) {
    p.b_in_rows(factors_.address(false, b.batch, b.column, d), plan_.right.memory->step, plan_.log_bytes);
  } else if (blocks_.right_dense) {
    p.b_in_rows(right.data + columns.at(right.count, d, 0), right.count, plan_.log_bytes);
  } else {
    const auto panel = [&](std::int64_t at) { return right.data + columns.at(right.count, at, right.offset); };
    p.b_in_panels(panel(d), columns.point_bytes(d), blocks_.share_right || blocks_.right_kept);
    if (p.cold && d + plan_.depth_block < b.depth_end) p.next = panel(d + plan_.depth_block);
  }
  const std::int64_t next_batch = b.batch + blocks_.threads;
  if (blocks_.one_block && d == 0 && next_batch < plan_.shape.batches) {
    p.ahead = {factors_.ahead(true, next_batch, b.rows), factors_.ahead(false, next_batch, b.columns)};
  }
  const Target target = target_of(b, d);
  p.c = target.data;
  p.c_row = target.pitch;
  if (d > b.depth) p.from = b.sums;
  p.from_row = b.columns;
  p.rows = b.rows;
  p.columns = b.columns;
  multiply_panels(*plan_.product, plan_.log_bytes, p);
}

void BlockProduct::stream_depths(const ResultBlock& b, std::int64_t d, const BlockPanels& left,
                                 const BlockPanels& right) const {
  isa::ProductBlock q;
  if (plan_.left.direct) {
    q.a = factors_.address(true, b.batch, b.row, d);
    q.a_row = plan_.left.memory->row;
    q.a_step = plan_.left.memory->step;
  } else {
    q.a = left.data + blocks_.left.at(left.count, d, left.offset);
    q.a_step = blocks_.height;
  }
  if (blocks_.right_direct) {
    q.b = factors_.address(false, b.batch, b.column, d);
    q.b_row = plan_.right.memory->step;
  } else {
    q.b = right.data + blocks_.right.at(right.count, d, 0) + (right.offset << plan_.log_bytes);
    q.b_row = right.count;
  }
  const Target target = target_of(b, d);
  q.c = target.data;
  q.c_row = target.pitch;
  q.from = d > b.depth ? b.sums : nullptr;
  q.from_row = b.columns;
  q.depth = std::min(plan_.depth_block, plan_.shape.depth - d);
  q.rows = static_cast<int>(b.rows);
  q.cols = static_cast<int>(b.columns);
  q.follows_streams = processor().follows_streams;
  plan_.product->stream(q);
}

void BlockProduct::sum_dots(const ResultBlock& b, std::int64_t d, const BlockPanels& left) const {
  const char* const row = plan_.left.direct ? factors_.address(true, b.batch, b.row, d)
                                            : left.data + blocks_.left.at(left.count, d, left.offset);
  plan_.product->dots(b.results, row, factors_.address(false, b.batch, b.column, d), plan_.right.memory->row, b.columns,
                      b.depth_end - d);
}

}  // namespace oriel::backend::eigen
