// A plan of a captured function that serves many sets of sizes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "capture/plan.hpp"
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

/// A symbolic plan and the sizes that it serves: those that satisfy its guards, and are at most four times or a quarter
/// of those for which its kernels were chosen. Immutable. Thread safety: any thread.
class SymbolicCapturedPlan {
 public:
  /// `roots`: over `symbols`. Throws an Error if they cannot be planned with symbolic sizes.
  SymbolicCapturedPlan(PlanSymbols symbols, std::vector<graph::NodePtr> roots, const LeafOf& leaf_of,
                       std::span<const std::int64_t> facts);

  bool serves(std::span<const std::int64_t> facts) const;
  /// What it takes for granted, in the order in which it was decided.
  std::vector<std::string> guard_texts() const;
  /// Fills in everything but the paths. Precondition: it serves the sizes.
  void plan(std::span<const std::int64_t> facts, std::int64_t keep, CapturedPlan& out) const;

 private:
  struct Bound {
    std::size_t fact;
    std::int64_t lo;
    std::int64_t hi;
  };
  PlanSymbols symbols_;
  runtime::LaunchList::Sites sites_;
  runtime::Caches* caches_ = nullptr;
  std::unique_ptr<const runtime::SymbolicPlan> plan_;
  std::vector<CapturedValue> leaves_;
  std::vector<std::size_t> facts_;  // of the variables of plan_
  std::vector<Bound> bounds_;
  std::unique_ptr<const sym::Program> guards_;
  std::vector<std::size_t> guard_facts_;  // of the variables of guards_
};

}  // namespace oriel::api
