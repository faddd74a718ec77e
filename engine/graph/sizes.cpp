#include "graph/sizes.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "sym/environment.hpp"
#include "sym/print.hpp"

namespace oriel::graph {

namespace {

// Is it a pointer to a value with sizes?
template <class T>
constexpr bool kHoldsSizes = false;
template <class T>
constexpr bool kHoldsSizes<std::shared_ptr<const T>> = !std::is_same_v<T, HostFunction> && !std::is_same_v<T, Tag>;

}  // namespace

void Sizes::add(SymInt n) {
  if (!n.is_symbolic()) return;
  if (index_.insert(n.node(), static_cast<std::uint32_t>(expressions_.size())).second) expressions_.push_back(n.node());
}

void Sizes::add(const ShapeTracker& stack) {
  for (const View& view : stack.views()) add(view);
}

void Sizes::add(const Node& node) {
  add(node.shape);
  std::visit(
      [this]<class T>(const T& arg) {
        if constexpr (std::is_same_v<T, Ints>) add(arg);
        if constexpr (kHoldsSizes<T>) add(*arg);
      },
      node.arg);
  if (node.op == Op::Const && node.found) add(*node.found.get());
  if (node.axis_strides) add(*node.axis_strides);
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

ShapeTracker Sizes::At::operator()(const ShapeTracker& stack) const {
  std::vector<View> views(stack.views().begin(), stack.views().end());
  for (View& view : views) view = (*this)(view);
  return ShapeTracker::from_views(views);
}

namespace {

// Would the builder have returned the source, had it known these sizes? Asks of symbols only whether an axis that is
// read backwards has one element, because the strides of a result say so.
bool changes_nothing(const Node& node, const Arg& arg, const Shape& shape, const Node& source) {
  if (node.axis_strides || !is_movement(node.op) || !known_same(shape, source.shape)) return false;
  const Move move = move_of(node.op, shape, arg);
  if (const auto map = movement(node.op).map) return is_identity(map(source.shape, move), source.shape, Ask::guards);
  if (row(node.op).takes == Takes::View) return is_identity(*move.view);
  // A reshape to the shape that the source has for all sizes only sets strides (with_unit_axis_strides).
  return node.op == Op::Reshape && !known_same(node.shape, node.sources[0]->shape);
}

// Copies the marks of a node that its parts do not determine. No other thread knows `fresh` yet.
void copy_marks(const Node& node, Node& fresh) {
  fresh.mirrored = node.mirrored;
  fresh.broadcast = node.broadcast;
  fresh.over_memory = node.over_memory;
  // A reshape to the same shape that says other strides (with_unit_axis_strides).
  if (node.op == Op::Reshape && node.layout_class == LayoutClass::Any) fresh.layout_class = LayoutClass::Any;
}

}  // namespace

Arg Sizes::At::operator()(const Arg& arg) const {
  return std::visit(
      [this]<class T>(const T& x) -> Arg {
        if constexpr (kHoldsSizes<T>)
          return std::make_shared<typename T::element_type>((*this)(*x));
        else if constexpr (std::is_same_v<T, Ints>)
          return (*this)(x);
        else
          return x;
      },
      arg);
}

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
