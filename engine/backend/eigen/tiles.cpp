#include "backend/eigen/tiles.hpp"

#include <algorithm>
#include <cstdlib>

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
constexpr std::int64_t kRegisterBudget = 512 * 1024;
// Side of a square block of points: two lines of float32.
constexpr std::int64_t kGridSide = 32;
// Rows up to this long leave a line of float32 the other way.
constexpr std::int64_t kWholeRow = 64;
// Rows this short leave most lanes idle: neighbouring rows are taken side by side instead. The bits are the same.
constexpr std::int64_t kShortRow = 8;
std::int64_t product(const Ints& extents) { return numel(extents, "compile").value(); }

}  // namespace

std::int64_t Tiler::run(std::int64_t tile) {
  plan_->columns = program_.orientation == codegen::Orientation::Outer;
  plan_->points = product(program_.outer);
  choose_tile(tile);
  choose_grid();
  return tile_length_;
}

std::int64_t Tiler::lay_rows(std::int64_t rows, std::int64_t points) {
  plan_->points = product(program_.outer);
  plan_->block = rows;
  for (const Stage& stage : program_.stages) {
    StagePlan s;
    s.loops = !stage.body.empty() || !stage.reductions.empty();
    s.points = s.step = s.loops ? points : 1;
    plan_->stages.push_back(std::move(s));
  }
  plan_->pinned_length = (rows * points + 15) / 16 * 16;
  return rows * points;
}

void Tiler::choose_tile(std::int64_t tile) {
  if (tile <= 0) {
    // Live registers are at most what the widest point of a straight-line body needs; the count is taken cheaply.
    tile = kDefaultTile;
    std::int64_t bytes = 0;
    for (const Stage& stage : program_.stages) {
      bytes = std::max(bytes, widest(stage.body));
      bytes = std::max(bytes, widest(stage.outer));
    }
    while (tile > kSmallestTile && bytes * tile > kRegisterBudget) tile /= 2;
  }
  std::int64_t longest = 0;
  for (const Stage& stage : program_.stages) {
    StagePlan s;
    s.points = product(stage.inner);
    s.loops = !stage.body.empty() || !stage.reductions.empty();
    if (s.loops) longest = std::max(longest, s.points);
    plan_->stages.push_back(std::move(s));
  }
  if (longest <= kShortRow) plan_->columns = true;
  if (longest == 0 || plan_->columns) {
    plan_->block = std::min(tile, plan_->points);
  } else {
    plan_->block = std::min(std::max<std::int64_t>(1, tile / longest), plan_->points);
  }
  plan_->block = std::max<std::int64_t>(plan_->block, 1);
  for (StagePlan& s : plan_->stages) {
    s.step = plan_->columns ? std::max<std::int64_t>(1, tile / plan_->block) : tile;
    s.step = std::max<std::int64_t>(1, std::min(s.step, s.points));
    if (s.loops) tile_length_ = std::max(tile_length_, s.step * plan_->block);
    if (!plan_->columns && plan_->block > 1) tile_length_ = std::max(tile_length_, s.points * plan_->block);
  }
  plan_->pinned_length = (std::max(tile_length_, plan_->block) + 15) / 16 * 16;
}

// The first outer axis along which some access walks memory while it jumps along the last one. Blocks of successive
// points would touch a line for each element, and touch it again when the caches have lost it.
void Tiler::choose_grid() {
  plan_->blocks = (plan_->points + plan_->block - 1) / plan_->block;
  const bool loops =
      std::any_of(plan_->stages.begin(), plan_->stages.end(), [](const StagePlan& s) { return s.loops; });
  const std::size_t rank = program_.outer.size();
  if (loops || rank < 2 || plan_->block < kGridSide * kGridSide) return;
  for (const Access& access : program_.accesses) {
    const View& top = access.tracker.views().back();
    const std::int64_t last = top.strides[rank - 1].value();
    if (access.buffer < 0 || std::abs(last) < kGridSide || top.shape[rank - 1].value() < kGridSide) continue;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
      if (std::abs(top.strides[d].value()) != 1 || top.shape[d].value() < kGridSide) continue;
      plan_->grid_split = d + 1;
      plan_->slow_points =
          product(Ints(program_.outer.begin(), program_.outer.begin() + static_cast<std::ptrdiff_t>(d) + 1));
      plan_->fast_points = plan_->points / plan_->slow_points;
      // Rows that are taken whole lie in a row for the operands that walk along them.
      plan_->grid_cols = plan_->fast_points <= kWholeRow ? plan_->fast_points : kGridSide;
      plan_->grid_rows = std::min(plan_->slow_points, plan_->block / plan_->grid_cols);
      plan_->blocks = ((plan_->slow_points + plan_->grid_rows - 1) / plan_->grid_rows) *
                      ((plan_->fast_points + plan_->grid_cols - 1) / plan_->grid_cols);
      return;
    }
  }
}

// Bytes an element of all values that are live at once, at most.
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
