// The movement builders. Each one checks its argument, folds what costs nothing to fold, and otherwise makes one node.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "graph/build.hpp"
#include "graph/layout.hpp"
#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

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

}  // namespace

bool is_identity(const View& view) {
  return !view.masked() && identical(view.offset, 0) && known_same(view.strides, contiguous_strides(view.shape));
}

namespace {

NodePtr made_reshape(NodePtr x, const Shape& shape, const Origin& origin) {
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

Arg argument(const Move& move) {
  switch (row(move.op).takes) {
    case Takes::Target:
    case Takes::Extents:
      return {};
    case Takes::Slices:
    case Takes::Pads:
      return std::make_shared<const Ranges>(*move.ranges);
    default:
      return *move.ints;
  }
}

}  // namespace

NodePtr move(NodePtr x, const Move& move, const Origin& origin) {
  const Takes takes = row(move.op).takes;
  if (takes == Takes::View) return raw_view(std::move(x), *move.view, origin);
  if ((takes == Takes::Target || takes == Takes::Extents) && known_same(x->shape, move.shape)) return x;
  const Movement& functions = movement(move.op);
  functions.check(x->shape, move, origin);
  if (takes == Takes::Target) return made_reshape(std::move(x), move.shape, origin);
  if (takes == Takes::Format) {
    const Shape shape = x->shape;
    return moved(move.op, std::move(x), shape, *move.ints, origin);
  }
  const IndexMap map = functions.map(x->shape, move);
  if (is_identity(map, x->shape)) return x;
  if (is_const(*x) && (!map.pads || is_zero(*x))) return same_number(x, move.op, map.shape, argument(move), origin);
  return moved(move.op, std::move(x), map.shape, argument(move), origin);
}

NodePtr reshape(NodePtr x, const Shape& shape, const Origin& origin) {
  return move(std::move(x), {Op::Reshape, shape}, origin);
}
NodePtr permute(NodePtr x, const Ints& order, const Origin& origin) {
  return move(std::move(x), {Op::Permute, order, &order}, origin);
}
NodePtr expand(NodePtr x, const Shape& shape, const Origin& origin) {
  return move(std::move(x), {Op::Expand, shape}, origin);
}
NodePtr shrink(NodePtr x, const Ranges& ranges, const Origin& origin) {
  return move(std::move(x), {Op::Shrink, {}, nullptr, &ranges}, origin);
}
NodePtr pad(NodePtr x, const Ranges& before_after, const Origin& origin) {
  return move(std::move(x), {Op::Pad, {}, nullptr, &before_after}, origin);
}
NodePtr flip(NodePtr x, const Ints& axes, const Origin& origin) {
  return move(std::move(x), {Op::Flip, axes, &axes}, origin);
}

NodePtr format(NodePtr x, MemoryFormat format, const Origin& origin) {
  if (format == MemoryFormat::preserve) return x;
  const Ints arg{static_cast<std::int64_t>(format)};
  return move(std::move(x), {Op::Format, arg, &arg}, origin);
}

NodePtr format(NodePtr x, const Ints& strides, const Origin& origin) {
  Ints arg{static_cast<std::int64_t>(MemoryFormat::preserve)};
  arg.insert(arg.end(), strides.begin(), strides.end());
  return move(std::move(x), {Op::Format, arg, &arg}, origin);
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

NodePtr with_unit_axis_strides(NodePtr x, AxisStrides strides, const Origin& origin) {
  const Shape shape = x->shape;
  if (is_const(*x)) {
    NodePtr number = same_number(x, Op::Reshape, shape, {}, origin);
    return strides.empty() ? number : with_derived_strides(std::move(number), x, std::move(strides));
  }
  NodePtr out = moved(Op::Reshape, std::move(x), shape, {}, origin);
  auto* node = const_cast<Node*>(out.get());
  if (!strides.empty()) node->axis_strides = std::make_shared<const AxisStrides>(std::move(strides));
  node->layout_class = LayoutClass::Any;
  return out;
}

NodePtr with_derived_strides(NodePtr moved, const NodePtr& source, AxisStrides strides) {
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
