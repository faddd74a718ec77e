// Runs products of small matrices side by side.
#include "backend/eigen/products/small_plan.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/eigen/tile/machine.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "schedule/rates.hpp"

namespace oriel::backend::eigen {
namespace {

using isa::kSmallLanes;

/// Calls move(lane, count, position, stride) for runs of matrices [batch, batch + count) that are `stride` elements
/// apart in memory; the first one begins at element `position`.
template <class Move>
void each_run(const codegen::Matrices& m, std::int64_t batch, std::int64_t count, const Move& move) {
  if (m.extents.size() == 1) {  // without divisions, which would take as long as a product
    move(0, count, m.offset + batch * m.strides[0], m.strides[0]);
    return;
  }
  const std::int64_t last = m.extents.back();
  for (std::int64_t lane = 0; lane < count;) {
    const std::int64_t here = std::min(count - lane, last - (batch + lane) % last);
    move(lane, here, m.at(batch + lane), m.strides.back());
    lane += here;
  }
}

/// One thread's work.
class SmallMultiplier {
 public:
  SmallMultiplier(const SmallPlan& plan, const Launch& epilogue, std::span<void* const> arguments)
      : plan_(plan), arguments_(arguments), products_(plan.strides) {
    const codegen::Contraction& c = plan.shape;
    if (plan.in_place != nullptr && plan.results) return;
    left_ = lanes(kLeft, c.rows * c.depth);
    right_ = lanes(kRight, c.columns * c.depth);
    sums_ = lanes(kSums, c.rows * c.columns);
    products_.a = left_;
    products_.b = right_;
    products_.out = sums_;
    if (plan.results) return;
    // As many matrices as a tile of results holds.
    together_ = std::max<std::int64_t>(1, kSmallResultTile / (kSmallLanes * c.rows * c.columns)) * kSmallLanes;
    epilogue_.emplace(epilogue, kEpilogue);
    results_ = thread_memory(kResults, (together_ * c.rows * c.columns + isa::kPacket) << plan.log_bytes);
  }

  /// Multiplies matrices [batch, end).
  void run(std::int64_t batch, std::int64_t end) {
    const codegen::Contraction& c = plan_.shape;
    if (plan_.in_place != nullptr && plan_.results)
      return multiply_in_place(address(*plan_.results, batch), batch, end - batch);
    for (; batch < end; batch += together_) {
      const std::int64_t all = std::min(together_, end - batch);
      if (plan_.in_place != nullptr) {
        multiply_in_place(results_, batch, all);
        finish(batch, all);
        continue;
      }
      for (std::int64_t done = 0; done < all; done += kSmallLanes) {
        const std::int64_t count = std::min(kSmallLanes, all - done);
        multiply(batch + done, count);
        if (plan_.results)
          store(batch + done, count);
        else
          transpose_back(results_ + (done * c.rows * c.columns << plan_.log_bytes), count);
      }
      if (!plan_.results) finish(batch, all);
    }
  }

 private:
  // Numbers of a thread's memories.
  enum Memory : int { kEpilogue = 1, kLeft, kRight, kSums, kResults };
  static_assert(kResults < kFirstPartMemory);

  /// Rows of lanes. Lanes without a matrix hold zeros, or elements of an earlier one.
  char* lanes(int which, std::int64_t rows) const {
    const std::int64_t bytes = rows * kSmallLanes << plan_.log_bytes;
    char* const memory = thread_memory(which, bytes);
    std::memset(memory, 0, static_cast<std::size_t>(bytes));
    return memory;
  }

  char* argument(const codegen::Matrices& m) const {
    return static_cast<char*>(arguments_[static_cast<std::size_t>(m.buffer)]);
  }

  /// The first element of a matrix of an evenly spaced factor.
  char* address(const LaneLayout& m, std::int64_t batch) const {
    return argument(m.memory) + (m.memory.offset + batch * m.memory.strides[0]) * (std::int64_t{1} << plan_.log_bytes);
  }

  void multiply_in_place(char* out, std::int64_t batch, std::int64_t count) const {
    plan_.in_place(out, address(plan_.left, batch), address(plan_.right, batch), count);
  }

  void multiply(std::int64_t batch, std::int64_t count) const {
    read(plan_.left, batch, count, left_);
    read(plan_.right, batch, count, right_);
    plan_.lanes->multiply[static_cast<int>(plan_.shape.dtype)](products_);
  }

  void read(const LaneLayout& from, std::int64_t batch, std::int64_t count, char* rows) const {
    const char* const memory = argument(from.memory);
    const int log = plan_.log_bytes;
    each_run(from.memory, batch, count,
             [&](std::int64_t lane, std::int64_t here, std::int64_t position, std::int64_t stride) {
               for (std::int64_t k = 0; k < from.pieces; ++k) {
                 const char* const src = memory + (position + k * from.piece) * (std::int64_t{1} << log);
                 char* const dst = rows + ((k * from.elements * kSmallLanes + lane) << log);
                 if (here == kSmallLanes && from.unit == 1 && log >= 2)
                   plan_.lanes->into_lanes[log - 2](dst, src, stride, from.elements);
                 else
                   plan_.table->copy[log](dst, 1, kSmallLanes, src, stride, from.unit, here, from.elements);
               }
             });
  }

  /// Stores the sums of `count` matrices where the program wants them.
  void store(std::int64_t batch, std::int64_t count) const {
    const LaneLayout& to = *plan_.results;
    const int log = plan_.log_bytes;
    each_run(to.memory, batch, count,
             [&](std::int64_t lane, std::int64_t here, std::int64_t position, std::int64_t stride) {
               for (std::int64_t k = 0; k < to.pieces; ++k) {
                 const char* const src = sums_ + ((k * to.elements * kSmallLanes + lane) << log);
                 char* const dst = argument(to.memory) + (position + k * to.piece) * (std::int64_t{1} << log);
                 if (here == kSmallLanes && to.unit == 1 && log >= 2)
                   plan_.lanes->out_of_lanes[log - 2](dst, src, stride, to.elements);
                 else
                   plan_.table->copy[log](dst, stride, to.unit, src, 1, kSmallLanes, here, to.elements);
               }
             });
  }

  /// Copies the sums of `count` matrices to `dst`, one matrix after the other.
  void transpose_back(char* dst, std::int64_t count) const {
    const std::int64_t elements = plan_.shape.rows * plan_.shape.columns;
    const int log = plan_.log_bytes;
    if (count == kSmallLanes && log >= 2)
      plan_.lanes->out_of_lanes[log - 2](dst, sums_, elements, elements);
    else
      plan_.table->copy[log](dst, elements, 1, sums_, 1, kSmallLanes, count, elements);
  }

  /// Runs the operations on the results of matrices [batch, batch + count).
  void finish(std::int64_t batch, std::int64_t count) {
    const codegen::Contraction& c = plan_.shape;
    epilogue_->run_given(plan_.epilogue.slot, results_, c.columns, plan_.log_bytes,
                         {batch * c.rows, count * c.rows, 0, c.columns}, kSmallResultTile);
  }

  const SmallPlan& plan_;
  std::span<void* const> arguments_;
  std::optional<Worker> epilogue_;  // unless the results are only stored
  isa::SmallProducts products_;
  std::int64_t together_ = kSmallLanes;
  char* left_ = nullptr;
  char* right_ = nullptr;
  char* sums_ = nullptr;
  char* results_ = nullptr;
};

}  // namespace

double SmallPlan::nanoseconds() const {
  const codegen::Contraction& c = shape;
  const auto rows = static_cast<double>(c.rows), columns = static_cast<double>(c.columns);
  const auto depth = static_cast<double>(c.depth);
  const double elements = (rows + columns) * depth + rows * columns;
  const double width = static_cast<double>(std::max<std::size_t>(itemsize(c.dtype), 4)) / 4;
  return width * static_cast<double>(c.batches) *
         (schedule::kRates.side_by_side * rows * columns * depth + schedule::kRates.lane * elements);
}

void SmallPlan::run(const Team& threads, std::span<void* const> arguments,
                    std::span<const graph::Scalar> parameters) const {
  const codegen::Contraction& c = shape;
  const BoundLaunch after(*epilogue.plan, arguments, parameters);
  const std::int64_t groups = (c.batches - 1) / kSmallLanes + 1;
  const double work = static_cast<double>(c.batches * c.rows * c.columns) * static_cast<double>(c.depth);
  const std::int64_t tasks =
      threads.count() == 1 ? 1 : tasks_for(work, kTaskWork, std::min(groups, threads.count() * kTasksPerThread));
  threads.run(tasks, [&](std::int64_t task) {
    SmallMultiplier multiplier(*this, after.launch(), arguments);
    multiplier.run(share_begin(groups, task, tasks) * kSmallLanes,
                   std::min(c.batches, share_begin(groups, task + 1, tasks) * kSmallLanes));
  });
}

}  // namespace oriel::backend::eigen
