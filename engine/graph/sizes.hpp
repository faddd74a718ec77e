// The symbolic sizes of a graph, and the same graph with numbers in their place.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/make.hpp"
#include "graph/node.hpp"
#include "oriel/shape_env.hpp"
#include "sym/program.hpp"
#include "sym/visit.hpp"

namespace oriel::graph {

/// @{
/// Calls visit(n) for each size n of a value.
template <class Visit>
void each_size(SymInt& n, const Visit& visit) {
  visit(n);
}
template <class Visit>
void each_size(Range& range, const Visit& visit) {
  visit(range.lo);
  visit(range.hi);
}
template <class List, class Visit>
requires requires(List& list) { list.begin(); }
void each_size(List& list, const Visit& visit) {
  for (auto& one : list) each_size(one, visit);
}
template <class Visit>
void each_size(View& view, const Visit& visit) {
  each_size(view.shape, visit);
  each_size(view.strides, visit);
  visit(view.offset);
  each_size(view.mask, visit);
}
template <class Visit>
void each_size(FoundLayout& found, const Visit& visit) {
  each_size(found.layout.shape, visit);
  each_size(found.layout.strides, visit);
  each_size(found.memory, visit);
}
template <class Visit>
void each_size(RealizedKind& kind, const Visit& visit) {
  each_size(kind.shape, visit);
  if (kind.found) each_size(*kind.found, visit);
}
template <class Visit>
void each_size(AxisStride& axis, const Visit& visit) {
  visit(axis.constant);
  for (AxisStride::Term& term : axis.terms) visit(term.factor);
}
/// @}

/// Collects the expressions of a symbolic graph, and computes them for given values of their symbols. The environment
/// of the expressions must outlive it.
///
/// Thread safety: any thread, once compile() has returned.
class Sizes {
 public:
  /// What the node's shape, argument and layout say.
  void add(const Node& node);
  /// Call it once, after the last add().
  void compile();
  /// The symbols, in the order in which at() takes their values.
  std::span<const sym::Expr> variables() const noexcept { return program_->variables(); }

  /// @{
  /// Further expressions.
  void add(SymInt n);
  void add(const ShapeTracker& stack);
  template <class T>
  void add(T value) {
    each_size(value, [this](SymInt n) { add(n); });
  }
  /// @}

  /// The sizes for some values of the symbols. Refers to the Sizes.
  class At {
   public:
    SymInt operator()(SymInt n) const;
    ShapeTracker operator()(const ShapeTracker& stack) const;
    Arg operator()(const Arg& arg) const;
    template <class T>
    T operator()(T value) const {
      each_size(value, [this](SymInt& n) { n = (*this)(n); });
      return value;
    }

   private:
    friend class Sizes;
    explicit At(const Sizes& sizes) : sizes_(&sizes) {}
    const Sizes* sizes_;
    std::vector<SymInt> values_;  // of each expression
  };
  /// `values`: one for each of variables(). Throws OverflowError or ArgumentError if a size has no value.
  At at(std::span<const std::int64_t> values) const;
  /// The sizes as expressions of another environment: `variables` has one of its symbols for each of variables().
  At in(ShapeEnv& env, const sym::Replacements& variables) const;

 private:
  sym::NodeTable<std::uint32_t> index_;
  std::vector<sym::Expr> expressions_;
  std::unique_ptr<const sym::Program> program_;
};

/// A pending node of a symbolic graph over other sources, with the sizes of `at`. Movements that change nothing at
/// these sizes return their source, as the builders do, unless the node is to `stay`.
NodePtr resized(const Node& node, const Sizes::At& at, std::span<NodePtr> sources, bool stay = false);

/// The movement `like` of another node of the same shape as its source.
NodePtr movement_like(const Node& like, NodePtr x);
/// The same with other sizes.
NodePtr movement_like(const Node& like, NodePtr x, const Shape& shape, Arg arg);

}  // namespace oriel::graph
