#include "codegen/windows.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "codegen/definitions.hpp"
#include "codegen/window_layout.hpp"
#include "codegen/window_programs.hpp"
#include "schedule/pattern_limits.hpp"

namespace oriel::codegen {

namespace {

/// Windows over a source, and how the loops move through it.
struct Found {
  Windows windows;
  WindowLayout layout;
};

/// The elements that a window reads, and the part of the source that all windows read.
void set_taps(const WindowLoops& loops, const LoopProgram& program, const WindowLayout& l, Windows& w) {
  const std::size_t outer = program.outer.size();
  const Ints& inner = program.stages[w.stage].inner;
  const std::int64_t count = numel(inner, "windows").value();
  w.taps.resize(static_cast<std::size_t>(count));
  for (std::int64_t r = 0; r < count; ++r) {
    Windows::Tap& tap = w.taps[static_cast<std::size_t>(r)];
    tap.row = -l.y_first;
    tap.column = -l.x_first;
    std::int64_t rest = r;
    std::int64_t weight = 1;
    for (std::size_t k = inner.size(); k-- > 0;) {
      const std::size_t d = outer + k;
      const std::int64_t n = loops.extent(d);
      const std::int64_t at = rest % n;
      rest /= n;
      if (l.directions[d] == LoopDirection::X) tap.column += at * l.steps[d];
      if (l.directions[d] == LoopDirection::Y) tap.row += at * l.steps[d];
      if (l.directions[d] == LoopDirection::Plane) {
        tap.plane += at * weight;
        weight *= n;
      }
    }
    w.row_span = std::max(w.row_span, tap.row);
    w.column_span = std::max(w.column_span, tap.column);
  }
  w.columns = (w.x_points - 1) * w.step + w.column_span + 1;
  w.rows = (w.y_points - 1) * w.row_step + w.row_span + 1;
}

/// Without the taps, and what follows from these.
std::optional<Found> over(const WindowLoops& loops, const LoopProgram& program, std::size_t stage, ValueId source,
                          ValueId weight) {
  const std::size_t outer = program.outer.size();
  std::vector<const Access*> list;
  if (!loops.accesses(source, list)) return std::nullopt;
  bool rows = outer > 1;
  if (weight != kNoValue) {
    std::vector<const Access*> weights;
    if (!loops.accesses(weight, weights)) return std::nullopt;
    for (const Access* a : weights) {
      const Strides s = loops.strides(*a);
      if (s[outer - 1] != 0) return std::nullopt;
      rows = rows && s[outer - 2] == 0;
    }
  }
  std::optional<WindowLayout> layout = loops.layout(list, rows);
  if (!layout) return std::nullopt;
  Found found{{}, std::move(*layout)};
  const WindowLayout& l = found.layout;
  Windows& w = found.windows;
  const Reduction& reduction = program.stages[stage].reductions[0];
  w.stage = stage;
  w.op = reduction.op;
  w.dtype = reduction.dtype;
  w.source = source;
  w.weight = weight;
  w.result = reduction.result;
  w.slow_loops = outer - (rows ? 2 : 1);
  for (std::size_t d = 0; d < w.slow_loops; ++d) w.slow_points *= loops.extent(d);
  w.x_points = loops.extent(outer - 1);
  if (rows) w.y_points = loops.extent(outer - 2);
  w.step = l.steps[outer - 1];
  if (rows) w.row_step = l.steps[outer - 2];
  for (std::size_t k = 0; k < program.stages[stage].inner.size(); ++k) {
    if (l.directions[outer + k] != LoopDirection::Plane) continue;
    w.plane_loops.push_back(k);
    w.planes *= loops.extent(outer + k);
  }
  return found;
}

}  // namespace

std::optional<Windows> windows_of(const LoopProgram& program, std::size_t at) {
  if (program.outer.empty() || program.outer.back() < schedule::kShortestWindowRow) return std::nullopt;
  const std::int64_t points = numel(program.stages[at].inner, "windows").value();
  if (points < 2 || points > schedule::kMostTaps) return std::nullopt;
  const Reduction& reduction = program.stages[at].reductions[0];
  const WindowLoops loops(program, at);
  std::optional<Found> found = over(loops, program, at, reduction.input, kNoValue);
  if (!found && reduction.source == schedule::ReductionSource::Product) {
    const Instr& product = *loops.definitions().of(reduction.input);
    found = over(loops, program, at, product.a, product.b);
    if (!found) found = over(loops, program, at, product.b, product.a);
  }
  if (!found) return std::nullopt;
  Windows& w = found->windows;
  if (!loops.pays(found->layout, w.slow_loops + 2 == program.outer.size())) return std::nullopt;
  set_taps(loops, program, found->layout, w);
  std::vector<const Access*> list;
  if (!loops.accesses(w.source, list)) return std::nullopt;
  for (const Access* a : list) {
    if (!source_tracker(loops, program, w, found->layout, *a)) return std::nullopt;
  }
  return std::move(w);
}

std::string to_string(const Windows& w) {
  return fmt::format("{} times {} x {}, windows of {} in {} x {}", w.slow_points, w.y_points, w.x_points, w.taps.size(),
                     w.rows, w.columns);
}

}  // namespace oriel::codegen
