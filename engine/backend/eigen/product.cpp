#include "backend/eigen/product.hpp"

#include <algorithm>

#include "backend/eigen/worker.hpp"

namespace oriel::backend::eigen {
namespace {

// Rows and columns of a block of results, for 4-byte elements.
constexpr std::int64_t kRowBlock = 256;
constexpr std::int64_t kColumnBlock = 512;

std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }
std::int64_t quotient_up(std::int64_t n, std::int64_t by) { return (n + by - 1) / by; }

// A thread's memories.
enum Memory : int { kLeftWorker = 1, kRightWorker, kResultWorker, kLeftPanels, kRightPanels, kResults };

/// Packs panels of one factor: `width` neighbouring rows (or columns) at each depth, side by side.
class Packer {
 public:
  Packer(const FactorPlan& factor, const isa::Table& table, const Launch& launch, int which)
      : factor_(factor), table_(table), worker_(launch, which) {}

  /// Depths [depth, depth + depths) of `count` <= width points from `first` on.
  void pack(char* panel, std::int64_t width, int log_bytes, std::int64_t depth, std::int64_t depths, std::int64_t first,
            std::int64_t count) {
    if (factor_.load != nullptr && count == width) {
      worker_.gather(*factor_.load, {depth, depths, first, count}, panel);
      return;
    }
    const std::int64_t step = std::max<std::int64_t>(1, kFactorTile / count);
    for (std::int64_t d = 0; d < depths; d += step) {
      const std::int64_t n = std::min(step, depths - d);
      worker_.run_tile({depth + d, n, first, count});
      table_.copy[log_bytes](panel + (d * width << log_bytes), width, 1, worker_.slots()[factor_.values.slot], count, 1,
                             n, count);
    }
  }

 private:
  const FactorPlan& factor_;
  const isa::Table& table_;
  Worker worker_;
};

class Contractor {
 public:
  Contractor(const ContractionPlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters)
      : plan_(plan),
        arguments_(arguments),
        left_(*plan.left.values.plan, arguments, parameters),
        right_(*plan.right.values.plan, arguments, parameters),
        epilogue_(*plan.epilogue.plan, arguments, parameters) {
    const auto& fns = *plan_.product;
    rows_ = std::min(round_up(kRowBlock, fns.rows), round_up(plan_.shape.rows, fns.rows));
    panel_ = static_cast<std::int64_t>(fns.packet) * fns.packets;
    columns_ = std::min(round_up(kColumnBlock, panel_), round_up(plan_.shape.columns, fns.packet));
  }

  std::int64_t tasks() const {
    return plan_.shape.batches * quotient_up(plan_.shape.rows, rows_) * quotient_up(plan_.shape.columns, columns_);
  }

  void run(std::int64_t task) const {
    const std::int64_t across = quotient_up(plan_.shape.columns, columns_);
    const std::int64_t down = quotient_up(plan_.shape.rows, rows_);
    Block b;
    b.batch = task / across / down;
    b.row = task / across % down * rows_;
    b.rows = std::min(rows_, plan_.shape.rows - b.row);
    b.column = task % across * columns_;
    b.columns = std::min(columns_, plan_.shape.columns - b.column);
    if (plan_.results) {
      const Matrices& m = *plan_.results;
      char* out = static_cast<char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
      b.results = out + ((m.at(b.batch) + b.row * m.row + b.column) << plan_.log_bytes);
      b.pitch = m.row;
      multiply(b);
      return;
    }
    b.pitch = b.columns;
    b.results = thread_memory(kResults, (b.rows * b.pitch + isa::kPacket) << plan_.log_bytes);
    multiply(b);
    finish(b);
  }

 private:
  /// Results of one batch, and where they are summed.
  struct Block {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t column = 0;
    std::int64_t columns = 0;
    char* results = nullptr;
    std::int64_t pitch = 0;
  };

  void multiply(const Block& b) const {
    const auto& fns = *plan_.product;
    const int log_bytes = plan_.log_bytes;
    const std::int64_t depth = plan_.shape.depth;
    Packer left(plan_.left, *plan_.table, left_.launch(), kLeftWorker);
    Packer right(plan_.right, *plan_.table, right_.launch(), kRightWorker);
    char* a = thread_memory(kLeftPanels, (round_up(b.rows, fns.rows) * plan_.depth_block << log_bytes) + 64);
    char* x = thread_memory(kRightPanels, (round_up(b.columns, fns.packet) * plan_.depth_block << log_bytes) + 64);
    for (std::int64_t d = 0; d < depth; d += plan_.depth_block) {
      const std::int64_t depths = std::min(plan_.depth_block, depth - d);
      for (std::int64_t i = 0; i < b.rows; i += fns.rows) {
        left.pack(a + (i * depths << log_bytes), fns.rows, log_bytes, d, depths, b.batch * plan_.shape.rows + b.row + i,
                  std::min<std::int64_t>(fns.rows, b.rows - i));
      }
      for (std::int64_t j = 0; j < b.columns; j += panel_) {
        const std::int64_t count = std::min(panel_, b.columns - j);
        right.pack(x + (j * depths << log_bytes), round_up(count, fns.packet), log_bytes, d, depths,
                   b.batch * plan_.shape.columns + b.column + j, count);
      }
      isa::ProductBlock q;
      q.a_step = fns.rows;
      q.c_row = b.pitch;
      q.depth = depths;
      q.add = d > 0;
      for (std::int64_t j = 0; j < b.columns; j += panel_) {
        const std::int64_t count = std::min(panel_, b.columns - j);
        q.b = x + (j * depths << log_bytes);
        q.b_row = round_up(count, fns.packet);
        q.cols = static_cast<int>(count);
        for (std::int64_t i = 0; i < b.rows; i += fns.rows) {
          q.a = a + (i * depths << log_bytes);
          q.c = b.results + ((i * b.pitch + j) << log_bytes);
          q.rows = static_cast<int>(std::min<std::int64_t>(fns.rows, b.rows - i));
          fns.block(q);
        }
      }
    }
  }

  void finish(const Block& b) const {
    Worker worker(epilogue_.launch(), kResultWorker);
    const std::int64_t step = std::max<std::int64_t>(1, kResultTile / b.columns);
    for (std::int64_t i = 0; i < b.rows; i += step) {
      worker.slots()[plan_.epilogue.slot] = b.results + (i * b.pitch << plan_.log_bytes);
      worker.run_tile({b.batch * plan_.shape.rows + b.row + i, std::min(step, b.rows - i), b.column, b.columns});
    }
  }

  const ContractionPlan& plan_;
  std::span<void* const> arguments_;
  BoundLaunch left_;
  BoundLaunch right_;
  BoundLaunch epilogue_;
  std::int64_t rows_ = 1;
  std::int64_t columns_ = 1;
  std::int64_t panel_ = 1;
};

}  // namespace

void run_contraction(const ContractionPlan& plan, Threads& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters) {
  const Contractor contractor(plan, arguments, parameters);
  threads.run(contractor.tasks(), [&](std::int64_t task) { contractor.run(task); });
}

}  // namespace oriel::backend::eigen
