#include "backend/eigen/products/block_product.hpp"

#include <algorithm>

#include "backend/eigen/tile/processor.hpp"

namespace oriel::backend::eigen {

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
