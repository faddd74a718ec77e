#include "backend/eigen/products/row_product.hpp"

#include <algorithm>

#include "backend/eigen/products/product_blocks.hpp"

namespace oriel::backend::eigen {
namespace {

// Columns of results that are summed before the operations on them run.
constexpr std::int64_t kSummedColumns = 512;

}  // namespace

LeftPanels::LeftPanels(const ContractionPlan& plan, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, int worker, int panels)
    : plan_(plan),
      arguments_(arguments),
      launch_(*plan.left.values.plan, arguments, parameters),
      packer_(plan.left, *plan.table, launch_.launch(), worker),
      memory_(panels) {
  const isa::ProductFns& fns = *plan.product;
  layout_ = {fns.rows, fns.rows, plan.shape.depth, plan.depth_block, plan.log_bytes};
}

void LeftPanels::pack_rows(std::int64_t batch, std::int64_t row, std::int64_t rows) {
  panels_ = thread_memory(memory_, layout_.bytes(rows));
  packer_.pack(panels_, layout_, batch, row, rows, 0, layout_.depth, 0, quotient_up(rows, layout_.width));
  packed_row_ = row;
  packed_batch_ = batch;
}

void LeftPanels::set(PanelProduct& p, std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t d) const {
  if (plan_.left.direct) {
    p.a_in_memory(element_address(plan_.left, arguments_, plan_.log_bytes, batch, row, d), *plan_.left.memory,
                  plan_.log_bytes);
  } else {
    p.a_in_panels(panels_ + layout_.at(rows, d, 0), layout_.width, layout_.point_bytes(d));
  }
}

RightPanels::RightPanels(const ContractionPlan& plan, std::span<void* const> arguments,
                         std::span<const graph::Scalar> parameters, const KeptPanels* kept, int worker, int panels)
    : plan_(plan),
      arguments_(arguments),
      launch_(*plan.right.values.plan, arguments, parameters),
      packer_(plan.right, *plan.table, launch_.launch(), worker),
      kept_(kept != nullptr && *kept ? kept : nullptr),
      memory_(panels) {
  const isa::ProductFns& fns = *plan.product;
  layout_ = {static_cast<std::int64_t>(fns.packet) * fns.packets, fns.packet, plan.shape.depth, plan.depth_block,
             plan.log_bytes};
  direct_ = plan.right.direct;
  if (direct_) {
    const auto ends =
        reinterpret_cast<std::uintptr_t>(element_address(plan.right, arguments, plan.log_bytes, 0, 0, 0)) |
        static_cast<std::uintptr_t>(plan.right.memory->step << plan.log_bytes);
    direct_ = ends % 64 == 0;
  }
}

void RightPanels::pack_batch(std::int64_t batch) {
  packed_batch_ = batch;
  if (kept_ != nullptr) {
    panels_ = kept_->at(batch);
    return;
  }
  const std::int64_t columns = plan_.shape.columns;
  char* const panels = thread_memory(memory_, layout_.bytes(columns));
  packer_.pack(panels, layout_, batch, 0, columns, 0, layout_.depth, 0, quotient_up(columns, layout_.width));
  panels_ = panels;
}

void RightPanels::set(PanelProduct& p, std::int64_t batch, std::int64_t column, std::int64_t d) const {
  if (direct_) {
    p.b_in_rows(element_address(plan_.right, arguments_, plan_.log_bytes, batch, column, d), plan_.right.memory->step,
                plan_.log_bytes);
  } else {
    p.b_in_panels(panels_ + layout_.at(plan_.shape.columns, d, column), layout_.point_bytes(d), true);
  }
}

RowProduct::RowProduct(const ContractionPlan& plan, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, int memory, const KeptPanels* kept)
    : plan_(plan),
      shape_(plan.shape),
      fns_(*plan.product),
      arguments_(arguments),
      epilogue_(*plan.epilogue.plan, arguments, parameters),
      memory_(memory),
      left_(plan, arguments, parameters, memory + kLeftWorker, memory + kLeftPanels),
      right_(plan, arguments, parameters, kept, memory + kRightWorker, memory + kRightPanels),
      finish_(epilogue_.launch(), memory + kResultWorker),
      panel_(static_cast<std::int64_t>(fns_.packet) * fns_.packets) {}

void RowProduct::run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  right_.pack(batch);
  Block b;
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
      const Matrices& m = *plan_.results;
      char* out = static_cast<char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
      b.results = out + ((m.at(batch) + row * m.row + b.column) << plan_.log_bytes);
      b.pitch = m.row;
    }
    for (std::int64_t d = 0; d < shape_.depth; d += plan_.depth_block) {
      const std::int64_t depths = std::min(plan_.depth_block, shape_.depth - d);
      const bool last = d + depths == shape_.depth;
      add_depths(b, d, depths, last ? b.results : sums, last ? b.pitch : b.columns, d > 0 ? sums : nullptr);
    }
    if (!plan_.results) finish_block(b);
  }
}

void RowProduct::add(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end,
                     char* sums, bool first) {
  right_.pack(batch);
  Block b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  b.columns = shape_.columns;
  for (std::int64_t d = begin; d < end; d += plan_.depth_block) {
    add_depths(b, d, std::min(plan_.depth_block, end - d), sums, b.columns, first && d == begin ? nullptr : sums);
  }
}

void RowProduct::finish(std::int64_t batch, std::int64_t row, std::int64_t rows, char* sums) {
  Block b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  b.columns = shape_.columns;
  b.results = sums;
  b.pitch = b.columns;
  finish_block(b);
}

void RowProduct::add_depths(const Block& b, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                            const char* from) const {
  PanelProduct p;
  p.depth = depths;
  left_.set(p, b.batch, b.row, b.rows, d);
  right_.set(p, b.batch, b.column, d);
  p.c = target;
  p.c_row = pitch;
  p.from = from;
  p.from_row = b.columns;
  p.rows = b.rows;
  p.columns = b.columns;
  multiply_panels(fns_, plan_.log_bytes, p);
}

void RowProduct::finish_block(const Block& b) {
  const std::int64_t step = std::max<std::int64_t>(1, kResultTile / b.columns);
  for (std::int64_t i = 0; i < b.rows; i += step) {
    finish_.slots()[plan_.epilogue.slot] = b.results + (i * b.pitch << plan_.log_bytes);
    finish_.run_tile({b.batch * shape_.rows + b.row + i, std::min(step, b.rows - i), b.column, b.columns});
  }
}

}  // namespace oriel::backend::eigen
