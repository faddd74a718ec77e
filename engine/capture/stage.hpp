// A part of a captured entry that is scheduled as a whole, and its plan for each set of sizes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/plan_table.hpp"
#include "capture/stage_graph.hpp"

namespace oriel::api {

/// Computes some of the values of a trace. Between two stages positions are found. Its plans for sets of sizes follow
/// from plans over symbols, which it makes where they pay. Immutable but for its plans. Thread safety: any thread,
/// without locks.
class CapturedStage {
 public:
  /// As StageGraph. `graph` and `symbols` must outlive it.
  CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                const std::vector<std::size_t>& known, bool last);
  ~CapturedStage();
  CapturedStage(const CapturedStage&) = delete;
  CapturedStage& operator=(const CapturedStage&) = delete;

  /// The plan for the facts of a call and the counts that are known so far. It is made if these sizes are new. Its
  /// roots are those of the graph. `done`: by value, those of earlier stages in memory.
  std::shared_ptr<const CapturedPlan> plan(std::span<const std::int64_t> facts,
                                           std::span<const graph::NodePtr> done) const;
  const StageGraph& graph() const noexcept { return graph_; }
  const PlanTable& plans() const noexcept { return plans_; }
  /// The facts that sets of sizes consist of.
  const std::vector<std::size_t>& facts() const noexcept { return facts_; }
  /// How many of the plans were scheduled for their sizes. The others follow from a plan over symbols.
  std::size_t scheduled() const noexcept { return scheduled_.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const CapturedPlan> make(std::span<const std::int64_t> facts, std::span<const std::int64_t> values,
                                           std::span<const graph::NodePtr> done) const;
  struct Made {
    StagePlan plan;  // over symbols
    Made* next;
  };
  std::shared_ptr<CapturedPlan> from_symbols(std::span<const std::int64_t> facts,
                                             std::span<const graph::NodePtr> done) const;
  /// By a plan over symbols that there is; null if none serves these sizes.
  std::shared_ptr<CapturedPlan> served(std::span<const std::int64_t> facts) const;
  bool pays() const noexcept;
  /// Makes a plan over symbols for these sizes and others, if that is worth a try. False if there is none.
  bool try_symbols(std::span<const std::int64_t> facts) const;
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
