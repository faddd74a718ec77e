// A captured entry with symbolic sizes: its graph, its guards on sizes, and its stages.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "capture/plan.hpp"
#include "capture/stage.hpp"
#include "capture/symbols.hpp"

namespace oriel::api {

/// Everything that an entry with symbolic sizes has besides its other guards.
class CapturedSizes {
 public:
  /// `names` must outlive it.
  CapturedSizes(SizeSymbols symbols, const std::vector<FactName>& names, TracedGraph graph);

  /// In the order in which they run. Between a stage and the next one the positions of unbacked() are found.
  const std::deque<CapturedStage>& stages() const noexcept { return stages_; }
  const std::vector<TracedGraph::Unbacked>& unbacked() const noexcept { return graph_.unbacked; }
  /// How many values a call computes.
  std::size_t values() const noexcept { return graph_.values.size(); }

  const SizeGuards& guards() const noexcept { return guards_; }
  const SizeSymbols& symbols() const noexcept { return symbols_; }
  const TracedGraph& graph() const noexcept { return graph_; }
  /// Statements on sizes without a hint: counts that depend on data, and sizes marked so. Throws ArgumentError, naming
  /// the first that does not hold. `facts`: of a call, and the counts behind them that are known. `checked`: so many of
  /// them were known at the last check; 0 for the first.
  void check_counts(std::span<const std::int64_t> facts, std::size_t checked) const;
  /// For example "s0 = x.size(0), at least 2".
  std::vector<std::string> symbol_lines() const;
  /// For each of them the line that it came from, as SizeSymbols::origin_of.
  std::vector<std::string> origin_lines() const;
  std::uint64_t runs() const noexcept { return stages_.front().plans().runs(); }
  /// The most sets of sizes that a stage has a plan for, and for which it was scheduled.
  /// @{
  std::size_t plans() const noexcept;
  std::size_t scheduled() const noexcept;
  /// About how much memory the plans of all stages take.
  std::int64_t plan_bytes() const noexcept;
  /// @}

 private:
  SizeSymbols symbols_;  // owns the environment, so it is destroyed last
  SizeGuards guards_;
  TracedGraph graph_;
  std::deque<CapturedStage> stages_;
};

}  // namespace oriel::api
