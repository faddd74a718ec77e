// A part of a captured entry that is scheduled as a whole, and its plan for each set of sizes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/plan_table.hpp"
#include "capture/symbols.hpp"
#include "graph/node.hpp"
#include "graph/sizes.hpp"
#include "runtime/symbolic_plan.hpp"
#include "sym/program.hpp"

namespace oriel::api {

/// The symbols of a trace once more, in an environment of their own. Its guards are what a plan takes for granted.
class PlanSymbols {
 public:
  /// With the sizes of a call as hints, and what is known of the trace's symbols, if the trace is `trusted`. `key`:
  /// of the call, and the counts behind it. A plan is made in the time of a call, where a flat program checks its
  /// guards, so a few more of them cost little.
  PlanSymbols(const SizeSymbols& symbols, std::span<const std::int64_t> key, bool trusted,
              ShapeEnv::Mode mode = ShapeEnv::Mode::quick);

  ShapeEnv& env() const noexcept { return *env_; }
  /// From the trace's symbols to those of env().
  const sym::Replacements& of() const noexcept { return of_; }
  /// The fact that a symbol of env() stands for.
  std::size_t fact_of(sym::Expr symbol) const { return fact_of_.at(symbol); }

  /// Facts that are sizes, rather than where slices start.
  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }
  /// Is the guard of env() one of the trace?
  bool traced(sym::Expr guard) const { return std::ranges::find(traced_guards_, guard) != traced_guards_.end(); }

 private:
  std::unique_ptr<ShapeEnv> env_;
  sym::Replacements of_;
  std::unordered_map<sym::Expr, std::size_t> fact_of_;
  std::vector<std::size_t> sizes_;
  std::vector<sym::Expr> traced_guards_;
};

/// A plan over symbols, and the sizes that it serves: those that satisfy its guards, and are at most four times or a
/// quarter of those for which its kernels were chosen. Or a plan for one set of sizes. Immutable. Thread safety: any
/// thread.
class StagePlan {
 public:
  /// `symbols`: those of the roots; none if their sizes are numbers. No leaf is overwritten: leaves belong to the
  /// caller, or the next call reads them again. Throws an Error if the roots cannot be planned with symbolic sizes.
  StagePlan(std::optional<PlanSymbols> symbols, std::vector<graph::NodePtr> roots, const LeafOf& leaf_of,
            std::span<const std::int64_t> made_for);

  /// Not to be asked of a plan for one set of sizes.
  bool serves(std::span<const std::int64_t> key) const;
  /// What it takes for granted, in the order in which it was decided.
  std::vector<std::string> guard_texts() const;
  /// The plan for the key of a call, without the paths. Precondition: it serves the sizes. `keep`: the most bytes
  /// between kernels that are kept for the next run.
  std::shared_ptr<CapturedPlan> at(std::span<const std::int64_t> key, std::int64_t keep) const;

 private:
  struct Bound {
    std::size_t fact;
    std::int64_t lo;
    std::int64_t hi;
  };
  std::optional<PlanSymbols> symbols_;
  runtime::Caches* caches_ = nullptr;
  std::unique_ptr<const runtime::SymbolicPlan> plan_;  // null if there is nothing to compute
  std::vector<CapturedValue> leaves_;
  std::vector<std::size_t> facts_;  // of the variables of plan_
  std::vector<Bound> bounds_;
  std::unique_ptr<const sym::Program> guards_;
  std::vector<std::size_t> guard_facts_;  // of the variables of guards_
};

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
  StageGraph(const TracedGraph& graph, std::vector<std::size_t> computes,
             const std::vector<std::size_t>& computed_before, bool last);

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

/// Throws IoError unless the graph, whose sizes are numbers, is one that the builders of nodes could have made.
void check_loaded(std::span<const graph::NodePtr> roots);

/// Computes some of the values of a trace. Between two stages positions are found. Its plans for sets of sizes follow
/// from plans over symbols, which it makes where they pay. Immutable but for its plans. Thread safety: any thread,
/// without locks.
class CapturedStage {
 public:
  /// As StageGraph. `graph` and `symbols` must outlive it.
  CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                const std::vector<std::size_t>& computed_before, bool last);
  ~CapturedStage();
  CapturedStage(const CapturedStage&) = delete;
  CapturedStage& operator=(const CapturedStage&) = delete;

  /// The plan for the key of a call and the counts that are known so far. It is made if these sizes are new. Its
  /// roots are those of the graph. `done`: by value, those of earlier stages in memory.
  std::shared_ptr<const CapturedPlan> plan(std::span<const std::int64_t> key,
                                           std::span<const graph::NodePtr> done) const;
  const StageGraph& graph() const noexcept { return graph_; }
  const PlanTable& plans() const noexcept { return plans_; }
  /// The facts that sets of sizes consist of.
  const std::vector<std::size_t>& facts() const noexcept { return facts_; }
  /// How many of the plans were scheduled for their sizes. The others follow from a plan over symbols.
  std::size_t scheduled() const noexcept { return scheduled_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const CapturedPlan> make(std::span<const std::int64_t> key, std::span<const std::int64_t> values,
                                           std::span<const graph::NodePtr> done) const;
  struct Made {
    StagePlan plan;  // over symbols
    Made* next;
  };
  std::shared_ptr<CapturedPlan> from_symbols(std::span<const std::int64_t> key,
                                             std::span<const graph::NodePtr> done) const;
  /// By a plan over symbols that there is; null if none serves these sizes.
  std::shared_ptr<CapturedPlan> served(std::span<const std::int64_t> key) const;
  bool pays() const noexcept;
  /// Makes a plan over symbols for these sizes and others, if that is worth a try. False if there is none.
  bool try_symbols(std::span<const std::int64_t> key) const;
  void add_paths(std::span<const std::int64_t> values, CapturedPlan& plan) const;

  StageGraph graph_;
  const SizeSymbols& symbols_;
  bool last_;
  std::vector<std::size_t> facts_;  // of the variables of the graph's sizes
  mutable PlanTable plans_;
  mutable std::atomic<std::size_t> scheduled_{0};
  mutable std::atomic<Made*> first_{nullptr};     // of the plans over symbols
  mutable std::atomic_flag making_;               // one thread makes a plan over symbols
  mutable std::atomic<std::uint32_t> tries_{0};   // to make them
  mutable std::atomic<std::uint32_t> served_{0};  // sizes that they served
};

/// Says which values each stage computes: before the last stage the masks, and what later stages need that would be
/// costly to compute again. Adds the latter to the values.
std::vector<std::vector<std::size_t>> divide_into_stages(TracedGraph& graph);

}  // namespace oriel::api
