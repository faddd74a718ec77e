// How a stage of a captured function is computed: for many sets of sizes, or for one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture/plan_table.hpp"
#include "capture/symbols.hpp"
#include "runtime/symbolic_plan.hpp"
#include "sym/program.hpp"

namespace oriel::api {

/// The symbols of a trace once more, in an environment of their own. Its guards are what a plan takes for granted.
class PlanSymbols {
 public:
  /// With the sizes of a call as hints, and what is known of the trace's symbols, if the trace is `trusted`. `facts`:
  /// of the call, and the counts behind them.
  PlanSymbols(const SizeSymbols& symbols, std::span<const std::int64_t> facts, bool trusted);

  ShapeEnv& env() const noexcept { return *env_; }
  /// From the trace's symbols to those of env().
  const sym::Replacements& of() const noexcept { return of_; }
  /// The fact that a symbol of env() stands for.
  std::size_t fact_of(sym::Expr symbol) const { return fact_of_.at(symbol); }

  /// Facts that are sizes, rather than where slices start.
  const std::vector<std::size_t>& sizes() const noexcept { return sizes_; }
  /// How many of the guards are those of the trace. They come first.
  std::size_t traced_guards() const noexcept { return traced_guards_; }

 private:
  // A plan is made in the time of a call. Its guards are a flat program, so a few more of them cost little.
  std::unique_ptr<ShapeEnv> env_ = std::make_unique<ShapeEnv>(ShapeEnv::Options{.mode = ShapeEnv::Mode::quick});
  sym::Replacements of_;
  std::unordered_map<sym::Expr, std::size_t> fact_of_;
  std::vector<std::size_t> sizes_;
  std::size_t traced_guards_ = 0;
};

/// A plan over symbols, and the sizes that it serves: those that satisfy its guards, and are at most four times or a
/// quarter of those for which its kernels were chosen. Or a plan for one set of sizes. Immutable. Thread safety: any
/// thread.
class StagePlan {
 public:
  /// `symbols`: those of the roots; none if their sizes are numbers. No leaf is overwritten: leaves belong to the
  /// caller, or the next call reads them again. Throws an Error if the roots cannot be planned with symbolic sizes.
  StagePlan(std::optional<PlanSymbols> symbols, std::vector<graph::NodePtr> roots, const LeafOf& leaf_of,
            std::span<const std::int64_t> facts);

  /// Not to be asked of a plan for one set of sizes.
  bool serves(std::span<const std::int64_t> facts) const;
  /// What it takes for granted, in the order in which it was decided.
  std::vector<std::string> guard_texts() const;
  /// The plan for the facts of a call, without the paths. Precondition: it serves the sizes. `keep`: the most bytes
  /// between kernels that are kept for the next run.
  std::shared_ptr<CapturedPlan> at(std::span<const std::int64_t> facts, std::int64_t keep) const;

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

}  // namespace oriel::api
