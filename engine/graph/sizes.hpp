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

/// Collects the expressions of a symbolic graph, and computes them for given values of their symbols. The environment
/// of the expressions must outlive it.
///
/// Thread safety: any thread, once compile() has returned.
class Sizes {
 public:
  /// What the node's shape, argument and layout say.
  void add(const Node& node);
  void add(const RealizedKind& kind);
  /// Call it once, after the last add().
  void compile();
  /// The symbols, in the order in which at() takes their values.
  std::span<const sym::Expr> variables() const noexcept { return program_->variables(); }

  /// @{
  /// Further expressions.
  void add(SymInt n);
  void add(const Ints& ints);
  void add(const ShapeTracker& stack);
  /// @}

  /// The sizes for some values of the symbols. Refers to the Sizes.
  class At {
   public:
    SymInt operator()(SymInt n) const;
    Ints operator()(const Ints& ints) const;
    Ranges operator()(const Ranges& ranges) const;
    View operator()(const View& view) const;
    ShapeTracker operator()(const ShapeTracker& stack) const;
    FoundLayout operator()(const FoundLayout& found) const;
    RealizedKind operator()(const RealizedKind& kind) const;
    Arg operator()(const Arg& arg) const;
    AxisStrides operator()(const AxisStrides& strides) const;

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
  void add(const Ranges& ranges);
  void add(const View& view);
  void add(const FoundLayout& found);

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
