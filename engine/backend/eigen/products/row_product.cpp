#include "backend/eigen/products/row_product.hpp"

#include <algorithm>

#include "backend/eigen/products/panel_product.hpp"

namespace oriel::backend::eigen {
namespace {

// Columns of results that are summed before the operations on them run.
constexpr std::int64_t kSummedColumns = 512;

}  // namespace

RowProduct::RowProduct(const ContractionPlan& plan, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, int memory, const KeptPanels* kept)
    : plan_(plan),
      shape_(plan.shape),
      fns_(*plan.product),
      arguments_(arguments),
      left_(*plan.left.values.plan, arguments, parameters),
      right_(*plan.right.values.plan, arguments, parameters),
      epilogue_(*plan.epilogue.plan, arguments, parameters),
      memory_(memory),
      pack_left_(plan.left, *plan.table, left_.launch(), memory + kLeftWorker),
      pack_right_(plan.right, *plan.table, right_.launch(), memory + kRightWorker),
      finish_(epilogue_.launch(), memory + kResultWorker),
      kept_(kept != nullptr && *kept ? kept : nullptr) {
  panel_ = static_cast<std::int64_t>(fns_.packet) * fns_.packets;
  left_layout_ = {fns_.rows, fns_.rows, shape_.depth, plan.depth_block, plan.log_bytes};
  right_layout_ = {panel_, fns_.packet, shape_.depth, plan.depth_block, plan.log_bytes};
  right_direct_ = plan.right.direct;
  if (right_direct_) {
    const auto ends = reinterpret_cast<std::uintptr_t>(this->memory(plan.right, 0, 0, 0)) |
                      static_cast<std::uintptr_t>(plan.right.memory->step << plan.log_bytes);
    right_direct_ = ends % 64 == 0;
  }
}

void RowProduct::run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  if (!right_direct_ && packed_batch_ != batch) pack_right(batch);
  Block b;
  b.batch = batch;
  b.row = row;
  b.rows = rows;
  if (!plan_.left.direct && (packed_row_ != row || packed_left_batch_ != batch)) pack_left(b);
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
  if (!right_direct_ && packed_batch_ != batch) pack_right(batch);
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

void RowProduct::pack_right(std::int64_t batch) {
  packed_batch_ = batch;
  if (kept_ != nullptr) {
    right_panels_ = kept_->at(batch);
    return;
  }
  char* const panels = thread_memory(memory_ + kRightPanels, right_layout_.bytes(shape_.columns));
  pack_right_.pack(panels, right_layout_, batch, 0, shape_.columns, 0, shape_.depth, 0,
                   quotient_up(shape_.columns, panel_));
  right_panels_ = panels;
}

void RowProduct::pack_left(const Block& b) {
  left_panels_ = thread_memory(memory_ + kLeftPanels, left_layout_.bytes(b.rows));
  pack_left_.pack(left_panels_, left_layout_, b.batch, b.row, b.rows, 0, shape_.depth, 0,
                  quotient_up(b.rows, fns_.rows));
  packed_row_ = b.row;
  packed_left_batch_ = b.batch;
}

void RowProduct::add_depths(const Block& b, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                            const char* from) const {
  PanelProduct p;
  p.depth = depths;
  if (plan_.left.direct) {
    p.a_in_memory(memory(plan_.left, b.batch, b.row, d), *plan_.left.memory, plan_.log_bytes);
  } else {
    p.a_in_panels(left_panels_ + left_layout_.at(b.rows, d, 0), fns_.rows, left_layout_.point_bytes(d));
  }
  if (right_direct_) {
    p.b_in_rows(memory(plan_.right, b.batch, b.column, d), plan_.right.memory->step, plan_.log_bytes);
  } else {
    p.b_in_panels(right_panels_ + right_layout_.at(shape_.columns, d, b.column), right_layout_.point_bytes(d), true);
  }
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

const char* RowProduct::memory(const FactorPlan& factor, std::int64_t batch, std::int64_t point, std::int64_t d) const {
  const Matrices& m = *factor.memory;
  const char* data = static_cast<const char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
  return data + ((m.at(batch) + point * m.row + d * m.step) << plan_.log_bytes);
}

}  // namespace oriel::backend::eigen
