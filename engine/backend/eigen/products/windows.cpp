#include "backend/eigen/products/windows_plan.hpp"

#include <algorithm>
#include <cstring>

#include "backend/eigen/tile/machine.hpp"
#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {
namespace {

/// A block of the results of one outer point s: rows [y, y_end) by columns [x, x_end).
struct Block {
  std::int64_t s = 0;
  std::int64_t y = 0;
  std::int64_t y_end = 0;
  std::int64_t x = 0;
  std::int64_t x_end = 0;
  std::int64_t rows() const noexcept { return y_end - y; }
  std::int64_t columns() const noexcept { return x_end - x; }
};

/// One launch.
struct Run {
  const WindowsPlan& plan;
  std::span<void* const> arguments;
  BoundLaunch source;
  BoundLaunch weights;
  BoundLaunch epilogue;
  std::int64_t y_block = 1;
  std::int64_t x_block = 1;
  std::int64_t y_blocks = 1;
  std::int64_t x_blocks = 1;

  Run(const WindowsPlan& p, int threads, std::span<void* const> given, std::span<const graph::Scalar> parameters)
      : plan(p),
        arguments(given),
        source(*p.source.plan, given, parameters),
        weights(p.weights ? *p.weights->plan : *p.source.plan, given, parameters),
        epilogue(*p.epilogue.plan, given, parameters),
        y_block(p.y_block),
        x_block(p.x_block) {
    const codegen::Windows& w = p.shape;
    // If there are few planes, threads share each plane.
    while (threads > 1 && w.slow_points * blocks() < std::int64_t{2} * threads && work() > 2 * kTaskWork) {
      if (y_block > 1) {
        y_block = (y_block + 1) / 2;
      } else if (x_block >= std::int64_t{2} * p.fns->packet) {
        x_block = (x_block + 1) / 2;
      } else {
        break;
      }
    }
    y_blocks = (w.y_points + y_block - 1) / y_block;
    x_blocks = (w.x_points + x_block - 1) / x_block;
  }

  std::int64_t blocks() const {
    const codegen::Windows& w = plan.shape;
    return ((w.y_points + y_block - 1) / y_block) * ((w.x_points + x_block - 1) / x_block);
  }
  /// The element instructions of a block.
  double work() const {
    return static_cast<double>(y_block) * static_cast<double>(x_block) * static_cast<double>(plan.shape.taps.size());
  }
};

/// One thread's work.
class Reducer {
 public:
  explicit Reducer(const Run& run)
      : run_(run),
        plan_(run.plan),
        shape_(run.plan.shape),
        source_(run.source.launch(), kSourceWorker),
        epilogue_(run.epilogue.launch(), kResultWorker) {
    taps_ = reinterpret_cast<std::int64_t*>(thread_memory(kTaps, static_cast<std::int64_t>(shape_.taps.size()) * 8));
  }

  void reduce(const Block& b) {
    isa::WindowRows q;
    q.count = static_cast<std::int64_t>(shape_.taps.size());
    q.taps = taps_;
    q.rows = b.rows();
    q.columns = b.columns();
    if (plan_.memory && b.columns() >= plan_.fns->packet) {
      read_as_it_lies(b, q);
    } else {
      compute(b, q);
    }
    if (plan_.weights) q.weights = weights(b.s);
    const auto reduce = plan_.weights ? plan_.fns->weighed : plan_.fns->reduce[isa::reduce_index(shape_.op)];
    if (plan_.results && b.columns() >= plan_.fns->packet) {
      const Matrices& m = *plan_.results;
      q.out = argument(m) + ((m.at(b.s) + b.y * m.row + b.x) << plan_.log_bytes);
      q.out_row = m.row;
      reduce(q);
      return;
    }
    char* results = thread_memory(kResults, (b.rows() * b.columns() << plan_.log_bytes) + kSlack);
    q.out = results;
    q.out_row = b.columns();
    reduce(q);
    finish(b, results);
  }

 private:
  // Numbers of a thread's memories.
  enum Memory : int { kSourceWorker = 1, kWeightWorker, kResultWorker, kPlanes, kPhases, kResults, kTaps };
  static_assert(kTaps < kThreadMemories);

  // Elements beyond the end of short rows that whole packets may touch.
  static constexpr std::int64_t kSlack = 128;

  char* argument(const Matrices& m) const {
    return static_cast<char*>(run_.arguments[static_cast<std::size_t>(m.buffer)]);
  }

  void read_as_it_lies(const Block& b, isa::WindowRows& q) {
    const Matrices& m = *plan_.memory;
    const std::int64_t plane = m.at(b.s * shape_.planes);
    q.x = argument(m) + ((plane + b.y * shape_.row_step * m.row + b.x) << plan_.log_bytes);
    q.x_row = shape_.row_step * m.row;
    for (std::size_t r = 0; r < shape_.taps.size(); ++r) {
      const codegen::Windows::Tap& tap = shape_.taps[r];
      taps_[r] = m.at(b.s * shape_.planes + tap.plane) - plane + tap.row * m.row + tap.column;
    }
  }

  /// Computes the part of each plane that the block's windows read, as a matrix. Columns that are a step apart lie side
  /// by side.
  void compute(const Block& b, isa::WindowRows& q) {
    const std::int64_t step = shape_.step;
    const std::int64_t rows = (b.rows() - 1) * shape_.row_step + shape_.row_span + 1;
    const std::int64_t columns = (b.columns() - 1) * step + shape_.column_span + 1;
    const std::int64_t bytes = shape_.planes * rows * columns << plan_.log_bytes;
    char* planes = thread_memory(kPlanes, bytes + kSlack);
    for (std::int64_t p = 0; p < shape_.planes; ++p) {
      compute_plane(planes + (p * rows * columns << plan_.log_bytes), b.s * shape_.planes + p, b.y * shape_.row_step,
                    rows, b.x * step, columns);
    }
    q.x = planes;
    std::int64_t pitch = columns;
    const std::int64_t phase = (columns + step - 1) / step;
    if (step > 1) {
      pitch = step * phase;
      char* phases = thread_memory(kPhases, (shape_.planes * rows * pitch << plan_.log_bytes) + kSlack);
      for (std::int64_t c = 0; c < step; ++c) {
        plan_.table->copy[plan_.log_bytes](phases + (c * phase << plan_.log_bytes), pitch, 1,
                                           planes + (c << plan_.log_bytes), columns, step, shape_.planes * rows,
                                           (columns - c + step - 1) / step);
      }
      q.x = phases;
    }
    q.x_row = shape_.row_step * pitch;
    for (std::size_t r = 0; r < shape_.taps.size(); ++r) {
      const codegen::Windows::Tap& tap = shape_.taps[r];
      taps_[r] = (tap.plane * rows + tap.row) * pitch + tap.column % step * phase + tap.column / step;
    }
  }

  /// Computes rows of a plane, counted as the source's program counts them, whole or cut.
  void compute_plane(char* dst, std::int64_t plane, std::int64_t row, std::int64_t rows, std::int64_t column,
                     std::int64_t columns) {
    if (columns == shape_.columns) {
      compute_run(dst, plane, row * columns, rows * columns);
      return;
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      compute_run(dst + (i * columns << plan_.log_bytes), plane, (row + i) * shape_.columns + column, columns);
    }
  }

  void compute_run(char* dst, std::int64_t plane, std::int64_t first, std::int64_t count) {
    if (plan_.load != nullptr) {
      source_.gather(*plan_.load, {plane, 1, first, count}, dst);
      return;
    }
    // Computes whole rows if they fit a tile, so that memory is read in boxes.
    const std::int64_t width = std::min(shape_.columns, kSourceTile);
    const std::int64_t most = kSourceTile / width * width;
    for (std::int64_t done = 0; done < count; done += most) {
      const std::int64_t n = std::min(most, count - done);
      source_.run_tile({plane, 1, first + done, n});
      std::memcpy(dst + (done << plan_.log_bytes), source_.slots()[plan_.source.slot],
                  static_cast<std::size_t>(n) << plan_.log_bytes);
    }
  }

  const void* weights(std::int64_t s) {
    Worker worker(run_.weights.launch(), kWeightWorker);
    worker.run_tile({s, 1, 0, static_cast<std::int64_t>(shape_.taps.size())});
    return worker.slots()[plan_.weights->slot];
  }

  void finish(const Block& b, char* results) {
    const std::int64_t columns = b.columns();
    const std::int64_t width = std::min(columns, kWindowTile);
    const std::int64_t rows = columns <= kWindowTile ? kWindowTile / columns : 1;
    for (std::int64_t i = 0; i < b.rows(); i += rows) {
      for (std::int64_t j = 0; j < columns; j += width) {
        epilogue_.slots()[plan_.epilogue.slot] = results + ((i * columns + j) << plan_.log_bytes);
        epilogue_.run_tile(
            {b.s * shape_.y_points + b.y + i, std::min(rows, b.rows() - i), b.x + j, std::min(width, columns - j)});
      }
    }
  }

  const Run& run_;
  const WindowsPlan& plan_;
  const codegen::Windows& shape_;
  Worker source_;
  Worker epilogue_;
  std::int64_t* taps_ = nullptr;
};

}  // namespace

void run_windows(const WindowsPlan& plan, const Team& threads, std::span<void* const> arguments,
                 std::span<const graph::Scalar> parameters) {
  const codegen::Windows& w = plan.shape;
  const double work = static_cast<double>(w.slow_points * w.y_points * w.x_points) * static_cast<double>(w.taps.size());
  const int count = work < kParallelWork ? 1 : threads.count();
  const Run run(plan, count, arguments, parameters);
  const std::int64_t blocks = w.slow_points * run.y_blocks * run.x_blocks;
  const auto by_work = static_cast<std::int64_t>(work / kTaskWork) + 1;
  const std::int64_t tasks = count == 1 ? 1 : std::min({blocks, count * kTasksPerThread, by_work});
  threads.run(tasks, [&](std::int64_t task) {
    Reducer reducer(run);
    const std::int64_t end = share_begin(blocks, task + 1, tasks);
    for (std::int64_t k = share_begin(blocks, task, tasks); k < end; ++k) {
      Block b;
      b.s = k / (run.y_blocks * run.x_blocks);
      b.y = k / run.x_blocks % run.y_blocks * run.y_block;
      b.x = k % run.x_blocks * run.x_block;
      b.y_end = std::min(w.y_points, b.y + run.y_block);
      b.x_end = std::min(w.x_points, b.x + run.x_block);
      reducer.reduce(b);
    }
  });
}

}  // namespace oriel::backend::eigen
