#include "backend/eigen/tile/patches.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "backend/eigen/tile/pattern.hpp"
#include "backend/eigen/tile/plan_steps.hpp"
#include "backend/eigen/tile/worker.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::AccessAxis;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::ValueId;
using graph::Op;

namespace {

// A part whose boxes have fewer elements is looked up by a list of distances (pattern.hpp), or tested.
constexpr std::int64_t kSmallestBox = 32;

std::int64_t points_in(const AccessAxis& axis) { return std::max<std::int64_t>(axis.end - axis.begin, 0); }

std::int64_t points_in(const Access& access) {
  std::int64_t points = 1;
  for (const AccessAxis& axis : access.map().axes) points *= points_in(axis);
  return points;
}

bool lies_in(const Access& part, const Access& whole) {
  for (std::size_t d = 0; d < part.loops(); ++d) {
    const AccessAxis &inner = part.map().axes[d], &outer = whole.map().axes[d];
    if (inner.begin < outer.begin || inner.end > outer.end) return false;
  }
  return true;
}

bool overlap(const Access& a, const Access& b) {
  for (std::size_t d = 0; d < a.loops(); ++d) {
    const AccessAxis &x = a.map().axes[d], &y = b.map().axes[d];
    if (std::max(x.begin, y.begin) >= std::min(x.end, y.end)) return false;
  }
  return true;
}

/// Are its elements copied as boxes of several? Boxes are of the last two axes.
bool has_large_boxes(const Access& access) {
  std::vector<AccessAxis> axes;
  for (const AccessAxis& axis : access.map().axes) join_axis(axes, axis);
  if (axes.size() < 3) return true;
  return points_in(axes[axes.size() - 1]) * points_in(axes[axes.size() - 2]) >= kSmallestBox;
}

/// Finds the patches of one list of instructions.
class PatchFinder {
 public:
  PatchFinder(const LoopProgram& program, std::vector<int>& readers, std::vector<PatchParts>& patches)
      : program_(program), readers_(readers), patches_(patches) {}

  void run(std::vector<Instr>& list) {
    bool any = false;
    for (Instr& in : list) {
      if (in.code == Code::Valid && access(in.aux).affine()) asked_[in.result] = in.aux;
      if (in.code == Code::Const && in.dtype == DType::bool_) note_constant(in);
      if (in.code == Code::Load && access(in.aux).affine() && has_large_boxes(access(in.aux)))
        parts_[in.result] = {kNoValue, {in.aux}};
      if (in.code != Code::Elementwise || in.op != Op::Where) continue;
      if (in.dtype == DType::bool_ && says_valid(in))
        asked_[in.result] = asked_.at(in.a);
      else
        any = choose(in) || any;
    }
    if (any) remove_unread(list, readers_);
  }

 private:
  struct Parts {
    ValueId base = kNoValue;  // what is beside the loads; kNoValue if that is 0
    std::vector<std::int32_t> loads;
  };

  const Access& access(std::int32_t aux) const { return program_.accesses[static_cast<std::size_t>(aux)]; }
  int& readers(ValueId v) { return readers_[static_cast<std::size_t>(v)]; }

  void note_constant(const Instr& in) {
    const codegen::Constant& constant = program_.constants[static_cast<std::size_t>(in.aux)];
    if (constant.parameter < 0) constants_[in.result] = constant.value.i != 0;
  }

  /// Is it true where a question is, and false elsewhere? Such is a padded number 1.
  bool says_valid(const Instr& in) const {
    const auto yes = constants_.find(in.b), no = constants_.find(in.c);
    return asked_.contains(in.a) && yes != constants_.end() && no != constants_.end() && yes->second && !no->second;
  }

  /// The parts of a value that nothing but one choice reads.
  Parts* parts_of(ValueId v) {
    const auto found = parts_.find(v);
    return found == parts_.end() || readers(v) != 1 ? nullptr : &found->second;
  }

  /// Makes a patch of where(valid, parts, other) if the parts fill the box of the question.
  bool choose(Instr& in) {
    const auto asked = asked_.find(in.a);
    Parts* const chosen = parts_of(in.b);
    if (asked == asked_.end() || chosen == nullptr || chosen->base != kNoValue || in.b == in.c) return false;
    const Access& box = access(asked->second);
    std::int64_t points = 0;
    for (const std::int32_t load : chosen->loads) {
      if (!lies_in(access(load), box)) return false;
      points += points_in(access(load));
    }
    if (points != points_in(box)) return false;
    Parts joined{in.c, {}};
    if (Parts* const other = parts_of(in.c); other != nullptr && fits_beside(*other, box)) joined = std::move(*other);
    joined.loads.insert(joined.loads.end(), chosen->loads.begin(), chosen->loads.end());
    make_patch(in, std::move(joined));
    return true;
  }

  bool fits_beside(const Parts& parts, const Access& box) const {
    return std::none_of(parts.loads.begin(), parts.loads.end(),
                        [&](std::int32_t load) { return overlap(access(load), box); });
  }

  void make_patch(Instr& in, Parts parts) {
    codegen::each_operand(in, [&](ValueId v) { --readers(v); });
    std::int64_t points = 0, all = 1;
    for (const std::int32_t load : parts.loads) points += points_in(access(load));
    for (const AccessAxis& axis : access(parts.loads.front()).map().axes) all *= axis.extent;
    const bool whole = points == all;
    if (whole) parts.base = kNoValue;
    in.a = parts.base;
    in.b = in.c = kNoValue;
    if (in.a != kNoValue) ++readers(in.a);
    in.aux = static_cast<std::int32_t>(patches_.size());
    patches_.push_back({parts.loads, whole});
    parts_[in.result] = std::move(parts);
  }

  const LoopProgram& program_;
  std::vector<int>& readers_;
  std::vector<PatchParts>& patches_;
  std::map<ValueId, std::int32_t> asked_;  // the accesses of Valid
  std::map<ValueId, bool> constants_;
  std::map<ValueId, Parts> parts_;
};

}  // namespace

PatchedStages join_patches(const LoopProgram& program, const std::vector<codegen::Stage>& stages, ValueId wanted) {
  PatchedStages out{stages, {}};
  std::vector<int> readers = count_readers(out.stages, program.values.size());
  // What is read from outside counts as having two more readers, so it is never a part of another value.
  if (wanted != kNoValue) readers[static_cast<std::size_t>(wanted)] += 2;
  for (codegen::Stage& stage : out.stages) {
    PatchFinder(program, readers, out.patches).run(stage.body);
    PatchFinder(program, readers, out.patches).run(stage.outer);
  }
  return out;
}

void Worker::patch(const TileStep& step, const Tile& tile) {
  const Patch& patch = plan_.patches[static_cast<std::size_t>(step.chain)];
  char* to = nullptr;
  const auto begin = [&] {
    to = static_cast<char*>(step.access >= 0 ? destination(step, tile) : own_register(step.dst));
    if (patch.based) {
      if (slots_[step.a] != to)
        std::memcpy(to, slots_[step.a], static_cast<std::size_t>(tile.size()) << step.log_bytes);
    } else if (!patch.whole) {
      std::memset(to, 0, static_cast<std::size_t>(tile.size()) << step.log_bytes);
    }
  };
  for (const std::int32_t load : patch.loads) {
    const MemoryAccess& r = plan_.accesses[static_cast<std::size_t>(load)];
    if (r.walk.misses(tile)) continue;
    if (to == nullptr) {
      // A part that nobody overwrites, and that has the whole tile, is read in place.
      void* const memory = r.slack ? in_place(launch_, r, tile) : nullptr;
      if (memory != nullptr) {
        slots_[step.dst] = memory;
        return;
      }
      begin();
    }
    r.walk.boxes(tile, [&](const Box& box) {
      r.copy(to + (box.at << step.log_bytes), box.pitch, 1, address(launch_, r, box.position), box.row, box.col,
             box.rows, box.cols);
    });
  }
  if (to == nullptr) begin();
  slots_[step.dst] = to;
}

}  // namespace oriel::backend::eigen
