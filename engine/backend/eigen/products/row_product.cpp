#include "backend/eigen/products/row_product.hpp"

#include <algorithm>

namespace oriel::backend::eigen {
namespace {

// Columns of results that are summed before the operations on them run.
constexpr std::int64_t kSummedColumns = 512;

}  // namespace

RowPanels::RowPanels(const ContractionPlan& plan, bool left, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters, const KeptPanels* kept, int worker, int panels)
    : plan_(plan),
      factor_(left ? plan.left : plan.right),
      left_(left),
      arguments_(arguments),
      launch_(*factor_.values.plan, arguments, parameters),
      packer_(factor_, *plan.table, launch_.launch(), worker),
      kept_(kept != nullptr && *kept ? kept : nullptr),
      direct_(factor_.direct),
      memory_(panels) {
  const isa::ProductFns& fns = *plan.product;
  const std::int64_t width = left ? fns.rows : static_cast<std::int64_t>(fns.packet) * fns.packets;
  layout_ = {width, left ? fns.rows : fns.packet, plan.shape.depth, plan.depth_block, plan.log_bytes};
  if (direct_ && !left) {
    const auto ends = reinterpret_cast<std::uintptr_t>(element_address(factor_, arguments, plan.log_bytes, 0, 0, 0)) |
                      static_cast<std::uintptr_t>(factor_.memory->step << plan.log_bytes);
    direct_ = ends % 64 == 0;
  }
}

void RowPanels::pack_points(std::int64_t batch, std::int64_t first, std::int64_t count) {
  batch_ = batch;
  first_ = first;
  count_ = count;
  if (kept_ != nullptr) {
    panels_ = kept_->at(batch);
    return;
  }
  char* const panels = thread_memory(memory_, layout_.bytes(count));
  packer_.pack(panels, layout_, batch, first, count, 0, layout_.depth, 0, quotient_up(count, layout_.width));
  panels_ = panels;
}

void RowPanels::set(PanelProduct& p, std::int64_t batch, std::int64_t first, std::int64_t d) const {
  const char* const at = direct_ ? element_address(factor_, arguments_, plan_.log_bytes, batch, first, d)
                                 : panels_ + layout_.at(count_, d, left_ ? 0 : first);
  if (left_ && direct_)
    p.a_in_memory(at, *factor_.memory, plan_.log_bytes);
  else if (left_)
    p.a_in_panels(at, layout_.width, layout_.point_bytes(d));
  else if (direct_)
    p.b_in_rows(at, factor_.memory->step, plan_.log_bytes);
  else
    p.b_in_panels(at, layout_.point_bytes(d), true);
}

RowProduct::RowProduct(const ContractionPlan& plan, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, int memory, const KeptPanels* kept)
    : plan_(plan),
      shape_(plan.shape),
      fns_(*plan.product),
      arguments_(arguments),
      epilogue_(*plan.epilogue.plan, arguments, parameters),
      memory_(memory),
      left_(plan, true, arguments, parameters, nullptr, memory + kLeftWorker, memory + kLeftPanels),
      right_(plan, false, arguments, parameters, kept, memory + kRightWorker, memory + kRightPanels),
      finish_(epilogue_.launch(), memory + kResultWorker),
      panel_(static_cast<std::int64_t>(fns_.packet) * fns_.packets) {}

void RowProduct::run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  right_.pack(batch, 0, shape_.columns);
  ResultBlock b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  left_.pack(batch, row, rows);
  const std::int64_t step = round_up(kSummedColumns, panel_);
  for (b.column = begin; b.column < end; b.column += step) {
    b.columns = std::min(step, end - b.column);
    const bool once = shape_.depth <= plan_.depth_block;
    char* sums = nullptr;
    if (!plan_.results || !once) {
      sums = thread_memory(memory_ + kSums, (rows * b.columns + isa::kPacket) << plan_.log_bytes);
    }
    b.results = sums;
    b.pitch = b.columns;
    if (plan_.results) {
      b.results = result_address(plan_, arguments_, b);
      b.pitch = plan_.results->row;
    }
    for (std::int64_t d = 0; d < shape_.depth; d += plan_.depth_block) {
      const std::int64_t depths = std::min(plan_.depth_block, shape_.depth - d);
      const bool last = d + depths == shape_.depth;
      add_depths(b, d, depths, last ? b.results : sums, last ? b.pitch : b.columns, d > 0 ? sums : nullptr);
    }
    if (!plan_.results) finish_block(plan_, finish_, b);
  }
}

void RowProduct::add(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end,
                     char* sums, bool first) {
  right_.pack(batch, 0, shape_.columns);
  ResultBlock b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  b.columns = shape_.columns;
  for (std::int64_t d = begin; d < end; d += plan_.depth_block) {
    add_depths(b, d, std::min(plan_.depth_block, end - d), sums, b.columns, first && d == begin ? nullptr : sums);
  }
}

void RowProduct::finish(std::int64_t batch, std::int64_t row, std::int64_t rows, char* sums) {
  ResultBlock b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  b.columns = shape_.columns;
  b.results = sums;
  b.pitch = b.columns;
  finish_block(plan_, finish_, b);
}

void RowProduct::add_depths(const ResultBlock& b, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                            const char* from) const {
  PanelProduct p;
  p.depth = depths;
  left_.set(p, b.batch, b.row, d);
  right_.set(p, b.batch, b.column, d);
  p.c = target;
  p.c_row = pitch;
  p.from = from;
  p.from_row = b.columns;
  p.rows = b.rows;
  p.columns = b.columns;
  multiply_panels(fns_, plan_.log_bytes, p);
}

}  // namespace oriel::backend::eigen
