// What each movement does, in a struct of its name.
#include "graph/movements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void check_rank(Op op, const Shape& shape, std::size_t count, std::string_view what, const Origin& origin) {
  if (shape.size() == count) return;
  throw ShapeError(called(origin, op), fmt::format("{} has {} axes and {} {} came; give one an axis", to_string(shape),
                                                   shape.size(), count, what));
}

IndexMap same_axes(const Shape& shape) {
  IndexMap map{shape, {}};
  map.axes.resize(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) map.axes[d].axis = d;
  return map;
}

struct Reshape {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    check_extents(Op::Reshape, move.shape, origin);
    const std::string name = called(origin, Op::Reshape);
    const SymInt have = numel(from, name.c_str());
    const SymInt want = checked_numel(move.shape, name.c_str());
    if (sym::required(have == want, stating(origin, Op::Reshape))) return;
    throw ShapeError(name,
                     fmt::format("{} has {} elements and {} takes {}; give a shape of {} elements", to_string(from),
                                 to_string(have), to_string(move.shape), to_string(want), to_string(have)));
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.reshape(move.shape); }
};

struct Permute {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    const Ints& order = *move.ints;
    check_rank(Op::Permute, from, order.size(), "axes", origin);
    InlineVector<bool, 16> seen(order.size(), false);
    for (const SymInt n : order) {
      const std::int64_t axis = n.value();
      if (axis < 0 || axis >= static_cast<std::int64_t>(order.size()) || seen[static_cast<std::size_t>(axis)]) {
        throw ShapeError(called(origin, Op::Permute),
                         fmt::format("{} is no order of the axes of {}; give each of 0 to {} once", to_string(order),
                                     to_string(from), order.size() - 1));
      }
      seen[static_cast<std::size_t>(axis)] = true;
    }
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto axis = static_cast<std::size_t>((*move.ints)[d].value());
      map.shape[d] = from[axis];
      map.axes[axis].axis = d;
    }
    return map;
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.permute(*move.ints); }
};

struct Expand {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    check_rank(Op::Expand, from, move.shape.size(), "extents", origin);
    check_extents(Op::Expand, move.shape, origin);
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (!sym::grows_to(from[d], move.shape[d], stating(origin, Op::Expand))) {
        throw ShapeError(called(origin, Op::Expand),
                         fmt::format("axis {} of {} cannot grow to {} for {}; only axes of extent 1 grow", d,
                                     to_string(from), to_string(move.shape[d]), to_string(move.shape)));
      }
    }
    checked_numel(move.shape, called(origin, Op::Expand).c_str());
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(move.shape);
    for (std::size_t d = 0; d < from.size(); ++d) {
      if (identical(from[d], move.shape[d])) continue;
      if (sym::known(from[d] == 1).value_or(false) || from[d] != move.shape[d]) map.axes[d].step = 0;
    }
    return map;
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.expand(move.shape); }
  static Range numbers(SymInt extent) { return extent == 1 ? Range{1, kMost} : Range{extent, extent}; }
};

struct Shrink {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    const Ranges& ranges = *move.ranges;
    check_rank(Op::Shrink, from, ranges.size(), "ranges", origin);
    const std::string_view name = stating(origin, Op::Shrink);
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      const auto [lo, hi] = ranges[d];
      if (!sym::required(lo >= 0, name) || !sym::required(hi >= lo, name) || !sym::required(hi <= from[d], name)) {
        throw ShapeError(called(origin, Op::Shrink),
                         fmt::format("[{}, {}) leaves axis {} of {}; give 0 <= lo <= hi <= {}", to_string(lo),
                                     to_string(hi), d, to_string(from), to_string(from[d])));
      }
    }
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      map.shape[d] = (*move.ranges)[d].extent();
      map.axes[d].start = (*move.ranges)[d].lo;
    }
    return map;
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.shrink(*move.ranges); }
};

struct Pad {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    const Ranges& around = *move.ranges;
    check_rank(Op::Pad, from, around.size(), "ranges", origin);
    const std::string name = called(origin, Op::Pad);
    Shape shape = from;
    for (std::size_t d = 0; d < from.size(); ++d) {
      const SymInt before = around[d].lo, after = around[d].hi;
      const auto named = [&] {
        return fmt::format("({}, {}) on axis {} of {}", to_string(before), to_string(after), d, to_string(from));
      };
      if (!sym::required(before >= 0, name) || !sym::required(after >= 0, name))
        throw ShapeError(name, named() + "; give counts >= 0");
      try {
        shape[d] = before + after + from[d];
      } catch (const OverflowError&) {
        throw OverflowError(name, named() + " passes 2^63-1");
      }
    }
    checked_numel(shape, name.c_str());
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto [before, after] = (*move.ranges)[d];
      map.shape[d] = before + after + from[d];
      map.axes[d].start = -before;
    }
    map.pads = true;
    return map;
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.pad(*move.ranges); }
};

struct Flip {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    SymInt last = -1;
    for (const SymInt axis : *move.ints) {
      if (axis <= last || axis >= from.size()) {
        throw ShapeError(called(origin, Op::Flip), fmt::format("axes {} of {} must ascend and lie in [0, {})",
                                                               to_string(*move.ints), to_string(from), from.size()));
      }
      last = axis;
    }
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(from);
    for (const SymInt axis : *move.ints) {
      const auto d = static_cast<std::size_t>(axis.value());
      map.axes[d] = {d, from[d] - 1, -1};
    }
    return map;
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move& move) { return stack.flip(*move.ints); }
};

struct Format {
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    const auto format = static_cast<MemoryFormat>((*move.ints)[0].value());
    if (format == MemoryFormat::preserve) return check_rank(Op::Format, from, move.ints->size() - 1, "strides", origin);
    const std::size_t rank = format == MemoryFormat::channels_last ? 4 : 5;
    if (format == MemoryFormat::contiguous || from.size() == rank) return;
    throw ShapeError(called(origin, Op::Format),
                     fmt::format("{} is for tensors with {} axes and {} has {}; reshape it first", oriel::name(format),
                                 rank, to_string(from), from.size()));
  }
  static ShapeTracker stack(const ShapeTracker& stack, const Move&) { return stack; }
};

struct RawView {};

struct Mark {
  static ShapeTracker stack(const ShapeTracker& stack, const Move&) { return stack; }
};

struct Every {
  static constexpr std::int64_t kFar = std::int64_t{1} << 31;
  static void check(const Shape& from, const Move& move, const Origin& origin) {
    const Ints& steps = *move.ints;
    check_rank(Op::Every, from, steps.size(), "steps", origin);
    for (std::size_t d = 0; d < steps.size(); ++d) {
      if (!steps[d].is_symbolic() && steps[d] >= 1) continue;
      throw ShapeError(called(origin, Op::Every), fmt::format("step {} on axis {} of {}; give numbers from 1 on",
                                                              to_string(steps[d]), d, to_string(from)));
    }
  }
  static IndexMap map(const Shape& from, const Move& move) {
    IndexMap map = same_axes(from);
    for (std::size_t d = 0; d < from.size(); ++d) {
      const SymInt step = (*move.ints)[d];
      // A step beyond the axis chooses its first element alone, however long it is: a product of it need not fit.
      map.axes[d].step = step > kFar ? sym_min(step, sym_max(from[d], kFar)) : step;
      map.shape[d] = (from[d] - 1) / step + 1;  // rounded down, also where there are no elements
    }
    return map;
  }
  static Range numbers(SymInt) { return {1, kMost}; }
};

template <class M>
constexpr Movement functions_of() {
  Movement out;
  if constexpr (requires { &M::stack; }) out.stack = &M::stack;
  if constexpr (requires { &M::check; }) out.check = &M::check;
  if constexpr (requires { &M::map; }) out.map = &M::map;
  if constexpr (requires { &M::numbers; }) out.numbers = &M::numbers;
  return out;
}

constexpr std::array<Movement, kOpCount> kMovements = [] {
  std::array<Movement, kOpCount> out{};
#define ORIEL_MOVEMENT(op, ...) out[static_cast<std::size_t>(Op::op)] = functions_of<op>();
  ORIEL_MOVEMENTS(ORIEL_MOVEMENT)
#undef ORIEL_MOVEMENT
  return out;
}();

/// The view read in steps of at least 1 from the start of each axis, which needs no merging: the mask in steps is
/// exact, also of symbolic sizes. Nothing if the movement is another one.
std::optional<View> in_steps(const View& view, const IndexMap& map) {
  if (map.pads) return std::nullopt;
  View out = view;
  out.shape = map.shape;
  for (std::size_t d = 0; d < map.axes.size(); ++d) {
    const auto& [axis, start, step] = map.axes[d];
    if (axis != d || !identical(start, 0) || step.is_symbolic() || step < 1) return std::nullopt;
    out.strides[d] *= step;
    if (!out.mask.empty()) out.mask[d] = {(out.mask[d].lo + step - 1) / step, (out.mask[d].hi + step - 1) / step};
  }
  return out.canonical();
}

}  // namespace

const Movement& movement(Op op) { return kMovements[static_cast<std::size_t>(op)]; }

Move move_of(Op op, const Shape& shape, const Arg& arg) {
  Move move{op, shape, std::get_if<Ints>(&arg)};
  if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&arg)) move.ranges = ranges->get();
  if (const auto* view = std::get_if<std::shared_ptr<const View>>(&arg)) move.view = view->get();
  return move;
}

bool complete(const Move& move) {
  switch (row(move.op).takes) {
    case Takes::Order:
    case Takes::Axes:
    case Takes::Numbers:
      return move.ints != nullptr;
    case Takes::Format:
      return move.ints != nullptr && !move.ints->empty();
    case Takes::Slices:
    case Takes::Pads:
      return move.ranges != nullptr;
    case Takes::View:
      return move.view != nullptr;
    default:
      return (move.ints == nullptr || move.op == Op::Mark) && move.ranges == nullptr && move.view == nullptr;
  }
}

bool is_identity(const IndexMap& map, const Shape& from, Ask ask) {
  const auto single = [&](SymInt n) {
    return ask == Ask::guards ? static_cast<bool>(n <= 1) : sym::known(n <= 1).value_or(false);
  };
  if (!known_same(map.shape, from)) return false;
  for (std::size_t d = 0; d < from.size(); ++d) {
    // With step 1 an axis of the same extent starts at 0, because it reads inside of the source.
    if (map.axes[d].axis != d) return false;
    if (!identical(map.axes[d].step, 1) && !single(from[d])) return false;
  }
  return true;
}

IndexMap composed(const IndexMap& outer, const IndexMap& inner) {
  IndexMap map{outer.shape, inner.axes, inner.pads};
  for (AxisRead& read : map.axes) {
    const AxisRead& above = outer.axes[read.axis];
    read = {above.axis, read.start + read.step * above.start, read.step * above.step};
  }
  return map;
}

std::optional<Arg> argument_of(Op op, const Shape& from, const IndexMap& map) {
  Ints ints;
  Ranges ranges;
  const Takes takes = row(op).takes;
  if (takes == Takes::Order) ints.resize(map.shape.size());
  for (std::size_t d = 0; d < map.axes.size(); ++d) {
    const auto& [axis, start, step] = map.axes[d];
    if (takes == Takes::Order) ints[axis] = d;
    if (takes == Takes::Numbers) ints.push_back(step);
    if (takes == Takes::Axes && identical(step, -1)) ints.push_back(d);
    if (takes == Takes::Slices) ranges.push_back({start, start + map.shape[d]});
    if (takes == Takes::Pads) ranges.push_back({-start, map.shape[d] - from[d] + start});
  }
  Arg argument;
  if (!ints.empty()) argument = std::move(ints);
  if (!ranges.empty()) argument = std::make_shared<const Ranges>(std::move(ranges));
  const Move move = move_of(op, map.shape, argument);
  if (!complete(move)) return std::nullopt;
  const IndexMap made = movement(op).map(from, move);
  const bool same = made.pads == map.pads && known_same(made.shape, map.shape) &&
                    std::ranges::equal(made.axes, map.axes, [](const AxisRead& a, const AxisRead& b) {
                      return a.axis == b.axis && identical(a.start, b.start) && identical(a.step, b.step);
                    });
  return same ? std::optional(std::move(argument)) : std::nullopt;
}

AxisStrides strides_of(const IndexMap& map) {
  AxisStrides out(map.shape.size());
  for (std::size_t d = 0; d < map.axes.size(); ++d)
    if (!identical(map.axes[d].step, 0)) out[map.axes[d].axis].terms.push_back({d, map.axes[d].step});
  return out;
}

View view_of(const Move& move, const Shape& from) {
  if (row(move.op).takes == Takes::View) return *move.view;
  View view = View::contiguous(from);
  if (movement(move.op).map == nullptr) return view;
  const Ints strides = view.strides;
  const IndexMap map = movement(move.op).map(from, move);
  view.shape = map.shape;
  view.strides.assign(map.shape.size(), SymInt(0));
  if (map.pads) view.mask.resize(map.shape.size());
  for (std::size_t d = 0; d < map.axes.size(); ++d) {
    const AxisRead& read = map.axes[d];
    view.strides[read.axis] += read.step * strides[d];
    view.offset += read.start * strides[d];
    if (map.pads) view.mask[read.axis] = {-read.start, from[d] - read.start};
  }
  return view.canonical();
}

namespace {

/// The stack with a view of a RawView on top. Unlike ShapeTracker::view it asks nothing: the builder has asked, or the
/// view is one of several that a stack was merged to, and those below the top may lie anywhere where nothing reads
/// them.
ShapeTracker seen(const ShapeTracker& stack, const View& top) {
  const std::span<const View> below = stack.views();
  std::vector<View> views(below.begin(), below.end());
  MergeResult merged = merge(top, views.back());
  if (merged.verdict == MergeVerdict::Merged)
    views.back() = std::move(merged.view);
  else
    views.push_back(top.canonical());
  return ShapeTracker::from_views(views);
}

}  // namespace

ShapeTracker moved(const ShapeTracker& stack, const Move& move) {
  const Movement& moves = movement(move.op);
  if (row(move.op).takes == Takes::View) return seen(stack, *move.view);
  if (moves.stack != nullptr) return moves.stack(stack, move);
  if (moves.map != nullptr) {
    const std::span<const View> views = stack.views();
    if (auto top = in_steps(views.back(), moves.map(stack.shape(), move))) {
      std::vector<View> changed(views.begin(), views.end());
      changed.back() = *std::move(top);
      return ShapeTracker::from_views(std::move(changed));
    }
  }
  return stack.view(view_of(move, stack.shape()));
}

NodePtr below_movements(NodePtr node) {
  while (!node->realized() && is_movement(node->op)) {
    Node::Sources sources = node->sources_to_look_at();
    if (sources.size() == 1) node = std::move(sources[0]);  // none: realised meanwhile
  }
  return node;
}

}  // namespace oriel::graph
