#include "graph/sizes.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "oriel/error.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel::graph {

void Sizes::add(SymInt n) {
  if (!n.is_symbolic()) return;
  if (index_.insert(n.node(), static_cast<std::uint32_t>(expressions_.size())).second) expressions_.push_back(n.node());
}

void Sizes::add(const Ints& ints) {
  for (const SymInt n : ints) add(n);
}

void Sizes::add(const Ranges& ranges) {
  for (const Range& r : ranges) {
    add(r.lo);
    add(r.hi);
  }
}

void Sizes::add(const View& view) {
  add(view.shape);
  add(view.strides);
  add(view.offset);
  add(view.mask);
}

void Sizes::add(const ShapeTracker& stack) {
  for (const View& view : stack.views()) add(view);
}

void Sizes::add(const FoundLayout& found) {
  add(found.layout.shape);
  add(found.layout.strides);
  add(found.memory);
}

void Sizes::add(const RealizedKind& kind) {
  add(kind.shape);
  if (kind.found) add(*kind.found);
}

void Sizes::add(const Node& node) {
  add(node.shape);
  if (const auto* ints = std::get_if<Ints>(&node.arg)) add(*ints);
  if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&node.arg)) add(**ranges);
  if (const auto* view = std::get_if<std::shared_ptr<const View>>(&node.arg)) add(**view);
  if (const auto* stack = std::get_if<std::shared_ptr<const ShapeTracker>>(&node.arg)) add(**stack);
  if (node.op == Op::Const && node.found) add(*node.found.get());
  if (!node.axis_strides) return;
  for (const AxisStride& axis : *node.axis_strides) {
    add(axis.constant);
    for (const AxisStride::Term& term : axis.terms) add(term.factor);
  }
}

void Sizes::compile() { program_ = std::make_unique<const sym::Program>(expressions_); }

Sizes::At Sizes::at(std::span<const std::int64_t> values) const {
  At at(*this);
  std::vector<sym::Outcome> work(program_->steps());
  std::vector<sym::Outcome> outcomes(expressions_.size());
  program_->run(values, work, outcomes);
  at.values_.reserve(outcomes.size());
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const sym::Outcome& outcome = outcomes[k];
    if (outcome.fault == sym::Outcome::Fault::overflow)
      throw OverflowError("function",
                          "the size " + sym::to_string(expressions_[k]) + " does not fit a signed 64-bit integer");
    if (outcome.fault != sym::Outcome::Fault::none)
      throw ArgumentError("function", "the size " + sym::to_string(expressions_[k]) + " divides by zero");
    at.values_.emplace_back(outcome.value);
  }
  return at;
}

Sizes::At Sizes::in(ShapeEnv& env, const sym::Replacements& variables) const {
  At at(*this);
  for (const sym::Expr expression : expressions_)
    at.values_.emplace_back(sym::moved(expression, env.environment().pool, variables));
  return at;
}

SymInt Sizes::At::operator()(SymInt n) const {
  if (!n.is_symbolic()) return n;
  return values_[*sizes_->index_.find(n.node())];
}

Ints Sizes::At::operator()(const Ints& ints) const {
  Ints out = ints;
  for (SymInt& n : out) n = (*this)(n);
  return out;
}

Ranges Sizes::At::operator()(const Ranges& ranges) const {
  Ranges out = ranges;
  for (Range& r : out) r = {(*this)(r.lo), (*this)(r.hi)};
  return out;
}

View Sizes::At::operator()(const View& view) const {
  return {(*this)(view.shape), (*this)(view.strides), (*this)(view.offset), (*this)(view.mask)};
}

ShapeTracker Sizes::At::operator()(const ShapeTracker& stack) const {
  std::vector<View> views;
  for (const View& view : stack.views()) views.push_back((*this)(view));
  return ShapeTracker::from_views(views);
}

FoundLayout Sizes::At::operator()(const FoundLayout& found) const {
  return {{(*this)(found.layout.shape), (*this)(found.layout.strides)}, (*this)(found.memory)};
}

RealizedKind Sizes::At::operator()(const RealizedKind& kind) const {
  RealizedKind out = kind;
  out.shape = (*this)(kind.shape);
  if (kind.found) out.found = (*this)(*kind.found);
  return out;
}

AxisStrides Sizes::At::operator()(const AxisStrides& strides) const {
  AxisStrides out = strides;
  for (AxisStride& axis : out) {
    axis.constant = (*this)(axis.constant);
    for (AxisStride::Term& term : axis.terms) term.factor = (*this)(term.factor);
  }
  return out;
}

namespace {

struct ResizedArg {
  const Sizes::At& at;
  Arg operator()(const Ints& ints) const { return at(ints); }
  Arg operator()(const std::shared_ptr<const Ranges>& ranges) const {
    return std::make_shared<const Ranges>(at(*ranges));
  }
  Arg operator()(const std::shared_ptr<const View>& view) const { return std::make_shared<const View>(at(*view)); }
  Arg operator()(const std::shared_ptr<const ShapeTracker>& stack) const {
    return std::make_shared<const ShapeTracker>(at(*stack));
  }
  template <class Same>
  Arg operator()(const Same& same) const {
    return same;
  }
};

// Would the builder have returned the source, had it known these sizes? `arg` and `shape` are numbers.
bool changes_nothing(const Node& node, const Arg& arg, const Shape& shape, const Node& source) {
  if (node.axis_strides || shape != source.shape) return false;
  switch (node.op) {
    case Op::Shrink:
    case Op::Pad:
    case Op::Expand:
      return true;
    case Op::Flip: {
      const Ints& axes = std::get<Ints>(arg);
      return std::all_of(axes.begin(), axes.end(),
                         [&](SymInt axis) -> bool { return shape[static_cast<std::size_t>(axis.value())] <= 1; });
    }
    case Op::Reshape:  // a reshape to the shape that the source has for all sizes only sets strides (restepped)
      return !known_same(node.shape, node.sources[0]->shape);
    case Op::RawView:
      return is_identity(*std::get<std::shared_ptr<const View>>(arg));
    default:
      return false;
  }
}

// Copies the marks of a node that its parts do not determine. No other thread knows `fresh` yet.
void copy_marks(const Node& node, Node& fresh) {
  fresh.mirrored = node.mirrored;
  fresh.broadcast = node.broadcast;
  fresh.over_memory = node.over_memory;
  // A reshape to the same shape that says other strides (restepped).
  if (node.op == Op::Reshape && node.layout_class == LayoutClass::Any) fresh.layout_class = LayoutClass::Any;
}

}  // namespace

Arg Sizes::At::operator()(const Arg& arg) const { return std::visit(ResizedArg{*this}, arg); }

NodePtr resized(const Node& node, const Sizes::At& at, std::span<NodePtr> sources, bool stay) {
  const Shape shape = at(node.shape);
  const Origin origin{{}, node.site};
  if (sources.empty()) {
    NodePtr leaf;
    const auto* const size = node.op == Op::Const ? std::get_if<Ints>(&node.arg) : nullptr;
    leaf = size != nullptr ? size_constant(at((*size)[0]), node.dtype, shape, node.device, origin)
                           : make_leaf(node.op, node.dtype, shape, at(node.arg), node.device, origin);
    auto* fresh = const_cast<Node*>(leaf.get());
    if (node.found) fresh->found.set(at(*node.found.get()));
    fresh->layout_class = node.layout_class;
    return leaf;
  }
  Arg arg = at(node.arg);
  if (!stay && changes_nothing(node, arg, shape, *sources[0])) return sources[0];
  NodePtr made = make_node(node.op, node.dtype, shape, std::move(arg), sources, node.device, origin);
  auto* fresh = const_cast<Node*>(made.get());
  copy_marks(node, *fresh);
  if (node.axis_strides) fresh->axis_strides = std::make_shared<const AxisStrides>(at(*node.axis_strides));
  return made;
}

NodePtr movement_like(const Node& like, NodePtr x) { return movement_like(like, std::move(x), like.shape, like.arg); }

NodePtr movement_like(const Node& like, NodePtr x, const Shape& shape, Arg arg) {
  const Node& source = *x;
  NodePtr made = make_node(like.op, source.dtype, shape, std::move(arg), {&x, 1}, source.device, {{}, like.site});
  auto* fresh = const_cast<Node*>(made.get());
  copy_marks(like, *fresh);
  fresh->axis_strides = like.axis_strides;
  return made;
}

}  // namespace oriel::graph
