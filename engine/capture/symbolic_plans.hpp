// The plans for many sizes that a stage has, and when it pays to make one more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "capture/stage_graph.hpp"
#include "capture/symbols.hpp"

namespace oriel::api {

/// Grows only. Thread safety: any thread, without locks.
class SymbolicPlans {
 public:
  /// Both must outlive it.
  SymbolicPlans(const StageGraph& graph, const SizeSymbols& symbols) : graph_(graph), symbols_(symbols) {}
  ~SymbolicPlans();
  SymbolicPlans(const SymbolicPlans&) = delete;
  SymbolicPlans& operator=(const SymbolicPlans&) = delete;

  /// The plan for the facts of a call, without its paths; null if there is none that serves them. `keep`: the most
  /// bytes between kernels that it keeps.
  std::shared_ptr<CapturedPlan> plan(std::span<const std::int64_t> facts, std::int64_t keep);
  /// Makes a plan that serves these sizes and others, if that is worth a try. False if there is none.
  bool try_one(std::span<const std::int64_t> facts);

 private:
  struct Made {
    std::unique_ptr<const SymbolicCapturedPlan> plan;
    Made* next;
  };
  bool pays() const noexcept;

  const StageGraph& graph_;
  const SizeSymbols& symbols_;
  std::atomic<Made*> first_{nullptr};
  std::atomic_flag making_;               // one thread makes a symbolic plan
  std::atomic<std::uint32_t> tries_{0};   // to make symbolic plans
  std::atomic<std::uint32_t> served_{0};  // sizes that they served
};

}  // namespace oriel::api
