#include "backend/eigen/tile/worker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backend/eigen/tile/reduced_blocks.hpp"
#include "memory/host.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr std::int64_t kLine = 64;

/// A thread's registers. They live as long as the thread, so launches do not allocate.
class Arena {
 public:
  ~Arena() { std::free(data_); }
  char* reserve(std::int64_t bytes) {
    if (bytes <= bytes_) return data_;
    std::free(data_);
    bytes_ = 0;
    const auto size = static_cast<std::size_t>(bytes + 4096 - bytes % 4096);
    // Panels of a product cross pages, so huge pages help.
    data_ = static_cast<char*>(size >= mem::kHugePage
                                   ? mem::advised_memory(size, mem::host_allocator()->options().huge_pages)
                                   : std::aligned_alloc(4096, size));
    if (data_ == nullptr) throw MemoryError("launch", "no memory for " + std::to_string(size) + " bytes of registers");
    // Unused lanes are computed too, so they should hold numbers.
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

using Memories = std::array<Scratch, kThreadMemories>;
// A pointer, because exit handlers may still compute after this thread's objects are destroyed. They get new memory.
thread_local Memories* memories = nullptr;
struct Owner {
  ~Owner() { delete std::exchange(memories, nullptr); }
};

Scratch& scratch(int which) {
  if (which < 0 || which >= kThreadMemories) throw InternalError("launch", "a thread has no memory of that number");
  if (memories == nullptr) {
    memories = new Memories;
    thread_local const Owner owner;
    static_cast<void>(owner);
  }
  return (*memories)[static_cast<std::size_t>(which)];
}

void clear(void* dst, const TileStep& step, std::int64_t n) {
  const auto bytes = static_cast<std::size_t>(n) << step.log_bytes;
  if (bytes == 4) {  // the edge of an image, once for each of its lines
    std::memset(dst, 0, 4);
  } else {
    std::memset(dst, 0, bytes);
  }
}

/// Stores a box, bypassing the caches, if its rows are whole cache lines: a square of a transposing copy.
bool stream_box(const Launch& launch, const MemoryAccess& r, const Box& box, const char* src) {
  const std::int64_t bytes = box.cols * r.bytes;
  if (box.col != 1 || bytes < kLine || box.row * r.bytes % kLine != 0 || box.pitch * r.bytes % kLine != 0) return false;
  char* to = static_cast<char*>(address(launch, r, box.position));
  const char* from = src + box.at * r.bytes;
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  if ((places | static_cast<std::uintptr_t>(bytes)) % kLine != 0) return false;
  for (std::int64_t i = 0; i < box.rows; ++i)
    launch.plan.table->stream(to + i * box.row * r.bytes, from + i * box.pitch * r.bytes, bytes);
  return true;
}

}  // namespace

std::uint64_t register_bytes(const graph::Scalar& value, DType dtype) {
  const graph::Scalar v = value.dtype == dtype ? value : value.cast(dtype);
  std::uint64_t bytes = 0;
  if (dtype == DType::float64) {
    bytes = std::bit_cast<std::uint64_t>(v.f);
  } else if (is_floating(dtype)) {
    bytes = std::bit_cast<std::uint32_t>(static_cast<float>(v.f));
  } else {
    bytes = static_cast<std::uint64_t>(v.i);
  }
  return bytes;
}

BoundLaunch::BoundLaunch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters)
    : launch_{plan, arguments, plan.constant_bytes.data()} {
  if (plan.parameters == 0) return;
  filled_ = plan.constant_bytes;
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    const TileConstant& c = plan.constants[i];
    if (c.parameter >= 0) filled_[i] = register_bytes(parameters[static_cast<std::size_t>(c.parameter)], c.dtype);
  }
  launch_.constants = filled_.data();
}

char* thread_memory(int which, std::int64_t bytes) { return scratch(which).arena.reserve(bytes); }

Worker::Worker(const Launch& launch, int which) : launch_(launch), plan_(launch.plan), table_(*launch.plan.table) {
  Scratch& s = scratch(which);
  arena_ = s.arena.reserve(plan_.arena_bytes);
  if (s.slots.size() < plan_.offsets.size()) s.slots.resize(plan_.offsets.size());
  slots_ = s.slots.data();
  known_keys_.resize(plan_.gathers.size());
  for (std::size_t i = 0; i < plan_.offsets.size(); ++i) slots_[i] = arena_ + plan_.offsets[i];
  for (const Pinned& p : plan_.pinned) {
    if (p.access >= 0) {
      const MemoryAccess& r = plan_.accesses[static_cast<std::size_t>(p.access)];
      r.copy(slots_[p.slot], 0, 1, address(launch_, r, r.walk.offset()), 0, 0, 1, plan_.pinned_length);
    } else {
      fill(table_, slots_[p.slot], p.log_bytes, launch_.constants[p.constant], plan_.pinned_length);
    }
  }
  if (!plan_.down) repeat({0, 1, 0, std::min(plan_.block, plan_.points)});
}

void Worker::repeat(const Tile& tile) {
  for (const TileStep& load : plan_.repeated) gather(load, tile, slots_[load.dst]);
}

Worker::~Worker() {
  if (plan_.streams) table_.fence();
}

void Worker::run_block(std::int64_t b) {
  if (plan_.grid_split > 0) {
    const std::int64_t across = (plan_.fast_points + plan_.grid_cols - 1) / plan_.grid_cols;
    const std::int64_t row = plan_.down ? b % plan_.slow_points : b / across;
    const std::int64_t column = plan_.down ? b / plan_.slow_points : b % across;
    Tile tile;
    tile.slow = row * plan_.grid_rows;
    tile.rows = std::min(plan_.grid_rows, plan_.slow_points - tile.slow);
    tile.fast = column * plan_.grid_cols;
    tile.cols = std::min(plan_.grid_cols, plan_.fast_points - tile.fast);
    if (plan_.down && std::exchange(columns_, column) != column) repeat(tile);
    for (const TileStage& stage : plan_.stages) run_steps(stage.outer, tile);
    return;
  }
  const std::int64_t first = b * plan_.block;
  run_points(first, std::min(plan_.block, plan_.points - first));
}

void Worker::run_points(std::int64_t first, std::int64_t n) {
  for (const std::int64_t end = first + n; first < end; first += plan_.block) {
    const std::int64_t some = std::min(plan_.block, end - first);
    for (const TileStage& stage : plan_.stages) {
      if (stage.loops) run_loops(stage, first, some, 0, stage.points, nullptr, nullptr);
      run_steps(stage.outer, {0, 1, first, some});
    }
  }
}

void Worker::run_loops(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end,
                       void* const* outer, char* partial) {
  const auto result = [&](std::size_t k) -> void* {
    return partial == nullptr ? slots_[stage.reductions[k].result]
                              : partial + static_cast<std::int64_t>(k) * plan_.block * 8;
  };
  if (begin == end) {
    for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
      const TileReduction& r = stage.reductions[k];
      fill(table_, result(k), r.log_bytes, r.fns->identity, n);
    }
    return;
  }
  if (stage.direct >= 0) return reduce_memory(stage, first, n, begin, end, result(0));
  spread_outer_values(stage, outer, n);
  if (!plan_.columns && stage.step == stage.points && begin == 0 && end == stage.points) {
    take_kept(stage, 0);
    run_steps(stage.body, {first, n, 0, stage.points});
    for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
      const TileReduction& r = stage.reductions[k];
      if (r.moments.rows != nullptr) {
        reduce_moments(r, n, 0, stage.points, result(k), result(static_cast<std::size_t>(r.squares)));
      } else if (!r.computed) {
        reduce_rows(r, n, 0, stage.points, result(k));
      }
    }
    return;
  }
  // A few points fill only as many lanes. Filling and combining all lanes would take longer than the points do.
  const std::int64_t lanes = std::min(isa::kLanes, end - begin);
  const ReducedBlocks reduced(arena_, table_);
  for (const TileReduction& r : stage.reductions) reduced.start(r, n, lanes);
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
      for (const TileReduction& r : stage.reductions) {
        if (r.computed) continue;
        char* acc = arena_ + r.accumulator;
        char* squares =
            r.squares < 0 ? nullptr : arena_ + stage.reductions[static_cast<std::size_t>(r.squares)].accumulator;
        const std::int64_t skip = done * n << r.log_input;
        const char* x = static_cast<const char*>(slots_[r.input]) + skip;
        const char* y = static_cast<const char*>(slots_[r.second]) + (r.is_uniform ? 0 : skip);
        if (whole && squares != nullptr) {
          reduce_moments(r, 1, done, take, acc, squares);
        } else if (whole) {
          reduce_rows(r, 1, done, take, acc);
        } else if (squares != nullptr) {
          r.moments.columns(acc, squares, n, position, x, take);
        } else if (r.sum.columns != nullptr) {
          r.sum.columns(acc, n, position, x, y, take);
        } else {
          r.fns->accumulate(acc, isa::kLanes * n, position * n, x, take * n);
        }
      }
      if (whole) {
        for (const TileReduction& r : stage.reductions) reduced.join(r, n, blocks);
        ++blocks;
        done += take;
        continue;
      }
      done += take;
      position += take;
      if (position == isa::kBlock) {
        for (const TileReduction& r : stage.reductions) reduced.end(r, n, lanes, blocks);
        ++blocks;
        position = 0;
      }
    }
  }
  for (std::size_t k = 0; k < stage.reductions.size(); ++k) {
    const TileReduction& r = stage.reductions[k];
    std::int64_t count = blocks;
    if (position > 0) reduced.end(r, n, lanes, count++);
    reduced.finish(r, n, count, result(k));
  }
}

void Worker::reduce_memory(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin,
                           std::int64_t end, void* result) const {
  const MemoryAccess& m = plan_.accesses[static_cast<std::size_t>(stage.direct)];
  const TileReduction& r = stage.reductions.front();
  const std::int64_t pitch = m.walk.pitch();
  if (!plan_.columns) {
    r.fns->rows(address(launch_, m, m.walk.offset() + first * pitch + begin), pitch, n, end - begin, result);
    return;
  }
  const std::int64_t lanes = std::min(isa::kLanes, end - begin);
  const ReducedBlocks reduced(arena_, table_);
  reduced.start(r, n, lanes);
  std::int64_t blocks = 0;
  for (std::int64_t at = begin; at < end; at += isa::kBlock) {
    const char* x = static_cast<const char*>(address(launch_, m, m.walk.offset() + at * pitch + first));
    r.accumulate_rows(arena_ + r.accumulator, n, x, pitch, std::min(isa::kBlock, end - at));
    reduced.end(r, n, lanes, blocks++);
  }
  reduced.finish(r, n, blocks, result);
}

void Worker::run_rows(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin,
                      std::int64_t count, void* result) {
  for (const Broadcast& b : stage.broadcasts) {
    if (b.is_uniform) {
      slots_[b.to] = slots_[b.from];
    } else {
      table_.copy[b.log_bytes](slots_[b.to], count, 1, slots_[b.from], 1, 0, n, count);
    }
  }
  take_kept(stage, 0);
  run_steps(stage.body, {first, n, begin, count});
  for (const TileReduction& r : stage.reductions) reduce_rows(r, n, 0, count, result);
}

void Worker::run_given(Slot slot, char* data, std::int64_t pitch, int log_bytes, const Tile& all, std::int64_t most) {
  const std::int64_t step = std::max<std::int64_t>(1, most / all.cols);
  for (std::int64_t i = 0; i < all.rows; i += step) {
    slots_[slot] = data + (i * pitch << log_bytes);
    run_tile({all.slow + i, std::min(step, all.rows - i), all.fast, all.cols});
  }
}

void Worker::reduce_rows(const TileReduction& r, std::int64_t rows, std::int64_t from, std::int64_t count,
                         void* result) const {
  const char* a = static_cast<const char*>(slots_[r.input]) + (from << r.log_input);
  if (r.sum.rows == nullptr) return r.fns->rows(a, count, rows, count, result);
  const char* b = static_cast<const char*>(slots_[r.second]) + (r.is_uniform ? 0 : from << r.log_input);
  r.sum.rows(a, b, rows, count, result);
}

void Worker::reduce_moments(const TileReduction& r, std::int64_t rows, std::int64_t from, std::int64_t count,
                            void* sums, void* squares) const {
  r.moments.rows(static_cast<const char*>(slots_[r.input]) + (from << r.log_input), rows, count, sums, squares);
}

void Worker::take_kept(const TileStage& stage, std::int64_t tile) {
  for (const Kept& k : stage.kept) slots_[k.slot] = arena_ + k.offset + tile * k.pitch;
}

void Worker::spread_outer_values(const TileStage& stage, void* const* outer, std::int64_t n) {
  for (const Broadcast& b : stage.broadcasts) {
    void* from = outer == nullptr ? slots_[b.from] : outer[b.from];
    if (b.is_uniform || (plan_.columns && stage.step == 1)) {
      // One number, or a tile that is one row of the block: the value is used in place.
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

void Worker::run_steps(const std::vector<TileStep>& steps, const Tile& tile) {
  const Tile starts{tile.slow, tile.rows, tile.fast, 1};
  for (const TileStep& step : steps) run_step(step, step.starts ? starts : tile);
}

void Worker::run_step(const TileStep& step, const Tile& tile) {
  const std::int64_t size = tile.size();
  const std::int64_t n = whole_packets(size);
  switch (step.kind) {
    case StepKind::Compute:
      if (step.access >= 0) slots_[step.dst] = destination(step, tile);
      step.element(slots_[step.dst], slots_[step.a], slots_[step.b], slots_[step.c], n);
      break;
    case StepKind::Chain:
      run_chain(step, tile);
      break;
    case StepKind::Patch:
      patch(step, tile);
      break;
    case StepKind::Copy:
      step.copy(slots_[step.dst], 0, 1, slots_[step.a], 0, 1, 1, size);
      break;
    case StepKind::Fill:
      fill(table_, slots_[step.dst], step.log_bytes, launch_.constants[step.constant], n);
      break;
    case StepKind::Load:
      load(step, tile);
      break;
    case StepKind::Gather:
      look_up(step, tile);
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

void* Worker::place(const MemoryAccess& r, const Tile& tile) const {
  const std::int64_t position = r.same ? r.walk.in_place(tile) : -1;
  return position < 0 ? nullptr : address(launch_, r, position);
}

void Worker::run_chain(const TileStep& step, const Tile& tile) const {
  const Chain& chain = plan_.chains[static_cast<std::size_t>(step.chain)];
  isa::ChainLink links[kMostLinks + 1];  // NOLINT: only the elements that are set are read
  for (std::size_t i = 0; i < chain.items.size(); ++i) {
    const Chain::Item& item = chain.items[i];
    links[i] = {item.op, item.is_uniform, slots_[item.x], item.y < 0 ? nullptr : slots_[item.y]};
  }
  links[chain.items.size()].op = isa::Link::End;
  links[chain.items.size()].number = false;
  // The tile is written to memory directly, wherever it begins, and nothing beside it.
  void* memory = step.access >= 0 ? place(access(step), tile) : nullptr;
  if (step.access >= 0) slots_[step.dst] = memory != nullptr ? memory : own_register(step.dst);
  chain.run(slots_[step.dst], slots_[chain.first], links, memory != nullptr ? tile.size() : whole_packets(tile.size()));
}

/// Where a computed value goes: to memory, if the following store takes it unchanged; else to its register.
void* Worker::destination(const TileStep& step, const Tile& tile) const {
  void* memory = in_place(launch_, access(step), tile);
  const bool aligned = reinterpret_cast<std::uintptr_t>(memory) % 64 == 0;
  return memory != nullptr && aligned ? memory : own_register(step.dst);
}

void Worker::load(const TileStep& step, const Tile& tile) {
  if (void* memory = in_place(launch_, access(step), tile)) {
    slots_[step.dst] = memory;
    if (step.ahead != 0) {
      const char* next = static_cast<const char*>(memory) + step.ahead;
      for (std::int64_t at = 0; at < tile.size() * access(step).bytes; at += kLine) __builtin_prefetch(next + at, 0, 2);
    }
    return;
  }
  slots_[step.dst] = own_register(step.dst);
  gather(step, tile, slots_[step.dst]);
}

void Worker::gather(const TileStep& step, const Tile& tile, void* memory) const {
  const MemoryAccess& r = access(step);
  char* dst = static_cast<char*>(memory);
  if (r.same && r.walk.runs(tile, [&](const Pattern& pattern, std::int64_t at, std::int64_t position, Pattern::Run run,
                                      std::int64_t n) {
        const isa::PickFn* const pick = table_.pick[step.log_bytes];
        pick[pattern.holes() ? 1 : 0](dst + (at << step.log_bytes), address(launch_, r, position), run.distances,
                                      run.least, n, r.elements - position);
      }))
    return;
  const auto copy = [&](const Box& box) {
    r.copy(dst + (box.at << step.log_bytes), box.pitch, 1, address(launch_, r, box.position), box.row, box.col,
           box.rows, box.cols);
  };
  if (!r.walk.masked() || !r.walk.in_order()) {
    if (r.walk.masked()) clear(dst, step, tile.size());
    return r.walk.boxes(tile, copy);
  }
  // The boxes usually leave out little, so only that is cleared.
  std::int64_t done = 0;
  const auto clear_to = [&](std::int64_t end) {
    if (end > done) clear(dst + (done << step.log_bytes), step, end - done);
  };
  r.walk.boxes(tile, [&](const Box& box) {
    clear_to(box.at);
    copy(box);
    for (std::int64_t i = 1; i < box.rows; ++i) {
      done = box.at + (i - 1) * box.pitch + box.cols;
      clear_to(box.at + i * box.pitch);
    }
    done = box.at + (box.rows - 1) * box.pitch + box.cols;
  });
  clear_to(tile.size());
}

void Worker::index(const TileStep& step, const Tile& tile) {
  const MemoryAccess& r = access(step);
  auto* dst = static_cast<std::int64_t*>(slots_[step.dst]);
  if (r.walk.masked()) clear(dst, step, tile.size());
  r.walk.boxes(tile, [&](const Box& box) {
    table_.iota(dst + box.at, box.pitch, box.position, box.row, box.col, box.rows, box.cols);
  });
}

void Worker::valid(const TileStep& step, const Tile& tile) {
  const MemoryAccess& r = access(step);
  auto* dst = static_cast<std::uint8_t*>(slots_[step.dst]);
  if (r.walk.masked()) clear(dst, step, tile.size());
  const std::uint8_t yes = 1;
  r.walk.boxes(tile,
               [&](const Box& box) { table_.copy[0](dst + box.at, box.pitch, 1, &yes, 0, 0, box.rows, box.cols); });
}

void Worker::store(const TileStep& step, const Tile& tile) {
  const MemoryAccess& r = access(step);
  const char* src = static_cast<const char*>(slots_[step.a]);
  void* memory = place(r, tile);
  if (src == memory) return;
  const auto lines = reinterpret_cast<std::uintptr_t>(memory) | reinterpret_cast<std::uintptr_t>(src) |
                     static_cast<std::uintptr_t>(tile.size() * r.bytes);
  if (r.stream && memory != nullptr && lines % 64 == 0) {
    table_.stream(memory, src, tile.size() * r.bytes);
    return;
  }
  const int log_bytes = r.same ? std::countr_zero(static_cast<unsigned>(r.bytes)) : 2;
  if (r.same &&
      r.walk.runs(tile, [&](const Pattern&, std::int64_t at, std::int64_t position, Pattern::Run run, std::int64_t n) {
        table_.put[log_bytes](address(launch_, r, position), src + (at << log_bytes), run.distances, n);
      }))
    return;
  r.walk.boxes(tile, [&](const Box& box) {
    if (r.stream && stream_box(launch_, r, box, src)) return;
    r.copy(address(launch_, r, box.position), box.row, box.col, src + (box.at << log_bytes), box.pitch, 1, box.rows,
           box.cols);
  });
}

}  // namespace oriel::backend::eigen
