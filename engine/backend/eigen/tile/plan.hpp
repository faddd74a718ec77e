// A loop program prepared for the tile machine. Registers, element functions and walks are chosen before the first
// launch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/eigen/tile/walk.hpp"
#include "backend/path.hpp"

namespace oriel::backend::eigen {

/// Index into the table of register pointers.
using Slot = std::int32_t;

/// Memory that a step accesses through a walk.
struct MemoryAccess {
  AccessWalker walk;
  std::int32_t buffer = -1;
  std::int32_t bytes = 4;      // of one element in memory
  std::int64_t elements = 0;   // of the buffer, if there is one
  bool same = true;            // memory and register hold the same type: the tile may be used in place
  bool stream = false;         // a store of more than the caches hold: bypass the caches
  bool own = false;            // copy the tile to a register first: its memory is overwritten before the last use
  bool slack = false;          // the load may read beyond its tile, because nobody writes there
  isa::CopyFn copy = nullptr;  // memory -> register for loads, register -> memory for stores
};

enum class StepKind : std::uint8_t { Compute, Chain, Patch, Copy, Fill, Load, Gather, Index, Valid, Store };

struct TileStep {
  StepKind kind = StepKind::Compute;
  std::int8_t log_bytes = 2;  // of an element of dst
  bool numbers = false;       // only the first elements of b and c are read
  bool starts = false;        // for the first point of each row of the tile only
  Slot dst = 0;
  Slot a = 0;
  Slot b = 0;
  Slot c = 0;
  // Load, Index, Valid, Store: the access. Compute, Chain, Patch, Gather: the store that takes the result, or -1.
  std::int32_t access = -1;
  std::int32_t chain = -1;  // Chain, Patch, Gather: index into `chains`, `patches` or `gathers`
  std::int32_t constant = -1;
  std::int64_t ahead = 0;  // Load: bytes from a tile in place to the tile that is prefetched meanwhile
  isa::ElementFn element = nullptr;
  isa::CopyFn copy = nullptr;
};

/// Operations in one pass. Each takes the value so far and one operand, or the product of two.
struct Chain {
  struct Item {
    isa::Link op = isa::Link::Add;
    bool is_uniform = false;  // only the first element of the last operand is read
    Slot x = 0;
    Slot y = -1;  // -1 if there is only one operand
  };
  isa::ChainFn run = nullptr;
  Slot first = 0;
  std::vector<Item> items;
  /// Does a link read all elements of this register?
  bool reads(Slot slot) const noexcept;
};
/// The most links of a chain.
inline constexpr int kMostLinks = 16;

/// Parts of memory that fill a tile (patches.hpp).
struct Patch {
  std::vector<std::int32_t> loads;  // accesses of the plan; no two have an element at the same point
  bool based = false;               // the elements beside them are those of operand a; else 0
  bool whole = false;               // nothing is beside them
};

/// Elements, or whole rows, at positions that are data (lookups.hpp). The step's operand a holds keys, b what is added
/// to the positions that they stand for, and c, of which one element is read, a condition of theirs.
struct Gather {
  struct Step {  // value 0 is the key; step i computes value i + 1
    graph::Op op = graph::Op::Add;
    std::int32_t a = 0;  // Const: a constant of the plan
    std::int32_t b = 0;
    std::int32_t c = 0;
  };
  std::vector<Step> steps;
  std::int32_t access = -1;  // the memory that is read
  std::int64_t width = 1;    // the elements of a row
  std::int64_t column = 0;   // what is added to its position
  bool wide = true;          // keys are int64, else int32
  bool rest = false;         // there is an operand b
  bool rows = false;         // rows of the tile are read
  bool key_starts = false;   // of rows: the registers hold only what is of the first points of rows
  bool rest_starts = false;
};

/// An outer value that is spread over the inner points before a stage's loops.
struct Broadcast {
  Slot from = 0;
  Slot to = 0;
  std::int8_t log_bytes = 2;
  bool is_uniform = false;  // only the first element is read, so nothing is spread
};

struct TileReduction {
  const isa::ReduceFns* fns = nullptr;
  isa::AccumulateRowsFn accumulate_rows = nullptr;
  /// Sums values that it computes from two operands, where row_sums says so. Else null.
  isa::SumFns sum;
  isa::MomentFns moments;     // if they are there, its pass also computes the sum of squares of reduction `squares`
  std::int32_t squares = -1;  // index into the stage's reductions
  bool computed = false;      // by the pass of another reduction
  bool is_uniform = false;    // the second operand is one number for each outer point
  Slot input = 0;             // the first operand if it computes what it sums
  Slot second = 0;
  Slot result = 0;
  std::int8_t log_input = 2;     // bytes of an element of the operands, unless one is uniform
  std::int8_t log_bytes = 2;     // of the result
  std::int64_t accumulator = 0;  // arena offset: kLanes * block values
  std::int64_t waiting = 0;      // arena offset: `levels` times block values
};

/// A value that a later stage reads again. It has one register for each tile of the row.
struct Kept {
  Slot slot = 0;
  std::int64_t offset = 0;  // arena offset of the first tile's register
  std::int64_t pitch = 0;   // bytes from the register of one tile to that of the next
};

struct TileStage {
  bool loops = false;           // has inner work
  std::int64_t points = 1;      // inner points
  std::int64_t step = 1;        // inner points in a tile
  std::int64_t body_work = 0;   // element instructions for each inner point
  std::int64_t outer_work = 0;  // element instructions for each outer point
  std::vector<Broadcast> broadcasts;
  std::vector<Kept> kept;  // written or read by the body
  std::vector<TileStep> body;
  std::vector<TileReduction> reductions;
  std::vector<TileStep> outer;
  // If the loops only reduce a matrix in memory: the access. It is read where it lies, with no tile between.
  std::int32_t direct = -1;
};

/// A register that is filled once for each launch and thread: a constant, or a load that is the same everywhere.
struct Pinned {
  Slot slot = 0;
  std::int8_t log_bytes = 2;
  std::int32_t constant = -1;
  std::int32_t access = -1;
};

struct TileConstant {
  graph::Scalar value;
  DType dtype = DType::float32;
  std::int32_t parameter = -1;
};

struct ContractionPlan;
struct PartsPlan;
struct WindowsPlan;

/// The plan of a path that a program may have by use (base/by_use.hpp): of a sort, a scan, a scatter, a call of the
/// host (one_op.hpp), or of small products.
struct PathPlan {
  virtual ~PathPlan() = default;
  /// The estimated time of its arithmetic on one core.
  virtual double nanoseconds() const = 0;
  /// How it runs, in words; `program` is the one that it was made of.
  virtual std::string describe(const codegen::LoopProgram& program) const = 0;
  virtual void run(const Team& threads, std::span<void* const> arguments,
                   std::span<const graph::Scalar> parameters) const = 0;
};
/// May return null, of small products: other paths suit the program better.
using MakePathPlan = std::shared_ptr<const PathPlan> (*)(const codegen::LoopProgram& program, const isa::Table& table);
/// What makes the plans of one of these paths; null if the program does not have the path.
MakePathPlan path_planner(KernelPath path) noexcept;

struct Plan final : Kernel {
  std::string name;
  KernelPath path = KernelPath::Nothing;               // selects one of the next members; explain reports it
  std::shared_ptr<const ContractionPlan> contraction;  // null unless the program runs as a contraction
  std::shared_ptr<const PartsPlan> parts;              // null unless the program has several parts
  std::shared_ptr<const WindowsPlan> windows;          // null unless it runs as a reduction over windows
  std::shared_ptr<const PathPlan> by_use;              // null unless it has one of the paths of a PathPlan
  const isa::Table* table = nullptr;
  bool columns = false;
  bool streams = false;  // does a store bypass the caches?
  bool keeps = false;    // is a value kept between stages? Then one thread does a whole row
  std::size_t arguments = 0;
  std::size_t parameters = 0;
  std::int64_t points = 1;  // outer points
  std::int64_t block = 1;   // outer points worked on at a time
  std::int64_t blocks = 1;
  // If an operand of a program without inner loops runs across the others, blocks are boxes: grid_rows points of the
  // loops before axis grid_split by grid_cols points of the loops after it. If rows are not adjacent in memory, blocks
  // are parts of one row (grid_rows 1). If blocks are successive points, grid_split is 0.
  std::size_t grid_split = 0;
  std::int64_t grid_rows = 1;
  std::int64_t grid_cols = 1;
  std::int64_t slow_points = 1;
  std::int64_t fast_points = 1;
  std::int64_t pinned_length = 0;  // elements of a pinned register that are filled
  double work = 0;                 // element instructions of the whole kernel
  std::vector<TileStage> stages;
  std::vector<MemoryAccess> accesses;
  std::vector<Chain> chains;
  std::vector<Patch> patches;
  std::vector<Gather> gathers;
  std::vector<Pinned> pinned;
  // If not 0, a block is a multiple of this many points, after which some loads repeat. They are done once for each
  // launch and thread, for the points of a block.
  std::int64_t period = 0;
  // If a row is longer than a block, blocks follow each other down the rows, and these loads are done again for the
  // next columns.
  bool down = false;
  std::vector<TileStep> repeated;
  std::vector<TileConstant> constants;
  std::vector<std::uint64_t> constant_bytes;  // of constants that are not parameters
  std::vector<std::int64_t> offsets;          // arena offset of each slot
  std::int64_t arena_bytes = 0;
};

/// A program without inner loops that a caller runs tile by tile. A tile has up to `tile` elements: slow points of the
/// loops before axis `split` by fast points of the loops after it.
struct TileFrame {
  std::size_t split = 0;
  std::int64_t tile = 0;
  codegen::ValueId given = codegen::kNoValue;   // set by the caller: its slot is filled before each tile
  codegen::ValueId wanted = codegen::kNoValue;  // read by the caller from its slot after each tile
};
struct FramedPlan {
  std::shared_ptr<const Plan> plan;
  Slot slot = 0;  // the slot of the value that is given or wanted
};
FramedPlan make_framed_plan(const codegen::LoopProgram& program, const isa::Table& table, const TileFrame& frame);

/// The plan that uses only the tile machine. `tile` is the number of elements in a tile: a multiple of isa::kPacket, or
/// 0 for the default. With `rows`, the plan is for Worker::run_rows only: tiles of this many outer points by up to
/// `tile` inner points.
std::shared_ptr<Plan> make_tile_plan(const codegen::LoopProgram& program, const isa::Table& table, std::int64_t tile,
                                     std::int64_t rows = 0);

/// The plan of a program: in parts, or as a contraction or a reduction over windows if it is one and that pays, else
/// for the tile machine.
std::shared_ptr<const Plan> make_plan(const codegen::LoopProgram& program, const isa::Table& table, std::int64_t tile);

/// The bytes of `value` as a register of `dtype` holds it.
std::uint64_t register_bytes(const graph::Scalar& value, DType dtype);

}  // namespace oriel::backend::eigen
