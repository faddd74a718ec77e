#include "backend/eigen/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

// Below this many element instructions a kernel is done before another thread has woken up.
constexpr double kParallelWork = 32 * 1024;
// Of a task, so that handing it out costs nothing beside it.
constexpr double kTaskWork = 128 * 1024;
constexpr std::int64_t kTasksPerThread = 8;
constexpr std::int64_t kLine = 64;

/// A thread's registers. They keep for the thread's life, so that a launch allocates nothing.
class Arena {
 public:
  ~Arena() { std::free(data_); }
  char* reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return data_;
    std::free(data_);
    bytes_ = 0;
    const auto size = static_cast<std::size_t>(bytes + 4096 - bytes % 4096);
    data_ = static_cast<char*>(std::aligned_alloc(4096, size));
    if (data_ == nullptr) throw MemoryError("launch", "no memory for " + std::to_string(size) + " bytes of registers");
    // Slack lanes are computed on: let them be numbers.
    std::memset(data_, 0, size);
    bytes_ = static_cast<std::int64_t>(size);
    return data_;
  }

 private:
  char* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

struct Scratch {
  Arena arena;
  std::vector<void*> slots;
};

Scratch& scratch() {
  thread_local Scratch s;
  return s;
}

std::int64_t whole_packets(std::int64_t n) { return (n + isa::kPacket - 1) / isa::kPacket * isa::kPacket; }

struct Launch {
  const Plan& plan;
  std::span<void* const> arguments;
  const std::uint64_t* constants;  // as registers hold them
};

/// One thread at work on one launch.
class Worker {
 public:
  explicit Worker(const Launch& launch) : launch_(launch), plan_(launch.plan), table_(*launch.plan.table) {
    Scratch& s = scratch();
    arena_ = s.arena.reserve(plan_.arena_bytes);
    if (s.slots.size() < plan_.offsets.size()) s.slots.resize(plan_.offsets.size());
    slots_ = s.slots.data();
    for (std::size_t i = 0; i < plan_.offsets.size(); ++i) slots_[i] = arena_ + plan_.offsets[i];
    for (const Pinned& p : plan_.pinned) {
      if (p.reach >= 0) {
        const Reach& r = plan_.reaches[static_cast<std::size_t>(p.reach)];
        r.copy(slots_[p.slot], 0, 1, element(r, r.walk.offset()), 0, 0, 1, plan_.pinned_length);
      } else {
        fill(slots_[p.slot], p.log_bytes, launch_.constants[p.constant], plan_.pinned_length);
      }
    }
  }

  ~Worker() {
    if (plan_.streams) table_.fence();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void** slots() const noexcept { return slots_; }

  /// All stages for one block of outer points.
  void run_block(std::int64_t b) {
    if (plan_.grid_split > 0) {
      const std::int64_t across = (plan_.fast_points + plan_.grid_cols - 1) / plan_.grid_cols;
      Tile tile;
      tile.slow = b / across * plan_.grid_rows;
      tile.rows = std::min(plan_.grid_rows, plan_.slow_points - tile.slow);
      tile.fast = b % across * plan_.grid_cols;
      tile.cols = std::min(plan_.grid_cols, plan_.fast_points - tile.fast);
      for (const StagePlan& stage : plan_.stages) run_steps(stage.outer, tile);
      return;
    }
    const std::int64_t first = b * plan_.block;
    const std::int64_t n = std::min(plan_.block, plan_.points - first);
    for (const StagePlan& stage : plan_.stages) {
      if (stage.loops) run_loops(stage, first, n, 0, stage.points, nullptr, nullptr);
      run_steps(stage.outer, {0, 1, first, n});
    }
  }

  void run_outer(const StagePlan& stage, std::int64_t first, std::int64_t n) {
    run_steps(stage.outer, {0, 1, first, n});
  }

  /// Inner points [begin, end) of a stage for a block of outer points. Outer values are read through `outer` (another
  /// worker's slots) where given; results go to `partial`, one array of a block for each reduction, where given.
  void run_loops(const StagePlan& stage, std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end,
                 void* const* outer, char* partial) {
    const auto result = [&](std::size_t k) -> void* {
      return partial == nullptr ? slots_[stage.reductions[k].result]
                                : partial + static_cast<std::int64_t>(k) * plan_.block * 8;
    };
    if (begin == end) {
      for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
        const ReducePlan& r = stage.reductions[k];
        fill(result(k), r.log_bytes, r.fns->identity, n);
      }
      return;
    }
    spread_outer_values(stage, outer, n);
    if (!plan_.columns && stage.step == stage.points && begin == 0 && end == stage.points) {
      take_kept(stage, 0);
      run_steps(stage.body, {first, n, 0, stage.points});
      for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
        const ReducePlan& r = stage.reductions[k];
        r.fns->rows(slots_[r.input], n, stage.points, result(k));
      }
      return;
    }
    for (const ReducePlan& r : stage.reductions) start_block(r, n);
    std::int64_t blocks = 0;
    std::int64_t position = 0;
    for (std::int64_t at = begin; at < end; at += stage.step) {
      const std::int64_t m = std::min(stage.step, end - at);
      take_kept(stage, at / stage.step);
      if (plan_.columns) {
        run_steps(stage.body, {at, m, first, n});
      } else {
        run_steps(stage.body, {first, 1, at, m});
      }
      if (stage.reductions.empty()) continue;
      for (std::int64_t done = 0; done < m;) {
        const std::int64_t take = std::min(m - done, isa::kBlock - position);
        // A whole block of one row needs no lanes in memory.
        const bool whole = n == 1 && position == 0 && (take == isa::kBlock || at + m == end);
        for (const ReducePlan& r : stage.reductions) {
          const char* x = static_cast<const char*>(slots_[r.input]) + (done * n << r.log_bytes);
          char* acc = arena_ + r.accumulator;
          if (whole) {
            r.fns->rows(x, 1, take, acc);
            join_block(r, n, blocks);
          } else {
            r.fns->accumulate(acc, isa::kLanes * n, position * n, x, take * n);
          }
        }
        if (whole) {
          ++blocks;
          done += take;
          continue;
        }
        done += take;
        position += take;
        if (position == isa::kBlock) {
          for (const ReducePlan& r : stage.reductions) end_block(r, n, blocks);
          ++blocks;
          position = 0;
        }
      }
    }
    for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
      const ReducePlan& r = stage.reductions[k];
      std::int64_t count = blocks;
      if (position > 0) end_block(r, n, count++);
      // What waits is one value for each bit of the count: joined from the smallest up.
      char* waiting = arena_ + r.waiting;
      const std::int64_t bytes = n << r.log_bytes;
      for (std::int64_t depth = std::popcount(static_cast<std::uint64_t>(count)) - 1; depth > 0; --depth) {
        r.fns->merge(waiting + (depth - 1) * bytes, waiting + (depth - 1) * bytes, waiting + depth * bytes, n);
      }
      std::memcpy(result(k), waiting, static_cast<std::size_t>(bytes));
    }
  }

 private:
  void* element(const Reach& r, std::int64_t position) const {
    return static_cast<char*>(launch_.arguments[static_cast<std::size_t>(r.buffer)]) + position * r.bytes;
  }

  void fill(void* dst, int log_bytes, std::uint64_t bytes, std::int64_t n) const {
    table_.copy[log_bytes](dst, 0, 1, &bytes, 0, 0, 1, n);
  }

  void start_block(const ReducePlan& r, std::int64_t n) const {
    fill(arena_ + r.accumulator, r.log_bytes, r.fns->identity, isa::kLanes * n);
  }

  // Blocks pair up like the digits of a binary counter.
  void end_block(const ReducePlan& r, std::int64_t n, std::int64_t blocks) const {
    r.fns->combine(arena_ + r.accumulator, n);
    join_block(r, n, blocks);
    start_block(r, n);
  }

  /// Adds a block's value, at the accumulator's start, to those that wait.
  void join_block(const ReducePlan& r, std::int64_t n, std::int64_t blocks) const {
    char* acc = arena_ + r.accumulator;
    char* waiting = arena_ + r.waiting;
    const std::int64_t bytes = n << r.log_bytes;
    std::int64_t depth = std::popcount(static_cast<std::uint64_t>(blocks));
    for (; (blocks & 1) != 0; blocks >>= 1) {
      --depth;
      r.fns->merge(acc, waiting + depth * bytes, acc, n);
    }
    std::memcpy(waiting + depth * bytes, acc, static_cast<std::size_t>(bytes));
  }

  void take_kept(const StagePlan& stage, std::int64_t tile) {
    for (const Kept& k : stage.kept) slots_[k.slot] = arena_ + k.offset + tile * k.pitch;
  }

  void spread_outer_values(const StagePlan& stage, void* const* outer, std::int64_t n) {
    for (const Broadcast& b : stage.broadcasts) {
      void* from = outer == nullptr ? slots_[b.from] : outer[b.from];
      if (plan_.columns && stage.step == 1) {
        // A tile is one row of the block: the value serves as it is.
        slots_[b.to] = from;
        continue;
      }
      void* to = arena_ + plan_.offsets[static_cast<std::size_t>(b.to)];
      if (plan_.columns) {
        table_.copy[b.log_bytes](to, n, 1, from, 0, 1, stage.step, n);
      } else {
        table_.copy[b.log_bytes](to, stage.step, 1, from, 1, 0, n, stage.step);
      }
    }
  }

  void run_steps(const std::vector<Step>& steps, const Tile& tile) {
    const std::int64_t size = tile.size();
    const std::int64_t n = whole_packets(size);
    for (const Step& step : steps) {
      switch (step.kind) {
        case StepKind::Compute:
          if (step.reach >= 0) slots_[step.dst] = destination(step, tile);
          step.element(slots_[step.dst], slots_[step.a], slots_[step.b], slots_[step.c], n);
          break;
        case StepKind::Copy:
          step.copy(slots_[step.dst], 0, 1, slots_[step.a], 0, 1, 1, size);
          break;
        case StepKind::Fill:
          fill(slots_[step.dst], step.log_bytes, launch_.constants[step.constant], n);
          break;
        case StepKind::Load:
          load(step, tile);
          break;
        case StepKind::Index:
          index(step, tile);
          break;
        case StepKind::Valid:
          valid(step, tile);
          break;
        case StepKind::Store:
          store(step, tile);
          break;
      }
    }
  }

  const Reach& reach(const Step& step) const { return plan_.reaches[static_cast<std::size_t>(step.reach)]; }
  void* own_register(Slot slot) const { return arena_ + plan_.offsets[static_cast<std::size_t>(slot)]; }

  /// The tile's place in memory where it is whole packets in a row, of the register's type; else null.
  void* in_place(const Reach& r, const Tile& tile) const {
    if (!r.same || r.own || tile.size() % isa::kPacket != 0) return nullptr;
    const std::int64_t position = r.walk.in_place(tile);
    return position < 0 ? nullptr : element(r, position);
  }

  /// Where a computed value goes: straight to memory if the store that follows takes it as it is.
  void* destination(const Step& step, const Tile& tile) const {
    void* memory = in_place(reach(step), tile);
    const bool aligned = reinterpret_cast<std::uintptr_t>(memory) % 64 == 0;
    return memory != nullptr && aligned ? memory : own_register(step.dst);
  }

  void clear(void* dst, const Step& step, std::int64_t n) const {
    std::memset(dst, 0, static_cast<std::size_t>(n) << step.log_bytes);
  }

  void load(const Step& step, const Tile& tile) {
    const Reach& r = reach(step);
    if (void* memory = in_place(r, tile)) {
      slots_[step.dst] = memory;
      return;
    }
    char* dst = static_cast<char*>(own_register(step.dst));
    slots_[step.dst] = dst;
    if (r.walk.masked()) clear(dst, step, tile.size());
    r.walk.boxes(tile, [&](const Box& box) {
      r.copy(dst + (box.at << step.log_bytes), box.pitch, 1, element(r, box.position), box.row, box.col, box.rows,
             box.cols);
    });
  }

  void index(const Step& step, const Tile& tile) {
    const Reach& r = reach(step);
    auto* dst = static_cast<std::int64_t*>(slots_[step.dst]);
    if (r.walk.masked()) clear(dst, step, tile.size());
    r.walk.boxes(tile, [&](const Box& box) {
      table_.iota(dst + box.at, box.pitch, box.position, box.row, box.col, box.rows, box.cols);
    });
  }

  void valid(const Step& step, const Tile& tile) {
    const Reach& r = reach(step);
    auto* dst = static_cast<std::uint8_t*>(slots_[step.dst]);
    if (r.walk.masked()) clear(dst, step, tile.size());
    const std::uint8_t yes = 1;
    r.walk.boxes(tile,
                 [&](const Box& box) { table_.copy[0](dst + box.at, box.pitch, 1, &yes, 0, 0, box.rows, box.cols); });
  }

  void store(const Step& step, const Tile& tile) {
    const Reach& r = reach(step);
    const char* src = static_cast<const char*>(slots_[step.a]);
    void* memory = in_place(r, tile);
    if (src == memory) return;
    const auto lines = reinterpret_cast<std::uintptr_t>(memory) | reinterpret_cast<std::uintptr_t>(src) |
                       static_cast<std::uintptr_t>(tile.size() * r.bytes);
    if (r.stream && memory != nullptr && lines % 64 == 0) {
      table_.stream(memory, src, tile.size() * r.bytes);
      return;
    }
    const int log_bytes = r.same ? std::countr_zero(static_cast<unsigned>(r.bytes)) : 2;
    r.walk.boxes(tile, [&](const Box& box) {
      if (r.stream && stream_box(r, box, src)) return;
      r.copy(element(r, box.position), box.row, box.col, src + (box.at << log_bytes), box.pitch, 1, box.rows, box.cols);
    });
  }

  // Rows of a box that are whole lines of memory: a square of a transposing copy.
  bool stream_box(const Reach& r, const Box& box, const char* src) const {
    const std::int64_t bytes = box.cols * r.bytes;
    if (box.col != 1 || bytes < kLine || box.row * r.bytes % kLine != 0 || box.pitch * r.bytes % kLine != 0)
      return false;
    char* to = static_cast<char*>(element(r, box.position));
    const char* from = src + box.at * r.bytes;
    const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    if ((places | static_cast<std::uintptr_t>(bytes)) % kLine != 0) return false;
    for (std::int64_t i = 0; i < box.rows; ++i)
      table_.stream(to + i * box.row * r.bytes, from + i * box.pitch * r.bytes, bytes);
    return true;
  }

  const Launch& launch_;
  const Plan& plan_;
  const isa::Table& table_;
  char* arena_ = nullptr;
  void** slots_ = nullptr;
};

/// Blocks of outer points are dealt out; each thread takes its blocks through all stages.
void run_outer_parallel(const Launch& launch, Threads& threads) {
  const Plan& plan = launch.plan;
  const double tasks_by_work = plan.work / kTaskWork + 1;
  const auto tasks =
      std::min({plan.blocks, threads.count() * kTasksPerThread, static_cast<std::int64_t>(tasks_by_work)});
  threads.run(tasks, [&](std::int64_t task) {
    Worker worker(launch);
    const std::int64_t end = plan.blocks * (task + 1) / tasks;
    for (std::int64_t b = plan.blocks * task / tasks; b < end; ++b) worker.run_block(b);
  });
}

/// Element instructions of a stage's loops for a block of n outer points.
double loop_work(const StagePlan& stage, std::int64_t n, std::int64_t points) {
  return static_cast<double>(stage.body_work) * static_cast<double>(n) * static_cast<double>(points);
}

/// Joins what the chunks of a reduction gave, in the order in which blocks are joined.
char* join_chunks(const isa::ReduceFns& fns, const std::vector<char*>& values, std::int64_t n) {
  std::vector<char*> waiting;
  for (std::size_t c = 0; c < values.size(); ++c) {
    char* value = values[c];
    for (std::size_t bit = c; (bit & 1) != 0; bit >>= 1) {
      fns.merge(waiting.back(), waiting.back(), value, n);
      value = waiting.back();
      waiting.pop_back();
    }
    waiting.push_back(value);
  }
  while (waiting.size() > 1) {
    char* value = waiting.back();
    waiting.pop_back();
    fns.merge(waiting.back(), waiting.back(), value, n);
  }
  return waiting.back();
}

/// A stage's loops for one block of outer points, the inner range cut where a subtree of the fixed order ends.
void run_split_loops(const Launch& launch, Threads& threads, const StagePlan& stage, Worker& main, std::int64_t first,
                     std::int64_t n) {
  const Plan& plan = launch.plan;
  std::int64_t chunk = isa::kBlock;
  while (stage.points / chunk > threads.count() * kTasksPerThread || loop_work(stage, n, chunk) < kTaskWork) chunk *= 2;
  const std::int64_t chunks = (stage.points + chunk - 1) / chunk;
  if (chunks < 2) {
    main.run_loops(stage, first, n, 0, stage.points, nullptr, nullptr);
    return;
  }
  const std::int64_t row = plan.block * 8;
  const std::int64_t part = static_cast<std::int64_t>(stage.reductions.size()) * row;
  std::vector<char> partial(static_cast<std::size_t>(part * chunks));
  // This thread's tasks use its slots too; what they point to in other stages is kept aside.
  const std::vector<void*> kept(main.slots(), main.slots() + plan.offsets.size());
  threads.run(chunks, [&](std::int64_t c) {
    Worker worker(launch);
    const std::int64_t end = std::min((c + 1) * chunk, stage.points);
    worker.run_loops(stage, first, n, c * chunk, end, kept.data(), partial.data() + c * part);
  });
  std::copy(kept.begin(), kept.end(), main.slots());
  std::vector<char*> values(static_cast<std::size_t>(chunks));
  for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
    const ReducePlan& r = stage.reductions[k];
    for (std::int64_t c = 0; c < chunks; ++c) {
      values[static_cast<std::size_t>(c)] = partial.data() + c * part + static_cast<std::int64_t>(k) * row;
    }
    const char* whole = join_chunks(*r.fns, values, n);
    std::memcpy(main.slots()[r.result], whole, static_cast<std::size_t>(n) << r.log_bytes);
  }
}

/// Few outer points, many inner ones: each block of outer points goes through the stages one by one, all threads at
/// work on it.
void run_inner_parallel(const Launch& launch, Threads& threads) {
  const Plan& plan = launch.plan;
  Worker main(launch);
  for (std::int64_t b = 0; b < plan.blocks; ++b) {
    const std::int64_t first = b * plan.block;
    const std::int64_t n = std::min(plan.block, plan.points - first);
    for (const StagePlan& stage : plan.stages) {
      if (stage.loops) run_split_loops(launch, threads, stage, main, first, n);
      main.run_outer(stage, first, n);
    }
  }
}

/// Is there a stage whose loops can be shared out?
bool splits(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const StagePlan& stage) {
    return stage.loops && stage.points > isa::kBlock && loop_work(stage, plan.block, stage.points) >= 2 * kTaskWork;
  });
}

}  // namespace

void check_launch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters) {
  if (arguments.size() < plan.arguments) {
    throw InternalError("launch", "kernel " + plan.name + " takes " + std::to_string(plan.arguments) +
                                      " buffers; got " + std::to_string(arguments.size()));
  }
  if (parameters.size() < plan.parameters) {
    throw InternalError("launch", "kernel " + plan.name + " takes " + std::to_string(plan.parameters) +
                                      " scalars; got " + std::to_string(parameters.size()));
  }
}

bool shares_rows(const Plan& plan, int threads) {
  return !plan.keeps && threads > 1 && plan.work >= kParallelWork && plan.blocks < 2 * threads && splits(plan);
}

void run_plan(const Plan& plan, Threads& threads, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) {
  check_launch(plan, arguments, parameters);
  if (plan.points == 0) return;
  const std::uint64_t* constants = plan.constant_bytes.data();
  std::vector<std::uint64_t> filled;
  if (plan.parameters > 0) {
    filled = plan.constant_bytes;
    for (std::size_t i = 0; i < filled.size(); ++i) {
      const ConstantPlan& c = plan.constants[i];
      if (c.parameter >= 0) filled[i] = register_bytes(parameters[static_cast<std::size_t>(c.parameter)], c.dtype);
    }
    constants = filled.data();
  }
  const Launch launch{plan, arguments, constants};
  if (threads.count() == 1 || plan.work < kParallelWork) {
    Worker worker(launch);
    for (std::int64_t b = 0; b < plan.blocks; ++b) worker.run_block(b);
  } else if (shares_rows(plan, threads.count())) {
    run_inner_parallel(launch, threads);
  } else {
    run_outer_parallel(launch, threads);
  }
}

}  // namespace oriel::backend::eigen
