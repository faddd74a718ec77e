#include "grad/sum_of_products.hpp"

#include <algorithm>

#include "graph/movements.hpp"

namespace oriel::derive {

namespace {

constexpr std::size_t kMostFactors = 4;

/// Do the views below and including `level` show the same elements for all indices along an axis?
bool is_constant_along(std::span<const View> views, std::size_t level, std::size_t axis) {
  const View& view = views[level];
  if (view.masked() && !surely(view.mask[axis].extent() == view.shape[axis])) return false;
  const SymInt stride = view.strides[axis];
  if (identical(stride, 0)) return true;
  if (level == 0 || !graph::is_identity(view)) return false;
  // A reshape: the axis is a part of one axis below, or lies in several.
  const Shape& below = views[level - 1].shape;
  const Ints strides = contiguous_strides(below);
  for (std::size_t d = 0; d < below.size(); ++d) {
    if (!surely(stride >= strides[d]) || !surely(stride % strides[d] == 0)) continue;
    if (surely(stride * view.shape[axis] <= strides[d] * below[d])) return is_constant_along(views, level - 1, d);
  }
  return false;
}

/// Does x have the same elements for all indices along an axis, as its movements say?
bool is_constant_along(const NodePtr& x, std::size_t axis) {
  if (x->op == Op::Const && !x->realized()) return true;
  std::vector<NodePtr> chain;
  NodePtr base = x;
  while (graph::is_movement(base->op) && !base->realized()) {
    auto sources = base->lazy_sources();
    if (sources.empty()) break;
    chain.push_back(std::move(base));
    base = std::move(sources[0]);
  }
  ShapeTracker map(base->shape);
  for (std::size_t k = chain.size(); k-- > 0;) map = graph::moved(map, *chain[k]);
  map = map.simplify();
  return is_constant_along(map.views(), map.views().size() - 1, axis);
}

/// x; a number is made again in this shape, because one that was broadcast has the layout of its operand.
Value of_own_shape(const Value& x) {
  const auto* const number = std::get_if<graph::Scalar>(&x.node()->arg);
  if (x.node()->op != Op::Const || x.node()->realized() || number == nullptr) return x;
  return {x.call(), graph::constant(*number, x.shape(), x.device(), x.call().origin())};
}

}  // namespace

// `count` axes from `axis` on, by others that f makes of their extents.
template <class F>
void SumOfProducts::reshape_each(std::size_t axis, std::size_t count, F&& f) {
  const auto changed = [&](const Shape& from) {
    const auto at = static_cast<std::ptrdiff_t>(axis), end = at + static_cast<std::ptrdiff_t>(count);
    Shape out(from.begin(), from.begin() + at);
    const Shape made = f(Shape(from.begin() + at, from.begin() + end));
    out.insert(out.end(), made.begin(), made.end());
    out.insert(out.end(), from.begin() + end, from.end());
    return out;
  };
  for (Value& x : factors_) x = x.reshape(changed(x.shape()));
  shape_ = changed(shape_);
}

SumOfProducts::SumOfProducts(const Value& x) {
  take(x, 0, false);
  shape_ = factors_.front().shape();
  for (Value& factor : factors_) {
    Value narrow = factor;
    for (std::size_t d = 0; d < shape_.size(); ++d)
      if (is_constant_along(factor.node(), d)) narrow = narrow.shrink(d, 0, sym_min(shape_[d], 1));
    factor = narrow;
  }
}

void SumOfProducts::permute(const Ints& order) {
  Shape shape;
  for (const SymInt d : order) shape.push_back(shape_[static_cast<std::size_t>(d.value())]);
  for (Value& x : factors_) x = x.permute(order);
  shape_ = shape;
}

void SumOfProducts::insert(std::size_t axis) {
  reshape_each(axis, 0, [](const Shape&) { return Shape{1}; });
}

void SumOfProducts::drop(std::size_t axis) {
  reshape_each(axis, 1, [](const Shape&) { return Shape{}; });
}

void SumOfProducts::split(std::size_t axis, SymInt parts) {
  const SymInt each = shape_[axis] / parts;
  reshape_each(axis, 1, [&](const Shape& of) { return identical(of[0], 1) ? Shape{1, 1} : Shape{parts, each}; });
}

void SumOfProducts::join(std::size_t axis) {
  for (Value& x : factors_) {  // a factor depends on both, or on none
    const bool first = identical(x.shape()[axis], 1), second = identical(x.shape()[axis + 1], 1);
    if (first != second) x = repeated(x, first ? axis : axis + 1);
  }
  reshape_each(axis, 2, [](const Shape& of) { return Shape{of[0] * of[1]}; });
}

void SumOfProducts::flip(std::size_t axis) {
  for (Value& x : factors_)
    if (!identical(x.shape()[axis], 1)) x = flipped(x, axis);
}

void SumOfProducts::shrink(std::size_t axis, SymInt lo, SymInt hi) {
  for (Value& x : factors_)
    if (!identical(x.shape()[axis], 1) || identical(shape_[axis], 1)) x = x.shrink(axis, lo, hi);
  shape_[axis] = hi - lo;
}

void SumOfProducts::pad(std::size_t axis, SymInt before, SymInt behind) {
  bool some = false;
  for (Value& x : factors_) {
    if (identical(x.shape()[axis], 1)) continue;
    x = padded(x, axis, before, behind);
    some = true;
  }
  if (!some) factors_[0] = padded(repeated(factors_[0], axis), axis, before, behind);
  shape_[axis] = before + shape_[axis] + behind;
}

void SumOfProducts::sum_over(std::size_t axis) {
  Ints order;
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (d != axis) order.push_back(d);
  order.push_back(axis);
  permute(order);
  ++summed_;
}

Value SumOfProducts::value() const {
  Value product = factors_.front();
  for (std::size_t k = 1; k < factors_.size(); ++k) product = product * factors_[k];
  product = product.broadcast(shape_);
  if (summed_ == 0) return product;
  const Ints axes = api::axes_from(rank(), shape_.size());
  return product.reduce(Op::Sum, axes).drop(axes);
}

// The factors of x, and the axes of its sum. Below a product only further factors are looked for.
void SumOfProducts::take(const Value& x, std::size_t depth, bool factor) {
  constexpr std::size_t kDeepest = 64;
  const Node& node = *x.node();
  const auto sources = depth < kDeepest && !node.realized() ? node.lazy_sources() : Node::Sources{};
  const Call& call = x.call();
  if (!sources.empty() && node.op == Op::Sum && !factor) {
    take_sum(node, Value(call, sources[0]), depth);
  } else if (!sources.empty() && node.op == Op::Mul && factors_.size() < kMostFactors) {
    for (const NodePtr& source : sources) take(Value(call, source), depth + 1, true);
  } else if (!sources.empty() && !factor && (node.op == Op::Reshape || node.op == Op::Permute)) {
    take_moved(node, Value(call, sources[0]), depth);
  } else {
    factors_.push_back(of_own_shape(x));
  }
}

void SumOfProducts::take_sum(const Node& node, const Value& of, std::size_t depth) {
  const Ints& axes = std::get<Ints>(node.arg);
  take(of, depth + 1, false);
  Ints order;
  for (std::size_t d = 0; d < of.shape().size(); ++d)
    if (std::find(axes.begin(), axes.end(), SymInt(d)) == axes.end()) order.push_back(d);
  order.insert(order.end(), axes.begin(), axes.end());
  for (std::size_t k = 0; k < summed_; ++k) order.push_back(of.shape().size() + k);
  Shape with_units = node.shape;
  for (const SymInt axis : axes) with_units.push_back(of.shape()[static_cast<std::size_t>(axis.value())]);
  add_summed(with_units);
  for (Value& x : factors_) x = x.permute(order).reshape(with_units);
  summed_ += axes.size();
}

void SumOfProducts::take_moved(const Node& node, const Value& of, std::size_t depth) {
  take(of, depth + 1, false);
  Shape target = node.shape;
  add_summed(target);
  Ints order;
  if (node.op == Op::Permute) order = std::get<Ints>(node.arg);
  for (std::size_t k = 0; k < summed_; ++k) order.push_back(node.shape.size() + k);
  for (Value& x : factors_) x = node.op == Op::Reshape ? x.reshape(target) : x.permute(order);
}

// The extents of the axes that are summed.
void SumOfProducts::add_summed(Shape& shape) const {
  const Shape& inner = factors_.front().shape();
  shape.insert(shape.end(), inner.end() - static_cast<std::ptrdiff_t>(summed_), inner.end());
}

Value SumOfProducts::repeated(const Value& x, std::size_t axis) const {
  Shape wide = x.shape();
  wide[axis] = shape_[axis];
  return x.broadcast(wide);
}

}  // namespace oriel::derive
