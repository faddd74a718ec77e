// The movement builders. Each one checks its arguments, folds what costs nothing to fold, and otherwise makes one node.
#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "graph/build.hpp"
#include "graph/extents.hpp"
#include "graph/layout.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

void check_rank(Op op, const Shape& shape, std::size_t count, std::string_view what, const Origin& origin) {
  if (shape.size() == count) return;
  throw ShapeError(called(origin, op), fmt::format("{} has {} axes and {} {} came; give one an axis", to_string(shape),
                                                   shape.size(), count, what));
}

bool is_const(const Node& node) noexcept { return node.op == Op::Const; }

NodePtr moved(Op op, NodePtr x, const Shape& shape, Arg arg, const Origin& origin) {
  const DType dtype = x->dtype;
  return make_node(op, dtype, shape, std::move(arg), {&x, 1}, origin);
}

// A movement of a Const: the same number over the new shape, with the strides of a view.
NodePtr same_number(const NodePtr& x, Op op, const Shape& shape, Arg arg, const Origin& origin) {
  NodePtr number = make_leaf(Op::Const, x->dtype, shape, x->arg, x->device, origin);
  if (!x->found) return number;
  const NodePtr movement = moved(op, x, shape, std::move(arg), origin);
  return laid_out_constant(std::move(number), layout_of_movement(*movement, x->found->layout));
}

void check_extents(Op op, const Shape& shape, const Origin& origin) {
  for (const SymInt n : shape) {
    if (!sym::state_size(n, stating(origin, op)) && n < 0) {
      throw ShapeError(called(origin, op), fmt::format("{} has a negative extent; extents are >= 0", to_string(shape)));
    }
  }
}

}  // namespace

bool is_identity(const View& view) {
  return !view.masked() && identical(view.offset, 0) && known_same(view.strides, contiguous_strides(view.shape));
}

NodePtr reshape(NodePtr x, const Shape& shape, const Origin& origin) {
  if (known_same(x->shape, shape)) return x;
  check_extents(Op::Reshape, shape, origin);
  const std::string name = called(origin, Op::Reshape);
  const SymInt have = numel(x->shape, name.c_str());
  const SymInt want = checked_numel(shape, name.c_str());
  if (!sym::required(have == want, stating(origin, Op::Reshape))) {
    throw ShapeError(name,
                     fmt::format("{} has {} elements and {} takes {}; give a shape of {} elements", to_string(x->shape),
                                 to_string(have), to_string(shape), to_string(want), to_string(have)));
  }
  if (is_const(*x)) return same_number(x, Op::Reshape, shape, {}, origin);
  if (x->op == Op::Reshape && !x->realized() && !x->axis_strides) {
    auto below = x->lazy_sources();
    if (!below.empty()) {
      // For other layouts the strides below may not be able to express the shape in between, and then the layouts
      // differ.
      if (below[0]->layout_class == LayoutClass::RowMajor) {
        if (known_same(below[0]->shape, shape)) return below[0];
        return moved(Op::Reshape, std::move(below[0]), shape, {}, origin);
      }
    }
  }
  return moved(Op::Reshape, std::move(x), shape, {}, origin);
}

NodePtr permute(NodePtr x, const Ints& order, const Origin& origin) {
  check_rank(Op::Permute, x->shape, order.size(), "axes", origin);
  const std::size_t rank = order.size();
  Shape shape(rank);
  boost::container::small_vector<bool, 16> seen(rank, false);
  bool identity = true;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t from = order[d].value();
    if (from < 0 || from >= static_cast<std::int64_t>(rank) || seen[static_cast<std::size_t>(from)]) {
      throw ShapeError(called(origin, Op::Permute),
                       fmt::format("{} is no order of the axes of {}; give each of 0 to {} once", to_string(order),
                                   to_string(x->shape), rank - 1));
    }
    seen[static_cast<std::size_t>(from)] = true;
    shape[d] = x->shape[static_cast<std::size_t>(from)];
    identity = identity && from == static_cast<std::int64_t>(d);
  }
  if (identity) return x;
  if (is_const(*x)) return same_number(x, Op::Permute, shape, order, origin);
  return moved(Op::Permute, std::move(x), shape, order, origin);
}

NodePtr expand(NodePtr x, const Shape& shape, const Origin& origin) {
  if (known_same(x->shape, shape)) return x;
  check_rank(Op::Expand, x->shape, shape.size(), "extents", origin);
  check_extents(Op::Expand, shape, origin);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!sym::grows_to(x->shape[d], shape[d], stating(origin, Op::Expand))) {
      throw ShapeError(called(origin, Op::Expand),
                       fmt::format("axis {} of {} cannot grow to {} for {}; only axes of extent 1 grow", d,
                                   to_string(x->shape), to_string(shape[d]), to_string(shape)));
    }
  }
  checked_numel(shape, called(origin, Op::Expand).c_str());
  if (is_const(*x)) return same_number(x, Op::Expand, shape, {}, origin);
  return moved(Op::Expand, std::move(x), shape, {}, origin);
}

NodePtr shrink(NodePtr x, const Ranges& ranges, const Origin& origin) {
  check_rank(Op::Shrink, x->shape, ranges.size(), "ranges", origin);
  Shape shape(ranges.size());
  const std::string_view name = stating(origin, Op::Shrink);
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const auto [lo, hi] = ranges[d];
    if (!sym::required(lo >= 0, name) || !sym::required(hi >= lo, name) || !sym::required(hi <= x->shape[d], name)) {
      throw ShapeError(called(origin, Op::Shrink),
                       fmt::format("[{}, {}) leaves axis {} of {}; give 0 <= lo <= hi <= {}", to_string(ranges[d].lo),
                                   to_string(ranges[d].hi), d, to_string(x->shape), to_string(x->shape[d])));
    }
    shape[d] = ranges[d].extent();
  }
  if (known_same(shape, x->shape)) return x;
  if (is_const(*x)) return same_number(x, Op::Shrink, shape, std::make_shared<const Ranges>(ranges), origin);
  return moved(Op::Shrink, std::move(x), shape, std::make_shared<const Ranges>(ranges), origin);
}

NodePtr pad(NodePtr x, const Ranges& before_after, const Origin& origin) {
  check_rank(Op::Pad, x->shape, before_after.size(), "ranges", origin);
  Shape shape(before_after.size());
  const std::string name = called(origin, Op::Pad);
  for (std::size_t d = 0; d < before_after.size(); ++d) {
    const auto [before, after] = before_after[d];
    if (!sym::required(before >= 0, name) || !sym::required(after >= 0, name)) {
      throw ShapeError(name, fmt::format("({}, {}) on axis {} of {}; give counts >= 0", to_string(before),
                                         to_string(after), d, to_string(x->shape)));
    }
    try {
      shape[d] = before + after + x->shape[d];
    } catch (const OverflowError&) {
      throw OverflowError(name, fmt::format("({}, {}) on axis {} of {} passes 2^63-1", to_string(before),
                                            to_string(after), d, to_string(x->shape)));
    }
  }
  if (known_same(shape, x->shape)) return x;
  checked_numel(shape, name.c_str());
  if (is_const(*x) && is_zero(*x))
    return same_number(x, Op::Pad, shape, std::make_shared<const Ranges>(before_after), origin);
  return moved(Op::Pad, std::move(x), shape, std::make_shared<const Ranges>(before_after), origin);
}

NodePtr flip(NodePtr x, const Ints& axes, const Origin& origin) {
  SymInt last = -1;
  bool identity = true;
  for (const SymInt axis : axes) {
    if (axis <= last || axis >= x->shape.size()) {
      throw ShapeError(called(origin, Op::Flip), fmt::format("axes {} of {} must ascend and lie in [0, {})",
                                                             to_string(axes), to_string(x->shape), x->shape.size()));
    }
    last = axis;
    identity = identity && sym::known(x->shape[static_cast<std::size_t>(axis.value())] <= 1).value_or(false);
  }
  if (identity) return x;
  const Shape shape = x->shape;
  if (is_const(*x)) return same_number(x, Op::Flip, shape, axes, origin);
  return moved(Op::Flip, std::move(x), shape, axes, origin);
}

NodePtr format(NodePtr x, MemoryFormat format, const Origin& origin) {
  if (format == MemoryFormat::preserve) return x;
  const std::size_t rank = format == MemoryFormat::channels_last ? 4 : 5;
  if (format != MemoryFormat::contiguous && x->shape.size() != rank) {
    throw ShapeError(called(origin, Op::Format),
                     fmt::format("{} is for tensors with {} axes and {} has {}; reshape it first", oriel::name(format),
                                 rank, to_string(x->shape), x->shape.size()));
  }
  const Shape shape = x->shape;
  return moved(Op::Format, std::move(x), shape, Ints{static_cast<std::int64_t>(format)}, origin);
}

NodePtr format(NodePtr x, const Ints& strides, const Origin& origin) {
  check_rank(Op::Format, x->shape, strides.size(), "strides", origin);
  const Shape shape = x->shape;
  Ints arg{static_cast<std::int64_t>(MemoryFormat::preserve)};
  arg.insert(arg.end(), strides.begin(), strides.end());
  return moved(Op::Format, std::move(x), shape, std::move(arg), origin);
}

namespace {

/// Does the view read inside of `have` elements? A condition without a branch, for sizes that depend on data.
SymBool reads_inside(const View& view, SymInt have) {
  SymInt lowest = view.offset, highest = view.offset;
  SymBool none = false;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const SymInt lo = view.masked() ? view.mask[d].lo : SymInt(0);
    const SymInt hi = view.masked() ? view.mask[d].hi : view.shape[d];
    none = none | (hi <= lo);
    const SymInt at_lo = lo * view.strides[d], at_hi = (hi - 1) * view.strides[d];
    lowest += sym_min(at_lo, at_hi);
    highest += sym_max(at_lo, at_hi);
  }
  return none | ((lowest >= 0) & (highest < have));
}

}  // namespace

NodePtr raw_view(NodePtr x, const View& view, const Origin& origin) {
  const std::string name = called(origin, Op::RawView);
  const SymInt have = numel(x->shape, name.c_str());
  const SymInt shown = numel(view.shape, name.c_str());
  if (sym::depends_on_data(have) || sym::depends_on_data(shown)) {
    if (!sym::required(reads_inside(view, have), name))
      throw ShapeError(name, fmt::format("{} leaves a source {} with {} elements", view.str(), to_string(x->shape),
                                         to_string(have)));
    return view_inside(std::move(x), view, origin);
  }
  // The lowest and highest valid positions, if any index is valid.
  SymInt lowest = view.offset;
  SymInt highest = view.offset;
  bool any = true;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const SymInt lo = view.masked() ? view.mask[d].lo : SymInt(0);
    const SymInt hi = view.masked() ? view.mask[d].hi : view.shape[d];
    if (hi <= lo) {
      any = false;
      break;
    }
    const SymInt at_lo = lo * view.strides[d];
    const SymInt at_hi = (hi - 1) * view.strides[d];
    lowest += view.strides[d] < 0 ? at_hi : at_lo;
    highest += view.strides[d] < 0 ? at_lo : at_hi;
  }
  if (any && (lowest < 0 || highest >= have)) {
    throw ShapeError(name, fmt::format("{} reads positions {} to {} of a source {} with {} elements", view.str(),
                                       to_string(lowest), to_string(highest), to_string(x->shape), to_string(have)));
  }
  return view_inside(std::move(x), view, origin);
}

NodePtr view_inside(NodePtr x, const View& view, const Origin& origin) {
  if (known_same(view.shape, x->shape) && is_identity(view)) return x;
  if (is_const(*x) && (!view.masked() || is_zero(*x))) {
    return same_number(x, Op::RawView, view.shape, std::make_shared<const View>(view), origin);
  }
  return moved(Op::RawView, std::move(x), view.shape, std::make_shared<const View>(view), origin);
}

NodePtr broadcast_operand(NodePtr x, const Shape& shape, const Origin& origin) {
  if (known_same(x->shape, shape)) return x;
  checked_numel(shape, called(origin, Op::Expand).c_str());
  if (is_const(*x)) {
    NodePtr number = make_leaf(Op::Const, x->dtype, shape, x->arg, x->device, origin);
    auto* fresh = const_cast<Node*>(number.get());
    if (x->found) fresh->found.set(*x->found.get());  // with the strides of the operand
    fresh->layout_class = x->layout_class;
    return number;
  }
  const auto mark = [](NodePtr node) {
    const_cast<Node*>(node.get())->broadcast = true;
    return node;
  };
  Shape padded(shape.size(), 1);
  std::copy(x->shape.begin(), x->shape.end(), padded.end() - static_cast<std::ptrdiff_t>(x->shape.size()));
  if (padded.size() != x->shape.size()) x = mark(moved(Op::Reshape, std::move(x), padded, {}, origin));
  return known_same(padded, shape) ? x : mark(moved(Op::Expand, std::move(x), shape, {}, origin));
}

NodePtr restepped(NodePtr x, AxisStrides strides, const Origin& origin) {
  const Shape shape = x->shape;
  if (is_const(*x)) {
    NodePtr number = same_number(x, Op::Reshape, shape, {}, origin);
    return strides.empty() ? number : restrided(std::move(number), x, std::move(strides));
  }
  NodePtr out = moved(Op::Reshape, std::move(x), shape, {}, origin);
  auto* node = const_cast<Node*>(out.get());
  if (!strides.empty()) node->axis_strides = std::make_shared<const AxisStrides>(std::move(strides));
  node->layout_class = LayoutClass::Any;
  return out;
}

NodePtr restrided(NodePtr moved, const NodePtr& source, AxisStrides strides) {
  auto* node = const_cast<Node*>(moved.get());
  if (node->references.load(std::memory_order_relaxed) != 1) return moved;
  if (node->op == Op::Const && source->op == Op::Const) {
    if (!source->found || numel(node->shape) == 0) return moved;
    Node movement;
    movement.shape = node->shape;
    movement.axis_strides = std::make_shared<const AxisStrides>(std::move(strides));
    return laid_out_constant(std::move(moved), layout_of_movement(movement, source->found->layout));
  }
  if (node->sources.size() != 1 || node->sources[0] != source) return moved;
  node->axis_strides = std::make_shared<const AxisStrides>(std::move(strides));
  return moved;
}

}  // namespace oriel::graph
