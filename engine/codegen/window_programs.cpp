#include "codegen/window_layout.hpp"

#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"
#include "codegen/windows.hpp"
#include "oriel/error.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::codegen {

namespace {

/// The loops of a source: s, planes, rows, columns.
Ints source_extents(const LoopProgram& program, const Windows& w) {
  Ints extents(program.outer.begin(), program.outer.begin() + static_cast<std::ptrdiff_t>(w.slow_loops));
  for (const std::size_t k : w.plane_loops) extents.push_back(program.stages[w.stage].inner[k]);
  extents.push_back(w.rows);
  extents.push_back(w.columns);
  return extents;
}

}  // namespace

std::optional<ShapeTracker> source_tracker(const WindowLoops& loops, const LoopProgram& program, const Windows& w,
                                           const WindowLayout& l, const Access& access) {
  const std::size_t outer = program.outer.size();
  const Strides s = loops.strides(access);
  const std::int64_t column = loops.unit_of(s, l, LoopDirection::X);
  const std::int64_t row = loops.unit_of(s, l, LoopDirection::Y);
  Ints strides;
  for (std::size_t d = 0; d < w.slow_loops; ++d) strides.push_back(s[d]);
  for (const std::size_t k : w.plane_loops) strides.push_back(s[outer + k]);
  strides.push_back(row);
  strides.push_back(column);
  const auto stack = stack_of(access).views();
  std::vector<View> views(stack.begin(), stack.end());
  const SymInt first = views.back().offset + SymInt(l.x_first * column + l.y_first * row);
  // The program itself reads the corners of the source through the outermost view, so all points of the source lie
  // between positions that it reads. The views below may have masks, which the program may avoid by skipping elements;
  // the source does not skip them.
  views.back() = View::make(source_extents(program, w), strides, first);
  const ShapeTracker tracker = ShapeTracker::from_views(views).simplify();
  if (access.buffer < 0) return tracker;
  views.assign(tracker.views().begin(), tracker.views().end());
  const SymInt elements = program.arguments[static_cast<std::size_t>(access.buffer)].elements;
  if (detail::lies_inside(views.front(), View::contiguous({elements}))) return tracker;
  // The positions that the program reads lie in the buffer, so this cuts only positions that it does not read.
  for (std::size_t v = views.size(); v-- > 1;) detail::narrow(views[v], views[v - 1]);
  if (!detail::cut_to(views.front(), elements)) return std::nullopt;
  return detail::trusted_stack(views);
}

LoopProgram source_program(const LoopProgram& program, const Windows& w) {
  const WindowLoops loops(program, w.stage);
  std::vector<const Access*> list;
  std::vector<Instr> made;
  const bool known = loops.accesses(w.source, list) && loops.definitions().gather(w.source, made);
  const std::optional<WindowLayout> l =
      known ? loops.layout(list, w.slow_loops + 2 == program.outer.size()) : std::nullopt;
  if (!l) throw InternalError("windows", "the source of " + program.name + " moves in no one direction");

  LoopProgram out = without_loops(program, source_extents(program, w));
  for (Instr& in : made) {
    if (reads(in)) {
      Access access = program.accesses[static_cast<std::size_t>(in.aux)];
      std::optional<ShapeTracker> tracker = source_tracker(loops, program, w, *l, access);
      if (!tracker) throw InternalError("windows", "the source of " + program.name + " leaves its buffer");
      access.remap(std::move(*tracker));
      in.aux = static_cast<std::int32_t>(out.accesses.size());
      out.accesses.push_back(std::move(access));
    }
    out.stages[0].outer.push_back(in);
  }
  return out;
}

LoopProgram weight_program(const LoopProgram& program, const Windows& w) {
  const std::size_t outer = program.outer.size();
  const Stage& stage = program.stages[w.stage];
  Ints extents(program.outer.begin(), program.outer.begin() + static_cast<std::ptrdiff_t>(w.slow_loops));
  extents.insert(extents.end(), stage.inner.begin(), stage.inner.end());
  LoopProgram out = without_loops(program, extents);
  std::vector<Instr>& list = out.stages[0].outer;
  if (!Definitions(program, w.stage).gather(w.weight, list)) {
    throw InternalError("windows", "the weights of " + program.name + " are made by no instruction");
  }
  const WindowLoops loops(program, w.stage);
  for (Instr& in : list) {
    if (!reads(in)) continue;
    Access access = program.accesses[static_cast<std::size_t>(in.aux)];
    const Strides s = loops.strides(access);
    const auto stack = stack_of(access).views();
    std::vector<View> views(stack.begin(), stack.end());
    Ints strides;
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (d < w.slow_loops || d >= outer) strides.push_back(s[d]);
    }
    views.back() = View::make(extents, strides, views.back().offset);
    access.remap(ShapeTracker::from_views(views).simplify());
    in.aux = static_cast<std::int32_t>(out.accesses.size());
    out.accesses.push_back(std::move(access));
  }
  return out;
}

LoopProgram epilogue_program(const LoopProgram& program, const Windows& w) {
  Ints order;
  for (std::size_t d = 0; d < program.outer.size(); ++d) order.push_back(d);
  return after_stage(program, w.stage, order, program.outer);
}

}  // namespace oriel::codegen
