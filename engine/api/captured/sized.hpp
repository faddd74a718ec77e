// The symbolic sizes of a captured entry: its symbols, the guards on them, and a plan for each set of sizes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/captured/facts.hpp"
#include "api/captured/plan.hpp"
#include "graph/sizes.hpp"
#include "oriel/shape_env.hpp"

namespace oriel::api {

/// A fact that becomes a symbol in a trace, and its kind of symbol.
struct SizeChoice {
  std::size_t fact = 0;
  SizePolicy policy = SizePolicy::dynamic;
  bool marked = false;
  DynamicSize mark = {};
};

/// The symbols of a trace.
class SizeSymbols {
 public:
  /// Makes a symbol for each choice; sizes 0 and 1 stay numbers. Throws ArgumentError if a marked size violates its
  /// mark.
  SizeSymbols(const std::vector<SizeChoice>& choices, const std::vector<FactName>& names, const Facts& facts);

  /// The size in the trace: a symbol or the number.
  SymInt size(std::size_t fact, std::int64_t value) const;
  /// Is the fact a symbol?
  bool symbolic(std::size_t fact) const noexcept;
  bool any() const noexcept { return !symbols_.empty(); }
  /// Throws ArgumentError if the trace has fixed a marked size to one value.
  void check_marks() const;

  struct Symbol {
    std::size_t fact;
    SymInt size;
    bool marked;
    sym::Interval allowed;  // what was stated of it before the trace
  };
  std::unique_ptr<ShapeEnv> env = std::make_unique<ShapeEnv>();
  std::vector<Symbol> symbols_;

 private:
  void state(const SizeChoice& choice, SymInt size, const std::vector<FactName>& names);
};

/// Conditions over the facts of a call.
class SizeGuards {
 public:
  SizeGuards(const SizeSymbols& symbols, const std::vector<FactName>& names);

  bool hold(const std::int64_t* facts) const noexcept;
  struct Miss {
    std::string guard;
    std::string value;
  };
  /// The first condition that does not hold, if any.
  std::optional<Miss> first_miss(const std::int64_t* facts) const;
  /// The conditions in the order in which they are checked: "x.size(0) >= 2", "x.size(0) % 4 == 0 (model.cpp:12)".
  std::vector<std::string> texts() const;

 private:
  /// The condition lo <= facts[fact] <= hi.
  struct Bound {
    std::size_t fact;
    std::int64_t lo;
    std::int64_t hi;
    std::string text;  // for a single value: the guard that fixed it
  };
  /// The condition facts[a] == facts[b].
  struct Same {
    std::size_t a;
    std::size_t b;
  };
  struct Term {
    std::size_t fact;
    std::int64_t coefficient;
  };
  /// Compares constant + the sum of the terms with 0.
  struct Linear {
    sym::Kind kind;
    std::int64_t constant;
    std::vector<Term> terms;
  };
  struct General {
    std::unique_ptr<const sym::Program> program;
    std::vector<std::size_t> facts;  // the facts of its variables
  };
  struct Condition {
    std::string text;
    std::optional<Linear> linear;
    General general;  // used if it is not linear
    std::vector<std::size_t> facts;
  };
  static bool holds(const Condition& condition, const std::int64_t* facts) noexcept;
  std::string value_text(std::span<const std::size_t> facts, const std::int64_t* values) const;

  const std::vector<FactName>& names_;
  std::vector<Bound> bounds_;
  std::vector<Same> same_;
  std::vector<Condition> conditions_;
};

/// Everything that an entry with symbolic sizes has besides its other guards.
class CapturedSizes {
 public:
  /// The graph of the trace.
  struct Trace {
    std::vector<graph::NodePtr> roots;
    struct Input {
      graph::NodePtr placeholder;
      graph::RealizedKind kind;
    };
    std::vector<Input> storages;
    std::vector<Input> numbers;
    std::vector<graph::NodePtr> constants;  // leaves that are not inputs; the entry owns them
    /// For each result: movements over other memory, the first one first.
    std::vector<std::vector<graph::NodePtr>> movements;
  };
  CapturedSizes(SizeSymbols symbols, const std::vector<FactName>& names, Trace trace);
  ~CapturedSizes();
  CapturedSizes(const CapturedSizes&) = delete;
  CapturedSizes& operator=(const CapturedSizes&) = delete;

  /// The plan for the sizes of a call that passes the guards. It is made if these sizes are new. Thread safety: any
  /// thread, without locks.
  std::shared_ptr<const CapturedPlan> plan(const Facts& facts) const;

  const SizeGuards& guards() const noexcept { return guards_; }
  /// For example "s0 = x.size(0), at least 2".
  std::vector<std::string> symbol_lines() const;
  /// How often the plans have run, how many there are, and the first of them.
  std::uint64_t runs() const noexcept;
  std::size_t plans() const noexcept { return count_.load(std::memory_order_relaxed); }
  const CapturedPlan* any_plan() const noexcept;

  /// If there are plans for this many sets of sizes, plans for further sizes are made anew at each call.
  static constexpr std::size_t kMostPlans = 4096;

 private:
  struct Kept {
    std::vector<std::int64_t> values;
    std::shared_ptr<const CapturedPlan> plan;
    Kept* next;
  };
  std::shared_ptr<const CapturedPlan> make(std::span<const std::int64_t> values) const;
  const Kept* find(std::span<const std::int64_t> values, const Kept* from) const noexcept;

  SizeSymbols symbols_;  // owns the environment, so it is destroyed last
  std::vector<FactName> names_;
  SizeGuards guards_;
  Trace trace_;
  std::vector<const graph::Node*> order_;  // of the trace; sources come first
  graph::Sizes sizes_;
  std::vector<std::size_t> facts_;  // facts of the variables of sizes_
  static constexpr std::size_t kBuckets = 1024;
  mutable std::array<std::atomic<Kept*>, kBuckets> kept_{};
  mutable std::atomic<std::size_t> count_{0};
  mutable std::atomic<std::uint64_t> other_runs_{0};  // runs of plans that were not kept
};

}  // namespace oriel::api
