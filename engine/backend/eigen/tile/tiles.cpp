#include "backend/eigen/tile/tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "backend/eigen/tile/processor.hpp"
#include "codegen/definitions.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Instr;
using codegen::kNoValue;
using codegen::Stage;
using codegen::ValueId;

namespace {

constexpr std::int64_t kDefaultTile = 1024;
constexpr std::int64_t kSmallestTile = 256;
// Registers of one thread should stay well inside its second-level cache.
constexpr std::int64_t kRegisterBudget = std::int64_t{512} * 1024;
// Side of a square block of points: two lines of float32.
constexpr std::int64_t kGridSide = 32;
// Rows of at most this length are taken whole; longer ones are cut to squares.
constexpr std::int64_t kWholeRow = 64;
// Rows this short would leave most lanes idle, so neighbouring rows are processed side by side. The bits are the same.
constexpr std::int64_t kShortRow = 8;
// The most bytes of live values beside the lanes of columns.
constexpr std::int64_t kLiveColumns = std::int64_t{64} * 1024;
// Rows of this length and more are transposed in squares while they are loaded, in blocks of so many rows.
constexpr std::int64_t kTransposedRow = 4;
constexpr std::int64_t kTransposedBlock = 256;
// From so many points on, threads share a reduction's points, so columns need not form many blocks.
constexpr std::int64_t kManyRows = 4 * isa::kBlock;

// The elements of rows that are only copied.
constexpr std::int64_t kGatheredTile = 4096;
// The elements of rows in memory that are reduced side by side.
constexpr std::int64_t kRowsTile = std::int64_t{16} * 1024;
// Parts of rows shorter than this cost more to start than to copy.
constexpr std::int64_t kLeastRow = 96;

std::int64_t product(const Ints& extents) { return numel(extents, "compile").value(); }

std::int64_t parts(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

// The length of the equal parts of at most so many points into which a row is cut; packets fill all but the last.
std::int64_t part_of_row(std::int64_t row, std::int64_t most) {
  return parts(parts(row, parts(row, most)), isa::kPacket) * isa::kPacket;
}

}  // namespace

std::int64_t Tiler::run(std::int64_t tile) {
  plan_->columns = program_.orientation == codegen::Orientation::Outer;
  plan_->points = product(program_.outer);
  choose_tile(tile);
  choose_grid();
  return tile_length_;
}

// A long row that is read with a stride in every row of the result: a block of its columns is gathered once.
void Tiler::choose_columns() {
  const std::size_t last = program_.outer.size() - 1;
  const std::int64_t row = program_.outer[last].value(), rows = plan_->points / std::max<std::int64_t>(row, 1);
  constexpr std::int64_t fewest = 4;
  if (row <= plan_->block || rows < fewest) return;
  const bool strided = std::any_of(program_.accesses.begin(), program_.accesses.end(), [&](const Access& access) {
    return period_of(access, program_.outer.size()) == row && std::abs(access.coefficient(last)) > 1;
  });
  if (!strided) return;
  plan_->down = true;
  plan_->period = row;
  lay_grid(last, rows, 1, part_of_row(row, plan_->block));
}

// Tiles of so many rows and columns, where axes before `split` are the rows.
void Tiler::lay_grid(std::size_t split, std::int64_t slow_points, std::int64_t rows, std::int64_t cols) {
  plan_->grid_split = split;
  plan_->slow_points = slow_points;
  plan_->fast_points = plan_->points / slow_points;
  plan_->grid_rows = rows;
  plan_->grid_cols = cols;
  plan_->blocks = parts(slow_points, rows) * parts(plan_->fast_points, cols);
}

std::int64_t Tiler::lay_rows(std::int64_t rows, std::int64_t points) {
  plan_->points = product(program_.outer);
  plan_->block = rows;
  for (const Stage& stage : program_.stages) {
    TileStage s;
    s.loops = !stage.body.empty() || !stage.reductions.empty();
    s.points = s.step = s.loops ? points : 1;
    plan_->stages.push_back(std::move(s));
  }
  plan_->pinned_length = (rows * points + 15) / 16 * 16;
  return rows * points;
}

// Are all values of the loops elements of memory?
bool Tiler::reads_alone() const {
  return std::all_of(program_.stages.begin(), program_.stages.end(), [](const Stage& stage) {
    return std::all_of(stage.body.begin(), stage.body.end(),
                       [](const Instr& in) { return in.code == codegen::Code::Load; }) &&
           !stage.reductions.empty();
  });
}

// Does each stage of loops that only read memory reduce one matrix?
bool Tiler::reads_matrices() const {
  return std::all_of(program_.stages.begin(), program_.stages.end(), [this](const Stage& stage) {
    if (stage.body.empty()) return true;
    const Access& access = program_.accesses[static_cast<std::size_t>(stage.body.front().aux)];
    return stage.body.size() == 1 && AccessWalker(access, program_.outer.size(), false).matrix();
  });
}

// Are all loops rows of a few elements without gaps? Then tiles hold whole rows, as they lie. The profile small has no
// loops for these.
bool Tiler::keeps_tiny_rows(std::int64_t points) const {
  if (plan_->table->accumulate_rows[0][index(DType::float32)] == nullptr) return false;
  const std::size_t outer = program_.outer.size();
  bool in_place = false;
  for (const Stage& stage : program_.stages) {
    if (stage.body.empty() && stage.reductions.empty()) continue;
    if (stage.inner.empty() || product(stage.inner) != points || stage.inner.back() != points) return false;
    for (const codegen::Reduction& r : stage.reductions)
      if (points > 4 && log_bytes_of(r.dtype) == 3) return false;  // a vector holds too few of these
    for (const Instr& in : stage.body) {
      if (!codegen::reads(in) || in.code == codegen::Code::Index) continue;
      const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
      if (in.code == codegen::Code::Gather) continue;
      if (in.code != codegen::Code::Load || !access.affine() || access.boxed()) return false;
      if (access.loops() == outer || access.coefficient(access.loops() - 1) == 0) continue;
      const AccessWalker walk(access, outer, false);
      if (!walk.matrix() || walk.pitch() != points) return false;
      in_place = true;
    }
  }
  return in_place;
}

// Does memory run along short rows that are processed side by side? Then blocks hold whole rows.
bool Tiler::transposes_rows() const {
  const std::size_t outer = program_.outer.size();
  return outer > 0 && std::any_of(program_.stages.begin(), program_.stages.end(), [&](const Stage& stage) {
           if (stage.inner.empty() || product(stage.inner) < kTransposedRow) return false;
           return std::any_of(stage.body.begin(), stage.body.end(), [&](const Instr& in) {
             if (in.code != codegen::Code::Load) return false;
             const Access& access = program_.accesses[static_cast<std::size_t>(in.aux)];
             const std::size_t last = access.loops() - 1;
             return last >= outer && access.affine() && access.coefficient(last) == 1 &&
                    access.extent(last) >= kTransposedRow && access.coefficient(outer - 1) != 1 &&
                    access.coefficient(outer - 1) != 0;
           });
         });
}

void Tiler::choose_tile(std::int64_t tile) {
  std::int64_t longest = 0;
  for (const Stage& stage : program_.stages) {
    TileStage s;
    s.points = product(stage.inner);
    s.loops = !stage.body.empty() || !stage.reductions.empty();
    if (s.loops) longest = std::max(longest, s.points);
    plan_->stages.push_back(std::move(s));
  }
  if (longest <= kShortRow) plan_->columns = !keeps_tiny_rows(longest);
  bool matrices = false;
  if (tile <= 0) {
    // Live registers are at most what the widest point of a straight-line body needs; the count is taken cheaply.
    const bool reads = !plan_->columns && reads_alone();
    matrices = reads && reads_matrices();
    tile = matrices         ? std::max(processor().read_tile, kRowsTile)
           : reads          ? processor().read_tile
           : lookups_.alone ? kGatheredTile
                            : kDefaultTile;
    std::int64_t bytes = 0;
    for (const Stage& stage : program_.stages) {
      bytes = std::max(bytes, widest(stage.body));
      bytes = std::max(bytes, widest(stage.outer));
    }
    while (tile > kSmallestTile && bytes * tile > kRegisterBudget) tile /= 2;
  }
  if (longest == 0 || plan_->columns) {
    plan_->block = std::min(tile, plan_->points);
    if (longest <= kShortRow && transposes_rows()) {
      plan_->block = std::min(kTransposedBlock, plan_->block);
      tile = std::max(tile, plan_->block * longest);
    }
  } else {
    plan_->block = std::min(std::max<std::int64_t>(1, tile / longest), plan_->points);
  }
  plan_->block = std::max<std::int64_t>(plan_->block, 1);
  if (plan_->columns && longest >= kManyRows) widen_columns();
  for (TileStage& s : plan_->stages) {
    s.step = plan_->columns ? std::max<std::int64_t>(1, tile / plan_->block) : tile;
    s.step = std::max<std::int64_t>(1, std::min(s.step, s.points));
    if (s.loops) tile_length_ = std::max(tile_length_, s.step * plan_->block);
    if (!plan_->columns && plan_->block > 1) tile_length_ = std::max(tile_length_, s.points * plan_->block);
  }
  // Loops that only reduce a matrix use no constants.
  const std::int64_t pinned = matrices ? plan_->block : std::max(tile_length_, plan_->block);
  plan_->pinned_length = (pinned + 15) / 16 * 16;
}

// For a matrix whose many rows are reduced: columns are read to the end of the rows, and the lanes stay in the
// second-level cache.
void Tiler::widen_columns() {
  std::int64_t lane_bytes = 0;
  std::int64_t live_bytes = 0;
  for (const Stage& stage : program_.stages) {
    std::int64_t lanes = 0;
    for (const codegen::Reduction& r : stage.reductions)
      lanes += isa::kLanes * (std::int64_t{1} << log_bytes_of(r.dtype));
    lane_bytes = std::max(lane_bytes, lanes);
    live_bytes = std::max(live_bytes, widest(stage.body));
  }
  std::int64_t wide = plan_->block;
  const Processor& p = processor();
  while (2 * wide <= p.widest_columns && 2 * wide * lane_bytes <= p.lane_bytes && 2 * wide * live_bytes <= kLiveColumns)
    wide *= 2;
  plan_->block = std::min(wide, plan_->points);
}

// The first outer axis along which some access walks memory while the access jumps along the last axis. Blocks of
// successive points would touch a cache line for each element, and touch it again after the caches have lost it.
void Tiler::choose_grid() {
  plan_->blocks = parts(plan_->points, plan_->block);
  const bool loops =
      std::any_of(plan_->stages.begin(), plan_->stages.end(), [](const TileStage& s) { return s.loops; });
  const std::size_t rank = program_.outer.size();
  if (lookups_.rows) return choose_gathered_rows();
  if (loops || rank < 2 || plan_->block < kGridSide * kGridSide) return;
  for (const Access& access : program_.accesses) {
    const std::int64_t last = access.coefficient(rank - 1);
    if (access.buffer < 0 || std::abs(last) < kGridSide || access.extent(rank - 1) < kGridSide) continue;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      if (std::abs(access.coefficient(d)) != 1 || access.extent(d) < kGridSide) continue;
      const std::int64_t slow =
          product(Ints(program_.outer.begin(), program_.outer.begin() + static_cast<std::ptrdiff_t>(d) + 1));
      const std::int64_t fast = plan_->points / slow;
      // Whole rows are contiguous for operands that walk along them.
      const std::int64_t cols = fast <= kWholeRow ? fast : kGridSide;
      return lay_grid(d + 1, slow, std::min(slow, plan_->block / cols), cols);
    }
  }
  choose_rows();
  if (plan_->grid_split == 0) choose_period();
}

std::int64_t period_of(const Access& access, std::size_t outer) {
  if (access.buffer < 0 || !access.affine() || access.boxed() || access.loops() != outer) return 0;
  std::size_t first = 0;
  while (first < outer && (access.coefficient(first) == 0 || access.extent(first) == 1)) ++first;
  std::int64_t repeats = 1, period = 1;
  for (std::size_t d = 0; d < outer; ++d) (d < first ? repeats : period) *= access.extent(d);
  return repeats > 1 && period > 1 ? period : 0;
}

// A row of numbers that is added to each row of a matrix is the same in all blocks of whole rows.
void Tiler::choose_period() {
  // Parts that share rows begin at any row.
  if (std::any_of(program_.arguments.begin(), program_.arguments.end(), [](const auto& a) { return a.local; })) return;
  for (const Access& access : program_.accesses) {
    const std::int64_t period = period_of(access, program_.outer.size());
    const std::int64_t unit = period == 0 ? 0 : std::lcm(period, isa::kPacket);
    if (unit == 0 || unit > plan_->block || period <= plan_->period) continue;
    plan_->period = period;
  }
  if (plan_->period == 0) return choose_columns();
  const std::int64_t unit = std::lcm(plan_->period, isa::kPacket);
  plan_->block =
      plan_->block / unit * unit;  // NOLINT(clang-analyzer-core.DivideZero): the least multiple of two positive numbers
  plan_->blocks = parts(plan_->points, plan_->block);
  plan_->pinned_length = std::max(tile_length_, plan_->block);
}

// Rows that are gathered: a tile is whole rows, or a part of one row.
void Tiler::choose_gathered_rows() {
  const std::size_t last = program_.outer.size() - 1;
  const std::int64_t row = program_.outer[last].value();
  plan_->slow_points = plan_->points / row;
  plan_->fast_points = row;
  // A program with a single loop has one row.
  if (last == 0) return;
  const std::int64_t cols = std::min(row, plan_->block);
  lay_grid(last, plan_->slow_points, std::min(plan_->slow_points, plan_->block / cols), cols);
}

// If rows of memory are not adjacent, as in an image whose border is left out, a tile of successive points would be
// contiguous in no operand. So a tile is a part of one row, which is contiguous in each operand.
void Tiler::choose_rows() {
  const std::size_t last = program_.outer.size() - 1;
  const std::int64_t row = program_.outer[last].value();
  if (row < kLeastRow) return;
  const bool broken = std::any_of(program_.accesses.begin(), program_.accesses.end(), [&](const Access& access) {
    if (access.buffer < 0 || !access.affine()) return false;
    if (program_.arguments[static_cast<std::size_t>(access.buffer)].output) return false;
    const std::int64_t next_row = access.coefficient(last - 1);
    return access.coefficient(last) == 1 && next_row != 0 && next_row != row;
  });
  if (broken) lay_grid(last, plan_->points / row, 1, part_of_row(row, plan_->block));
}

// The most bytes for each element of all values that are live at once.
std::int64_t Tiler::widest(const std::vector<Instr>& list) const {
  std::vector<std::int32_t> last(program_.values.size(), -1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const ValueId v : {list[i].a, list[i].b, list[i].c}) {
      if (v != kNoValue) last[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(i);
    }
  }
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Instr& in = list[i];
    if (in.result != kNoValue) now += std::int64_t{1} << log_bytes(in.result);
    most = std::max(most, now);
    const ValueId operands[] = {in.a, in.b, in.c};
    for (int k = 0; k < 3; ++k) {
      const ValueId v = operands[k];
      if (v == kNoValue || std::find(operands, operands + k, v) != operands + k) continue;
      if (last[static_cast<std::size_t>(v)] == static_cast<std::int32_t>(i)) now -= std::int64_t{1} << log_bytes(v);
    }
  }
  return most;
}

}  // namespace oriel::backend::eigen
