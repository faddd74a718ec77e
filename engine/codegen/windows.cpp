#include "codegen/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "codegen/definitions.hpp"
#include "codegen/window_layout.hpp"
#include "graph/op.hpp"
#include "oriel/inline_vector.hpp"
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

std::int64_t WindowLoops::extent(std::size_t d) const {
  return (d < outer_ ? program_.outer[d] : stage_.inner[d - outer_]).value();
}

Strides WindowLoops::strides(const Access& access) const {
  Strides s(outer_ + inner_, 0);
  for (std::size_t d = 0; d < access.loops(); ++d) {
    if (access.extent(d) != 1) s[d] = access.coefficient(d);
  }
  return s;
}

bool WindowLoops::accesses(ValueId v, std::vector<const Access*>& list) const {
  std::vector<Instr> made;
  if (!definitions_.gather(v, made)) return false;
  for (const Instr& in : made) {
    if (in.code == Code::Gather) return false;  // its access does not say which elements it reads
    if (!reads(in)) continue;
    list.push_back(&program_.accesses[static_cast<std::size_t>(in.aux)]);
    if (list.back()->boxed()) return false;
  }
  return true;
}

std::optional<WindowLayout> WindowLoops::layout(const std::vector<const Access*>& list, bool rows) const {
  const std::size_t x = outer_ - 1;
  const auto guide = std::find_if(list.begin(), list.end(), [&](const Access* a) { return strides(*a)[x] != 0; });
  if (guide == list.end()) return std::nullopt;
  WindowLayout l = guided(strides(**guide), rows);
  for (const Access* a : list) {
    if (!follows(strides(*a), l)) return std::nullopt;
  }
  return l;
}

bool WindowLoops::pays(const WindowLayout& l, bool rows) const {
  const std::size_t x = outer_ - 1;
  const std::int64_t x_points = extent(x), y_points = rows ? extent(x - 1) : 1;
  std::int64_t planes = 1, column_span = -l.x_first, row_span = -l.y_first;
  int across = 0;  // inner loops that move through the source
  for (std::size_t d = outer_; d < outer_ + inner_; ++d) {
    const std::int64_t last = std::max<std::int64_t>(l.steps[d], 0) * (extent(d) - 1);
    if (l.directions[d] == LoopDirection::X) column_span += last;
    if (l.directions[d] == LoopDirection::Y) row_span += last;
    if (l.directions[d] == LoopDirection::Plane) planes *= extent(d);
    if (l.directions[d] != LoopDirection::None && extent(d) > 1) ++across;
  }
  const std::int64_t columns = (x_points - 1) * l.steps[x] + column_span + 1;
  const std::int64_t height = (y_points - 1) * (rows ? l.steps[x - 1] : 0) + row_span + 1;
  const double computed = static_cast<double>(planes) * static_cast<double>(height) * static_cast<double>(columns);
  const double read = static_cast<double>(numel(stage_.inner, "windows").value()) * static_cast<double>(y_points) *
                      static_cast<double>(x_points);
  return schedule::windows_pay(computed, read, l.steps[x], across);
}

WindowLayout WindowLoops::guided(const Strides& s, bool rows) const {
  const std::size_t x = outer_ - 1;
  WindowLayout l;
  l.directions.assign(s.size(), LoopDirection::None);
  l.steps.assign(s.size(), 0);
  for (std::size_t d = 0; d < x; ++d) l.directions[d] = LoopDirection::Slow;
  l.directions[x] = LoopDirection::X;
  const bool has_y = rows && s[x - 1] != 0;
  if (rows) l.directions[x - 1] = has_y ? LoopDirection::Y : LoopDirection::None;
  struct Axis {
    LoopDirection direction;
    std::int64_t span;
  };
  InlineVector<Axis, 2> axes{{LoopDirection::X, std::abs(s[x]) * (extent(x) - 1)}};
  if (has_y) axes.push_back({LoopDirection::Y, std::abs(s[x - 1]) * (extent(x - 1) - 1)});
  if (has_y && std::abs(s[x - 1]) < std::abs(s[x])) std::swap(axes[0], axes[1]);

  InlineVector<std::size_t, 8> order(inner_);
  std::iota(order.begin(), order.end(), outer_);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(s[a]) < std::abs(s[b]); });
  std::size_t at = 0;
  for (const std::size_t r : order) {
    if (s[r] == 0) continue;
    while (at < axes.size() && std::abs(s[r]) > axes[at].span) ++at;
    l.directions[r] = at < axes.size() ? axes[at].direction : LoopDirection::Plane;
    if (at < axes.size()) axes[at].span += std::abs(s[r]) * (extent(r) - 1);
  }
  measure(s, l, LoopDirection::X, x, l.x_first);
  if (has_y) measure(s, l, LoopDirection::Y, x - 1, l.y_first);
  return l;
}

void WindowLoops::measure(const Strides& s, WindowLayout& l, LoopDirection direction, std::size_t lead,
                          std::int64_t& first) const {
  std::int64_t unit = 0;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] == direction) unit = std::gcd(unit, s[d]);
  }
  if (s[lead] < 0) unit = -unit;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] != direction) continue;
    l.steps[d] = s[d] / unit;
    if (l.steps[d] < 0) first += l.steps[d] * (extent(d) - 1);
  }
}

bool WindowLoops::follows(const Strides& s, const WindowLayout& l) const {
  for (const LoopDirection direction : {LoopDirection::X, LoopDirection::Y}) {
    const std::int64_t unit = unit_of(s, l, direction);
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (l.directions[d] == direction && s[d] != l.steps[d] * unit) return false;
    }
  }
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (l.directions[d] == LoopDirection::None && s[d] != 0) return false;
  }
  return true;
}

std::int64_t WindowLoops::unit_of(const Strides& s, const WindowLayout& l, LoopDirection direction) const {
  const std::size_t x = outer_ - 1;
  const std::size_t lead = direction == LoopDirection::X ? x : x - 1;
  if (direction == LoopDirection::Y && (x == 0 || l.directions[x - 1] != LoopDirection::Y)) return 0;
  return s[lead] / l.steps[lead];
}

}  // namespace oriel::codegen
