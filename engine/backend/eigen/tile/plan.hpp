// A loop program prepared for the tile machine: registers, element functions and walks, all settled before the first
// launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/walk.hpp"
#include "backend/path.hpp"

namespace oriel::backend::eigen {

/// Index into the table of register pointers.
using Slot = std::int32_t;

/// Memory or register a step reaches through a walk.
struct MemoryAccess {
  AccessWalker walk;
  std::int32_t buffer = -1;
  std::int32_t bytes = 4;      // of one element in memory
  std::int64_t elements = 0;   // of the buffer, where there is one
  bool same = true;            // memory and register hold the same type: the tile may be used in place
  bool stream = false;         // a store to more than caches hold: past them
  bool own = false;            // a load that never stands in its place in memory: it is overwritten too early
  bool slack = false;          // a load that may read what lies behind its tile in its buffer: nobody writes there
  isa::CopyFn copy = nullptr;  // memory -> register for loads, register -> memory for stores
};

enum class StepKind : std::uint8_t { Compute, Chain, Copy, Fill, Load, Gather, Index, Valid, Store };

struct TileStep {
  StepKind kind = StepKind::Compute;
  std::int8_t log_bytes = 2;  // of an element of dst
  bool numbers = false;       // of b and c the first element alone is read
  Slot dst = 0;
  Slot a = 0;
  Slot b = 0;
  Slot c = 0;
  // Load, Gather, Index, Valid, Store; on Compute and Chain: the store that takes its result, or -1
  std::int32_t reach = -1;
  std::int32_t chain = -1;  // Chain: which one
  std::int32_t constant = -1;
  std::int64_t ahead = 0;  // Load: bytes from a tile in its place to one that is fetched into the caches meanwhile
  isa::ElementFn element = nullptr;
  isa::CopyFn copy = nullptr;
};

/// Operations in one pass: each takes the value before it and one operand, or the product of two.
struct Chain {
  struct Item {
    isa::Link op = isa::Link::Add;
    bool number = false;  // of the last operand the first element alone is read
    Slot x = 0;
    Slot y = -1;  // -1 where there is one operand
  };
  isa::ChainFn run = nullptr;
  Slot first = 0;
  std::vector<Item> items;
  /// Does some link read all elements of a register?
  bool reads(Slot slot) const noexcept;
};
/// Links of one chain, at most.
inline constexpr int kMostLinks = 16;

/// An outer value spread over the inner points before a stage's loops.
struct Broadcast {
  Slot from = 0;
  Slot to = 0;
  std::int8_t log_bytes = 2;
  bool number = false;  // none but the first element is read: nothing to spread
};

struct ReducePlan {
  const isa::ReduceFns* fns = nullptr;
  isa::RowFn row =
      nullptr;          // of plans whose tiles hold whole blocks of one row: sums what it computes from two operands
  bool number = false;  // the second of these is one number
  Slot input = 0;       // the first, where there is such a function
  Slot second = 0;
  Slot result = 0;
  std::int8_t log_bytes = 2;
  std::int64_t accumulator = 0;  // arena offset: kLanes * block values
  std::int64_t waiting = 0;      // arena offset: `levels` times block values
};

/// A value that a later stage reads again: it keeps one register for each tile of the row.
struct Kept {
  Slot slot = 0;
  std::int64_t offset = 0;  // arena offset of the first tile's register
  std::int64_t pitch = 0;   // bytes from one tile's to the next one's
};

struct StagePlan {
  bool loops = false;           // has inner work
  std::int64_t points = 1;      // inner points
  std::int64_t step = 1;        // inner points in a tile
  std::int64_t body_work = 0;   // element instructions an inner point
  std::int64_t outer_work = 0;  // and an outer one
  std::vector<Broadcast> broadcasts;
  std::vector<Kept> kept;  // written or read by the body
  std::vector<TileStep> body;
  std::vector<ReducePlan> reductions;
  std::vector<TileStep> outer;
};

/// A register filled once a launch and thread: a constant, or a load that is the same everywhere.
struct Pinned {
  Slot slot = 0;
  std::int8_t log_bytes = 2;
  std::int32_t constant = -1;
  std::int32_t reach = -1;
};

struct ConstantPlan {
  graph::Scalar value;
  DType dtype = DType::float32;
  std::int32_t parameter = -1;
};

struct ContractionPlan;
struct PartsPlan;
struct WindowsPlan;
struct SortPlan;

struct Plan final : Kernel {
  std::string name;
  KernelPath path = KernelPath::Nothing;  // decides which of the next three is run, and is what explain tells
  std::shared_ptr<const ContractionPlan> contraction;  // how it runs, where it is one that pays; else the rest says
  std::shared_ptr<const PartsPlan> parts;              // of a program of several parts: then there is no rest
  std::shared_ptr<const WindowsPlan> windows;          // the same for a reduction over windows
  std::shared_ptr<const SortPlan> sorting;             // of a program that sorts: then there is no rest
  const isa::Table* table = nullptr;
  bool columns = false;
  bool streams = false;  // some store goes past the caches
  bool keeps = false;    // some value is kept from stage to stage: a row belongs to one thread
  std::size_t arguments = 0;
  std::size_t parameters = 0;
  std::int64_t points = 1;  // outer points
  std::int64_t block = 1;   // outer points worked on at a time
  std::int64_t blocks = 1;
  // Where an operand of a program without inner loops runs across the others, blocks are boxes: grid_rows points of the
  // loops before axis grid_split by grid_cols points of those behind it; where rows of memory do not follow each other,
  // parts of one row (grid_rows 1). grid_split is 0 for blocks of successive points.
  std::size_t grid_split = 0;
  std::int64_t grid_rows = 1;
  std::int64_t grid_cols = 1;
  std::int64_t slow_points = 1;
  std::int64_t fast_points = 1;
  std::int64_t pinned_length = 0;  // elements of a pinned register that are filled
  double work = 0;                 // element instructions, whole kernel
  std::vector<StagePlan> stages;
  std::vector<MemoryAccess> reaches;
  std::vector<Chain> chains;
  std::vector<Pinned> pinned;
  std::vector<ConstantPlan> constants;
  std::vector<std::uint64_t> constant_bytes;  // of those that are no parameters
  std::vector<std::int64_t> offsets;          // arena offset of each slot
  std::int64_t arena_bytes = 0;
};

/// A program without inner loops whose tiles come from outside: up to `tile` elements, slow points of the loops before
/// axis `split` by fast ones of those behind it.
struct TileFrame {
  std::size_t split = 0;
  std::int64_t tile = 0;
  codegen::ValueId given = codegen::kNoValue;   // comes from outside: its slot is set before each tile
  codegen::ValueId wanted = codegen::kNoValue;  // is taken from its slot after each tile
};
struct FramedPlan {
  std::shared_ptr<const Plan> plan;
  Slot slot = 0;  // of the value given or wanted
};
FramedPlan make_framed_plan(const codegen::LoopProgram& program, const isa::Table& table, const TileFrame& frame);

/// The plan for the tile machine alone. `tile` is the number of elements in a tile: a multiple of isa::kPacket, 0 for
/// the default. With `rows`, one for Worker::run_rows alone: tiles of so many outer points by up to `tile` inner ones.
std::shared_ptr<Plan> make_tile_plan(const codegen::LoopProgram& program, const isa::Table& table, std::int64_t tile,
                                     std::int64_t rows = 0);

/// The plan of a program: as parts, as a contraction or a reduction over windows where it is one and it pays.
std::shared_ptr<const Plan> make_plan(const codegen::LoopProgram& program, const isa::Table& table, std::int64_t tile);

/// The bytes of `value` as a register of `dtype` holds it.
std::uint64_t register_bytes(const graph::Scalar& value, DType dtype);

}  // namespace oriel::backend::eigen
