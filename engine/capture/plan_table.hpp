// The plans of a stage, by sizes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/plan.hpp"

namespace oriel::api {

/// Grows only. Thread safety: any thread, without locks.
class PlanTable {
 public:
  PlanTable() = default;
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  using PlanPtr = std::shared_ptr<const CapturedPlan>;
  /// Null if there is none for these sizes.
  PlanPtr find(std::span<const std::int64_t> sizes) const noexcept;
  /// Adds a plan, and returns it, or the one that another thread has added meanwhile. If there are plans for kMost sets
  /// of sizes, or they take kMostBytes, it is not kept: the next call with these sizes makes it again.
  PlanPtr add(std::span<const std::int64_t> sizes, PlanPtr plan);

  static constexpr std::size_t kMost = 4096;
  static constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
  /// About how much memory the plans take, their kernels included.
  std::int64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  /// The number of sets of sizes that have plans, and these sets, at most `most`.
  /// @{
  std::size_t size() const noexcept { return count_.load(std::memory_order_relaxed); }
  std::vector<std::vector<std::int64_t>> met(std::size_t most) const;
  /// @}
  /// How often plans have run, those that were not kept included.
  std::uint64_t runs() const noexcept;
  /// One of the plans, if there is one.
  const CapturedPlan* any() const noexcept;

 private:
  struct Kept {
    std::vector<std::int64_t> sizes;
    PlanPtr plan;
    Kept* next;
  };
  static const Kept* find(std::span<const std::int64_t> sizes, const Kept* from) noexcept;
  template <class Visit>
  void each(Visit&& visit) const;

  static constexpr std::size_t kBuckets = 1024;
  std::array<std::atomic<Kept*>, kBuckets> buckets_{};
  std::atomic<std::size_t> count_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::uint64_t> other_runs_{0};  // of plans that were not kept
};

}  // namespace oriel::api
