// One thread's work on one launch of a plan.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/eigen/tile/plan.hpp"

namespace oriel::backend::eigen {

/// A range of keys on which the position is one line: factor * key + offset.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = -1;
  std::int64_t factor = 0;
  std::int64_t offset = 0;
  bool inside = false;  // whole rows at these positions are in memory, unless something is added to them
};
struct Launch {
  const Plan& plan;
  std::span<void* const> arguments;
  const std::uint64_t* constants;  // in the form in which registers hold them
};

/// A launch with its constants: those of the plan, with the parameters of this launch filled in.
class BoundLaunch {
 public:
  BoundLaunch(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters);
  BoundLaunch(const BoundLaunch&) = delete;
  BoundLaunch& operator=(const BoundLaunch&) = delete;
  const Launch& launch() const noexcept { return launch_; }

 private:
  std::vector<std::uint64_t> filled_;
  Launch launch_;
};

/// Block number `which` of a thread's memory, at least `bytes` long and aligned to a page. It lives as long as the
/// thread, so launches do not allocate. Each worker is given its own numbers.
char* thread_memory(int which, std::int64_t bytes);
inline constexpr int kFirstPartMemory = 8;  // programs of several parts use the numbers from here on
inline constexpr int kThreadMemories = 108;

/// Thread safety: none. Each thread has its own workers, and only one at a time for each `which`.
class Worker {
 public:
  explicit Worker(const Launch& launch, int which = 0);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  const Plan& plan() const noexcept { return plan_; }
  void** slots() const noexcept { return slots_; }

  /// Runs all stages for one block of outer points.
  void run_block(std::int64_t b);
  /// Runs all stages for outer points [first, first + n) of a plan whose blocks are not boxes.
  void run_points(std::int64_t first, std::int64_t n);
  void run_outer(const TileStage& stage, std::int64_t first, std::int64_t n) {
    run_steps(stage.outer, {0, 1, first, n});
  }
  /// Runs inner points [begin, end) of a stage for a block of outer points. If `outer` (the slots of another worker) is
  /// given, outer values are read from it. If `partial` is given, results go to it, one array of a block for each
  /// reduction.
  void run_loops(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end,
                 void* const* outer, char* partial);
  /// Runs inner points [begin, begin + count) of a stage for n rows that one tile holds together. If the stage has a
  /// reduction, its result for each row goes to `result`.
  void run_rows(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t count,
                void* result);
  /// Runs all stages of a plan without loops for one tile.
  void run_tile(const Tile& tile) {
    for (const TileStage& stage : plan_.stages) run_steps(stage.outer, tile);
  }
  /// The same for `all`, a tile of at most `most` elements at a time. The given value, of slot `slot`, lies at `data`
  /// in rows that are `pitch` elements of 1 << log_bytes bytes apart.
  void run_given(Slot slot, char* data, std::int64_t pitch, int log_bytes, const Tile& all, std::int64_t most);
  /// Copies the elements that a load's tile reads to dst, element (i, j) at i * cols + j. Invalid elements become 0.
  void gather(const TileStep& step, const Tile& tile, void* dst) const;

 private:
  /// Reduces inner points [begin, end) of n rows or columns of a matrix, where it lies in memory.
  void reduce_memory(const TileStage& stage, std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end,
                     void* result) const;
  /// Reduces elements [from, from + count) of rows in a tile. If there are several rows, these are all their elements.
  void reduce_rows(const TileReduction& r, std::int64_t rows, std::int64_t from, std::int64_t count,
                   void* result) const;
  /// The same for a sum and a sum of squares at once.
  void reduce_moments(const TileReduction& r, std::int64_t rows, std::int64_t from, std::int64_t count, void* sums,
                      void* squares) const;
  void spread_outer_values(const TileStage& stage, void* const* outer, std::int64_t n);
  /// Points the kept values of a stage at the registers of a tile of the row.
  void take_kept(const TileStage& stage, std::int64_t tile);

  /// Does the loads that several tiles share for this one.
  void repeat(const Tile& tile);
  void run_steps(const std::vector<TileStep>& steps, const Tile& tile);
  void run_step(const TileStep& step, const Tile& tile);
  void run_chain(const TileStep& step, const Tile& tile) const;
  void patch(const TileStep& step, const Tile& tile);
  void load(const TileStep& step, const Tile& tile);
  void look_up(const TileStep& step, const Tile& tile);
  void index(const TileStep& step, const Tile& tile);
  void valid(const TileStep& step, const Tile& tile);
  void store(const TileStep& step, const Tile& tile);

  /// The access of a step or of a gather.
  template <class S>
  const MemoryAccess& access(const S& step) const {
    return plan_.accesses[static_cast<std::size_t>(step.access)];
  }
  void* own_register(Slot slot) const { return arena_ + plan_.offsets[static_cast<std::size_t>(slot)]; }
  KeyRange trace(const TileStep& step, std::int64_t key) const;
  /// The tile's address if the tile is contiguous in memory and has the register's type; else null.
  void* place(const MemoryAccess& r, const Tile& tile) const;
  void* destination(const TileStep& step, const Tile& tile) const;

  const Launch& launch_;
  const Plan& plan_;
  const isa::Table& table_;
  char* arena_ = nullptr;
  void** slots_ = nullptr;
  std::vector<std::array<KeyRange, 2>> known_keys_;  // of each gather, those that were met last
  std::int64_t columns_ = -1;                        // whose loads are in the registers, of blocks down the rows
};

inline std::int64_t whole_packets(std::int64_t n) { return (n + isa::kPacket - 1) / isa::kPacket * isa::kPacket; }

inline void* address(const Launch& launch, const MemoryAccess& r, std::int64_t position) {
  return static_cast<char*>(launch.arguments[static_cast<std::size_t>(r.buffer)]) + position * r.bytes;
}

/// The address of n elements from `position` on, if a register may stand for them: they are whole packets of the
/// register's type; else null. The last packet of a load may include what lies beyond them.
inline void* in_place(const Launch& launch, const MemoryAccess& r, std::int64_t position, std::int64_t n) {
  if (!r.same || r.own || position < 0 || (n % isa::kPacket != 0 && !r.slack)) return nullptr;
  if (n % isa::kPacket != 0 && position + whole_packets(n) > r.elements) return nullptr;
  return address(launch, r, position);
}
inline void* in_place(const Launch& launch, const MemoryAccess& r, const Tile& tile) {
  if (!r.same || r.own || (tile.size() % isa::kPacket != 0 && !r.slack)) return nullptr;
  return in_place(launch, r, r.walk.in_place(tile), tile.size());
}

}  // namespace oriel::backend::eigen
