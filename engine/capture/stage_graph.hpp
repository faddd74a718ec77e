// What the trace of a captured function has recorded, and the part of it that one stage computes.
#pragma once

#include <span>
#include <vector>

#include "capture/plan_table.hpp"
#include "capture/symbolic_plan.hpp"
#include "graph/sizes.hpp"

namespace oriel::api {

/// What the trace of an entry with symbolic sizes has recorded.
struct TracedGraph {
  /// What a call computes; the results' values come first.
  std::vector<graph::NodePtr> values;
  struct Input {
    graph::NodePtr placeholder;
    graph::RealizedKind kind;
  };
  std::vector<Input> storages;
  std::vector<Input> numbers;
  /// Positions that a call finds where `mask` is true, once that is computed. Their number is a symbol. Or, if
  /// `element` is set, the only element of `mask`, an int64 value; it is the symbol itself.
  struct Unbacked {
    Input positions;
    CapturedValue mask;
    bool element = false;
  };
  std::vector<Unbacked> unbacked;
  std::vector<graph::NodePtr> constants;  // leaves that are not inputs; the entry owns them
  /// For each result: movements over other memory, the first one first.
  std::vector<std::vector<graph::NodePtr>> movements;
  bool trusted = true;  // else it comes from a file, and is verified at each set of sizes
};

/// The part of a traced graph that a stage computes, and the same part over other sizes. Immutable. Thread safety: any
/// thread.
class StageGraph {
 public:
  /// `computes`: the values of the stage. `known`: the values of earlier stages. `last`: has the results' movements.
  /// `graph` must outlive it.
  StageGraph(const TracedGraph& graph, std::vector<std::size_t> computes, const std::vector<std::size_t>& known,
             bool last);

  const TracedGraph& traced() const noexcept { return graph_; }
  const std::vector<std::size_t>& computes() const noexcept { return computes_; }
  /// The sizes that it depends on.
  const graph::Sizes& sizes() const noexcept { return sizes_; }
  /// The context in which its work is done.
  std::uint16_t context() const noexcept { return graph_.values[computes_.front()]->device.context; }

  /// Over other sizes. Its leaves are stand-ins without memory, null for those that the stage does not read.
  struct Resized {
    std::vector<graph::NodePtr> leaves;
    std::vector<graph::NodePtr> roots;  // of computes()
  };
  /// `done`: by value, those of earlier stages in memory; without them they are taken for row-major ones.
  Resized at(const graph::Sizes::At& sizes, std::span<const graph::NodePtr> done) const;
  /// Are the values that it reads of earlier stages row-major?
  bool reads_row_major(std::span<const graph::NodePtr> done) const;

  /// Over the symbols of another environment, for a symbolic plan or an export.
  struct Symbolic : Resized {
    graph::Sizes::At at;
  };
  Symbolic over(const PlanSymbols& symbols) const;
  /// Which leaf has this memory.
  CapturedValue leaf_of(const mem::BufferPtr& buffer, const Resized& resized) const;
  /// The leaf that stands for an input or a number.
  graph::NodePtr leaf(const CapturedValue& value, const PlanSymbols& symbols, Symbolic& graph) const;

 private:
  /// A leaf of the graph: where its memory comes from in a call.
  struct Leaf {
    CapturedValue from;
    const graph::Node* node;
    const graph::RealizedKind* kind;  // null: that of the value in memory
  };
  struct TracedNode {
    const graph::Node* node;
    std::int32_t leaf = -1;  // its place in leaves_; -1 for other nodes
    bool root = false;
    std::vector<std::uint32_t> sources;  // their places in order_
  };
  void walk();
  std::vector<graph::NodePtr> make_stand_ins(const graph::Sizes::At& at, std::span<const graph::NodePtr> done) const;
  std::vector<graph::NodePtr> resized(const graph::Sizes::At& at, std::span<const graph::NodePtr> stand_ins) const;

  const TracedGraph& graph_;
  std::vector<std::size_t> computes_;
  std::vector<Leaf> leaves_;
  std::vector<TracedNode> order_;     // sources come first
  std::vector<std::uint32_t> roots_;  // their places in order_
  graph::Sizes sizes_;
};

}  // namespace oriel::api
