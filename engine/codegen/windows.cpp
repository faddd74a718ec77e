#include "codegen/windows.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdlib>
#include <numeric>

#include <fmt/format.h>

#include "codegen/makers.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

// Rows shorter than this leave most lanes of a packet idle.
constexpr std::int64_t kShortestRow = 4;
// The most elements of the source that are computed, as a part of the elements that all points read.
constexpr double kMostComputed = 0.6;
// The same for a step above 1: gathering strided lanes once pays off even if each element is read only once.
constexpr double kMostApart = 1;
// With more taps than this, a blocked product or rows that fill a tile are faster.
constexpr std::int64_t kMostTaps = 256;
// The largest distance of neighbouring results in the source. Their elements are gathered once, lane by lane.
constexpr std::int64_t kMostStep = 4;

/// The coefficients of an access along the outer loops, then the inner ones; 0 for loops that it does not have.
using Strides = boost::container::small_vector<std::int64_t, 8>;

/// How the loops move through a source: along x, along y, or from plane to plane.
enum class Way : std::uint8_t { None, Slow, X, Y, Plane };

struct Layout {
  boost::container::small_vector<Way, 8> ways;
  Strides steps;             // of X and Y loops, in rows or columns; may be negative
  std::int64_t x_first = 0;  // the least column and row, where the other loops are 0
  std::int64_t y_first = 0;
};

class WindowFinder {
 public:
  WindowFinder(const LoopProgram& program, std::size_t stage)
      : program_(program),
        stage_(program.stages[stage]),
        index_(stage),
        outer_(program.outer.size()),
        inner_(stage_.inner.size()) {}

  std::int64_t extent(std::size_t d) const {
    return (d < outer_ ? program_.outer[d] : stage_.inner[d - outer_]).value();
  }

  Strides strides(const Access& access) const {
    Strides s(outer_ + inner_, 0);
    for (std::size_t d = 0; d < access.loops(); ++d) {
      if (access.extent(d) != 1) s[d] = access.coefficient(d);
    }
    return s;
  }

  /// Collects the accesses that v depends on. False if v depends on a value that no instruction makes, on a gather, or
  /// on an access with a box.
  bool accesses(ValueId v, std::vector<const Access*>& list) const {
    std::vector<Instr> made;
    if (!makers().gather(v, made)) return false;
    for (const Instr& in : made) {
      if (in.code == Code::Gather) return false;  // its access does not say which elements it reads
      if (!reads(in)) continue;
      list.push_back(&program_.accesses[static_cast<std::size_t>(in.aux)]);
      if (list.back()->boxed()) return false;
    }
    return true;
  }

  /// How the loops move through the source, if they move alike through all its accesses. `rows`: is the loop before the
  /// last one y?
  std::optional<Layout> layout(const std::vector<const Access*>& list, bool rows) const {
    const std::size_t x = outer_ - 1;
    const auto guide = std::find_if(list.begin(), list.end(), [&](const Access* a) { return strides(*a)[x] != 0; });
    if (guide == list.end()) return std::nullopt;
    Layout l = guided(strides(**guide), rows);
    for (const Access* a : list) {
      if (!follows(strides(*a), l)) return std::nullopt;
    }
    return l;
  }

  /// Made when it is needed first.
  const Makers& makers() const {
    if (!makers_) makers_.emplace(program_, index_);
    return *makers_;
  }

  /// Do windows of this layout compute few enough elements for what they read? `rows`: is the loop before the last one
  /// a loop of rows?
  bool pays(const Layout& l, bool rows) const {
    const std::size_t x = outer_ - 1;
    if (l.steps[x] > kMostStep) return false;
    const std::int64_t x_points = extent(x), y_points = rows ? extent(x - 1) : 1;
    std::int64_t planes = 1, column_span = -l.x_first, row_span = -l.y_first;
    for (std::size_t d = outer_; d < outer_ + inner_; ++d) {
      const std::int64_t last = std::max<std::int64_t>(l.steps[d], 0) * (extent(d) - 1);
      if (l.ways[d] == Way::X) column_span += last;
      if (l.ways[d] == Way::Y) row_span += last;
      if (l.ways[d] == Way::Plane) planes *= extent(d);
    }
    const std::int64_t columns = (x_points - 1) * l.steps[x] + column_span + 1;
    const std::int64_t height = (y_points - 1) * (rows ? l.steps[x - 1] : 0) + row_span + 1;
    const double computed = static_cast<double>(planes) * static_cast<double>(height) * static_cast<double>(columns);
    const double read = static_cast<double>(numel(stage_.inner, "windows").value()) * static_cast<double>(y_points) *
                        static_cast<double>(x_points);
    return computed <= (l.steps[x] > 1 ? kMostApart : kMostComputed) * read;
  }

  /// False if the coefficients of the accesses alone exclude windows. All that the reduction's input reads in the loops
  /// is part of the source or of the weights, and weights do not move along x. So each read that moves along x has to
  /// follow one layout that pays.
  bool possible() const {
    const std::size_t x = outer_ - 1;
    boost::container::small_vector<Strides, 4> moving;
    boost::container::small_vector<bool, 32> needed(program_.values.size(), false);
    needed[static_cast<std::size_t>(stage_.reductions[0].input)] = true;
    const auto moves = [&](const Instr& in) {
      const Access& a = program_.accesses[static_cast<std::size_t>(in.aux)];
      return x < a.loops() && a.extent(x) != 1 && a.coefficient(x) != 0;
    };
    for (auto in = stage_.body.rbegin(); in != stage_.body.rend(); ++in) {
      if (in->result == kNoValue || !needed[static_cast<std::size_t>(in->result)]) continue;
      for (const ValueId v : {in->a, in->b, in->c})
        if (v != kNoValue) needed[static_cast<std::size_t>(v)] = true;
      if (reads(*in) && moves(*in)) moving.push_back(strides(program_.accesses[static_cast<std::size_t>(in->aux)]));
    }
    // A source that reads nothing in the loops may read what an earlier stage has made.
    if (moving.empty()) return true;
    const auto all_follow = [&](const Strides& guide, bool rows) {
      const Layout l = guided(guide, rows);
      return pays(l, rows) &&
             std::all_of(moving.begin(), moving.end(), [&](const Strides& s) { return follows(s, l); });
    };
    for (const Strides& guide : moving)
      if (all_follow(guide, false) || (outer_ > 1 && all_follow(guide, true))) return true;
    // The first read that moves along x may be in an earlier stage, outside of the loops.
    for (std::size_t s = 0; s < index_; ++s)
      for (const auto* list : {&program_.stages[s].body, &program_.stages[s].outer})
        for (const Instr& in : *list)
          if (reads(in) && moves(in)) return true;
    return false;
  }

 private:
  /// Assigns inner loops, in order of rising stride, to the axis whose span they overlap. The axis of smaller stride
  /// comes first.
  Layout guided(const Strides& s, bool rows) const {
    const std::size_t x = outer_ - 1;
    Layout l;
    l.ways.assign(s.size(), Way::None);
    l.steps.assign(s.size(), 0);
    for (std::size_t d = 0; d < x; ++d) l.ways[d] = Way::Slow;
    l.ways[x] = Way::X;
    const bool has_y = rows && s[x - 1] != 0;
    if (rows) l.ways[x - 1] = has_y ? Way::Y : Way::None;
    struct Axis {
      Way way;
      std::int64_t span;
    };
    boost::container::small_vector<Axis, 2> axes{{Way::X, std::abs(s[x]) * (extent(x) - 1)}};
    if (has_y) axes.push_back({Way::Y, std::abs(s[x - 1]) * (extent(x - 1) - 1)});
    if (has_y && std::abs(s[x - 1]) < std::abs(s[x])) std::swap(axes[0], axes[1]);

    boost::container::small_vector<std::size_t, 8> order(inner_);
    std::iota(order.begin(), order.end(), outer_);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(s[a]) < std::abs(s[b]); });
    std::size_t at = 0;
    for (const std::size_t r : order) {
      if (s[r] == 0) continue;
      while (at < axes.size() && std::abs(s[r]) > axes[at].span) ++at;
      l.ways[r] = at < axes.size() ? axes[at].way : Way::Plane;
      if (at < axes.size()) axes[at].span += std::abs(s[r]) * (extent(r) - 1);
    }
    measure(s, l, Way::X, x, l.x_first);
    if (has_y) measure(s, l, Way::Y, x - 1, l.y_first);
    return l;
  }

  void measure(const Strides& s, Layout& l, Way way, std::size_t lead, std::int64_t& first) const {
    std::int64_t unit = 0;
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (l.ways[d] == way) unit = std::gcd(unit, s[d]);
    }
    if (s[lead] < 0) unit = -unit;
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (l.ways[d] != way) continue;
      l.steps[d] = s[d] / unit;
      if (l.steps[d] < 0) first += l.steps[d] * (extent(d) - 1);
    }
  }

  bool follows(const Strides& s, const Layout& l) const {
    for (const Way way : {Way::X, Way::Y}) {
      const std::int64_t unit = unit_of(s, l, way);
      for (std::size_t d = 0; d < s.size(); ++d) {
        if (l.ways[d] == way && s[d] != l.steps[d] * unit) return false;
      }
    }
    for (std::size_t d = 0; d < s.size(); ++d) {
      if (l.ways[d] == Way::None && s[d] != 0) return false;
    }
    return true;
  }

 public:
  /// The stride of one row (or column) in an access that moves as the layout says.
  std::int64_t unit_of(const Strides& s, const Layout& l, Way way) const {
    const std::size_t x = outer_ - 1;
    const std::size_t lead = way == Way::X ? x : x - 1;
    if (way == Way::Y && (x == 0 || l.ways[x - 1] != Way::Y)) return 0;
    return s[lead] / l.steps[lead];
  }

 private:
  const LoopProgram& program_;
  const Stage& stage_;
  std::size_t index_;
  std::size_t outer_;
  std::size_t inner_;
  mutable std::optional<Makers> makers_;
};

/// Windows over a source, and how the loops move through it.
struct Found {
  Windows windows;
  Layout layout;
};

void set_taps(const WindowFinder& finder, const LoopProgram& program, const Layout& l, Windows& w) {
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
      const std::int64_t n = finder.extent(d);
      const std::int64_t at = rest % n;
      rest /= n;
      if (l.ways[d] == Way::X) tap.column += at * l.steps[d];
      if (l.ways[d] == Way::Y) tap.row += at * l.steps[d];
      if (l.ways[d] == Way::Plane) {
        tap.plane += at * weight;
        weight *= n;
      }
    }
    w.row_span = std::max(w.row_span, tap.row);
    w.column_span = std::max(w.column_span, tap.column);
  }
}

std::optional<Found> windows_of(const WindowFinder& finder, const LoopProgram& program, std::size_t stage,
                                ValueId source, ValueId weight) {
  const std::size_t outer = program.outer.size();
  std::vector<const Access*> list;
  if (!finder.accesses(source, list)) return std::nullopt;
  bool rows = outer > 1;
  if (weight != kNoValue) {
    std::vector<const Access*> weights;
    if (!finder.accesses(weight, weights)) return std::nullopt;
    for (const Access* a : weights) {
      const Strides s = finder.strides(*a);
      if (s[outer - 1] != 0) return std::nullopt;
      rows = rows && s[outer - 2] == 0;
    }
  }
  std::optional<Layout> layout = finder.layout(list, rows);
  if (!layout) return std::nullopt;
  Found found{{}, std::move(*layout)};
  const Layout& l = found.layout;
  Windows& w = found.windows;
  const Reduction& reduction = program.stages[stage].reductions[0];
  w.stage = stage;
  w.op = reduction.op;
  w.dtype = reduction.dtype;
  w.source = source;
  w.weight = weight;
  w.result = reduction.result;
  w.slow_loops = outer - (rows ? 2 : 1);
  for (std::size_t d = 0; d < w.slow_loops; ++d) w.slow_points *= finder.extent(d);
  w.x_points = finder.extent(outer - 1);
  if (rows) w.y_points = finder.extent(outer - 2);
  w.step = l.steps[outer - 1];
  if (rows) w.row_step = l.steps[outer - 2];
  for (std::size_t k = 0; k < program.stages[stage].inner.size(); ++k) {
    if (l.ways[outer + k] != Way::Plane) continue;
    w.plane_loops.push_back(k);
    w.planes *= finder.extent(outer + k);
  }
  set_taps(finder, program, l, w);
  w.columns = (w.x_points - 1) * w.step + w.column_span + 1;
  w.rows = (w.y_points - 1) * w.row_step + w.row_span + 1;
  return found;
}

/// The loops of a source: s, planes, rows, columns.
Ints source_extents(const LoopProgram& program, const Windows& w) {
  Ints extents(program.outer.begin(), program.outer.begin() + static_cast<std::ptrdiff_t>(w.slow_loops));
  for (const std::size_t k : w.plane_loops) extents.push_back(program.stages[w.stage].inner[k]);
  extents.push_back(w.rows);
  extents.push_back(w.columns);
  return extents;
}

/// The stack through which a source reads its buffer; nothing if some point may lie outside of the buffer.
std::optional<ShapeTracker> source_tracker(const WindowFinder& finder, const LoopProgram& program, const Windows& w,
                                           const Layout& l, const Access& access) {
  const std::size_t outer = program.outer.size();
  const Strides s = finder.strides(access);
  const std::int64_t column = finder.unit_of(s, l, Way::X);
  const std::int64_t row = finder.unit_of(s, l, Way::Y);
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

std::optional<Found> find(const LoopProgram& program) {
  const std::size_t at = only_loops(program);
  if (at == program.stages.size() || program.outer.empty()) return std::nullopt;
  const Stage& stage = program.stages[at];
  if (stage.reductions.size() != 1 || !graph::row(stage.reductions[0].op).windows) return std::nullopt;
  if (std::any_of(stage.body.begin(), stage.body.end(), [](const Instr& in) { return in.code == Code::Store; })) {
    return std::nullopt;
  }
  if (program.outer.back() < kShortestRow) return std::nullopt;
  const std::int64_t points = numel(stage.inner, "windows").value();
  if (points < 2 || points > kMostTaps || numel(program.outer, "windows").value() == 0) return std::nullopt;
  const WindowFinder finder(program, at);
  if (!finder.possible()) return std::nullopt;
  const Reduction& reduction = stage.reductions[0];
  std::optional<Found> found = windows_of(finder, program, at, reduction.input, kNoValue);
  const Instr* product = finder.makers().of(reduction.input);
  if (!found && reduction.op == Op::Sum && product != nullptr && product->code == Code::Elementwise &&
      product->op == Op::Mul && product->dtype == reduction.dtype && product->from == reduction.dtype) {
    found = windows_of(finder, program, at, product->a, product->b);
    if (!found) found = windows_of(finder, program, at, product->b, product->a);
  }
  if (!found) return std::nullopt;
  const Windows& w = found->windows;
  if (!finder.pays(found->layout, w.slow_loops + 2 == program.outer.size())) return std::nullopt;
  std::vector<const Access*> list;
  if (!finder.accesses(w.source, list)) return std::nullopt;
  for (const Access* a : list) {
    if (!source_tracker(finder, program, w, found->layout, *a)) return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<Windows> find_windows(const LoopProgram& program) {
  std::optional<Found> found = find(program);
  if (!found) return std::nullopt;
  return std::move(found->windows);
}

LoopProgram source_program(const LoopProgram& program, const Windows& w) {
  const WindowFinder finder(program, w.stage);
  std::vector<const Access*> list;
  std::vector<Instr> made;
  const bool known = finder.accesses(w.source, list) && finder.makers().gather(w.source, made);
  const std::optional<Layout> l = known ? finder.layout(list, w.slow_loops + 2 == program.outer.size()) : std::nullopt;
  if (!l) throw InternalError("windows", "the source of " + program.name + " moves in no one way");

  LoopProgram out = without_loops(program, source_extents(program, w));
  for (Instr& in : made) {
    if (reads(in)) {
      Access access = program.accesses[static_cast<std::size_t>(in.aux)];
      std::optional<ShapeTracker> tracker = source_tracker(finder, program, w, *l, access);
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
  if (!Makers(program, w.stage).gather(w.weight, list)) {
    throw InternalError("windows", "the weights of " + program.name + " are made by no instruction");
  }
  const WindowFinder finder(program, w.stage);
  for (Instr& in : list) {
    if (!reads(in)) continue;
    Access access = program.accesses[static_cast<std::size_t>(in.aux)];
    const Strides s = finder.strides(access);
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

std::string to_string(const Windows& w) {
  return fmt::format("{} times {} x {}, windows of {} in {} x {}", w.slow_points, w.y_points, w.x_points, w.taps.size(),
                     w.rows, w.columns);
}

}  // namespace oriel::codegen
