// A part of a captured entry that is scheduled as a whole, and its plan for each set of sizes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "api/captured/open.hpp"
#include "api/captured/plan.hpp"
#include "api/captured/symbols.hpp"
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
  struct Late {
    Input positions;
    CapturedValue mask;
    bool element = false;
  };
  std::vector<Late> late;
  std::vector<graph::NodePtr> constants;  // leaves that are not inputs; the entry owns them
  /// For each result: movements over other memory, the first one first.
  std::vector<std::vector<graph::NodePtr>> movements;
  bool trusted = true;  // else it comes from a file, and is verified at each set of sizes
};

/// Computes some of the values of a trace. Between two stages positions are found. Immutable but for its plans. Thread
/// safety: any thread, without locks.
class CapturedStage {
 public:
  /// `computes`: the values of this stage. `known`: the values of earlier stages. `last`: has the results' movements.
  /// `graph` and `symbols` must outlive it.
  CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                const std::vector<std::size_t>& known, bool last);
  ~CapturedStage();
  CapturedStage(const CapturedStage&) = delete;
  CapturedStage& operator=(const CapturedStage&) = delete;

  /// The plan for the facts of a call and the counts that are known so far. It is made if these sizes are new. Its
  /// roots are `computes()`. `done`: by value, those of earlier stages in memory.
  std::shared_ptr<const CapturedPlan> plan(std::span<const std::int64_t> facts,
                                           std::span<const graph::NodePtr> done) const;
  const std::vector<std::size_t>& computes() const noexcept { return computes_; }

  /// The graph over the symbols of another environment, for an open plan or an export. Its leaves have no memory.
  struct OpenGraph {
    graph::Sizes::At at;
    std::vector<graph::NodePtr> leaves;
    std::vector<graph::NodePtr> roots;  // of computes()
  };
  OpenGraph open_graph(const PlanSymbols& symbols) const;
  /// Which leaf of `graph` has this memory.
  CapturedValue leaf_of(const mem::BufferPtr& buffer, const OpenGraph& graph) const {
    return leaf_of(buffer, std::span<const graph::NodePtr>(graph.leaves));
  }
  /// The leaf of `graph` that stands for an input or a number.
  graph::NodePtr leaf(const CapturedValue& value, const PlanSymbols& symbols, OpenGraph& graph) const;

  /// The facts that sets of sizes consist of, and the sets that have plans, at most `most`.
  const std::vector<std::size_t>& facts() const noexcept { return facts_; }
  std::vector<std::vector<std::int64_t>> met(std::size_t most) const;
  /// How often the plans have run, how many there are, and one of them, if there is one.
  std::uint64_t runs() const noexcept;
  std::size_t plans() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// How many of the plans were scheduled, for their sizes or as open plans. The others follow from an open plan.
  std::size_t scheduled() const noexcept { return scheduled_.load(std::memory_order_relaxed); }
  const CapturedPlan* any_plan() const noexcept;

  /// If there are plans for this many sets of sizes, plans for further sizes are made anew at each call.
  static constexpr std::size_t kMostPlans = 4096;

 private:
  struct Kept {
    std::vector<std::int64_t> values;
    std::shared_ptr<const CapturedPlan> plan;
    Kept* next;
  };
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
  /// The context in which the plans work.
  std::uint16_t context() const noexcept { return graph_.values[computes_.front()]->device.context; }
  std::shared_ptr<const CapturedPlan> make(std::span<const std::int64_t> facts, std::span<const std::int64_t> values,
                                           std::span<const graph::NodePtr> done) const;
  /// Stand-ins for the leaves that the graph reads, without memory. Without `done` the values of earlier stages are
  /// taken for row-major ones.
  std::vector<graph::NodePtr> make_stand_ins(const graph::Sizes::At& at, std::span<const graph::NodePtr> done) const;
  CapturedValue leaf_of(const mem::BufferPtr& buffer, std::span<const graph::NodePtr> stand_ins) const;
  void add_paths(std::span<const std::int64_t> values, CapturedPlan& plan) const;
  /// The plan for these sizes from an open plan; null if there is none that serves them.
  std::shared_ptr<CapturedPlan> from_open_plan(std::span<const std::int64_t> facts) const;
  bool reads_row_major(std::span<const graph::NodePtr> done) const;
  /// Makes one for these sizes, if that is worth a try. False if there is none.
  bool try_open(std::span<const std::int64_t> facts) const;
  const Kept* find(std::span<const std::int64_t> values, const Kept* from) const noexcept;
  /// The traced graph with the sizes `at`. What stands for a leaf is realised already.
  std::vector<graph::NodePtr> resized(const graph::Sizes::At& at, std::span<const graph::NodePtr> stand_ins) const;

  /// One more plan for many sizes.
  struct Open {
    std::unique_ptr<const OpenCapturedPlan> plan;
    Open* next;
  };

  const TracedGraph& graph_;
  const SizeSymbols& symbols_;
  std::vector<std::size_t> computes_;
  bool last_;
  std::vector<Leaf> leaves_;
  std::vector<TracedNode> order_;     // sources come first
  std::vector<std::uint32_t> roots_;  // their places in order_
  graph::Sizes sizes_;
  std::vector<std::size_t> facts_;  // facts of the variables of sizes_
  static constexpr std::size_t kBuckets = 1024;
  mutable std::array<std::atomic<Kept*>, kBuckets> kept_{};
  mutable std::atomic<std::size_t> count_{0};
  mutable std::atomic<std::size_t> scheduled_{0};
  mutable std::atomic<std::uint64_t> other_runs_{0};  // runs of plans that were not kept
  bool may_open_ = true;                              // can the graph be planned with symbolic sizes?
  mutable std::atomic<Open*> open_{nullptr};
  mutable std::atomic_flag opening_;              // one thread makes an open plan
  mutable std::atomic<std::uint32_t> tries_{0};   // to make open plans
  mutable std::atomic<std::uint32_t> served_{0};  // sizes that they served
};

/// Says which values each stage computes: before the last stage the masks, and what later stages need that would be
/// costly to compute again. Adds the latter to the values.
std::vector<std::vector<std::size_t>> divide_into_stages(TracedGraph& graph);

}  // namespace oriel::api
