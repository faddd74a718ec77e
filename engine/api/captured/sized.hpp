// A captured entry with symbolic sizes: its graph, its guards on sizes, and a plan for each set of sizes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "api/captured/plan.hpp"
#include "api/captured/symbols.hpp"
#include "graph/sizes.hpp"

namespace oriel::api {

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
  /// `names` must outlive it.
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
  /// The shape of a storage, with symbols: "(s0, 3)".
  const Shape& storage_shape(std::size_t k) const { return trace_.storages[k].kind.shape; }
  /// How often the plans have run, how many there are, and one of them, which there is as soon as one was asked for.
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

  /// The traced graph with the sizes `at`. What stands for an input is realised already.
  std::vector<graph::NodePtr> resized(const graph::Sizes::At& at, std::span<const graph::NodePtr> stand_ins) const;

  SizeSymbols symbols_;  // owns the environment, so it is destroyed last
  SizeGuards guards_;
  Trace trace_;
  struct Step {
    const graph::Node* node;
    std::int32_t input = -1;  // the number among storages and then numbers; -1 for other nodes
    bool root = false;
    std::vector<std::uint32_t> sources;  // their places in order_
  };
  std::vector<Step> order_;           // of the trace; sources come first
  std::vector<std::uint32_t> roots_;  // their places in order_
  graph::Sizes sizes_;
  std::vector<std::size_t> facts_;  // facts of the variables of sizes_
  static constexpr std::size_t kBuckets = 1024;
  mutable std::array<std::atomic<Kept*>, kBuckets> kept_{};
  mutable std::atomic<std::size_t> count_{0};
  mutable std::atomic<std::uint64_t> other_runs_{0};  // runs of plans that were not kept
};

}  // namespace oriel::api
