// The work of a captured function for one set of sizes, and the plans of a stage by sizes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "formula/cell.hpp"
#include "graph/make.hpp"
#include "runtime/launches.hpp"

namespace oriel::api {

/// Where the memory of a leaf of the schedule, or a value, comes from.
struct CapturedValue {
  enum class Kind : std::uint8_t {
    input,     // the elements of a storage of the call
    number,    // a number of the call
    constant,  // memory that the trace made
    unbacked,  // positions that are found during the call
    output,    // a value that the call computes
  } kind = Kind::input;
  std::size_t index = 0;
};

/// Launches, and how memory and results bind to them. Immutable except for the counters of its launches. Thread safety:
/// any thread.
struct CapturedPlan {
  std::unique_ptr<runtime::LaunchList> launches;
  std::vector<CapturedValue> leaves;  // of the schedule
  struct Root {
    std::size_t output = 0;  // of the schedule
    graph::RealizedKind kind;
  };
  std::vector<Root> roots;
  /// For each result: the movements that lead to it from its storage or argument, the first one first.
  std::vector<std::vector<detail::Path>> paths;
};

/// Tells which leaf a buffer is.
using LeafOf = std::function<CapturedValue(const mem::BufferPtr&)>;

/// Grows only. Thread safety: any thread, without locks.
class PlanTable {
 public:
  /// `one`: there will be one plan.
  explicit PlanTable(bool one = false) : buckets_(one ? 1 : kBuckets) {}
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  using PlanPtr = std::shared_ptr<const CapturedPlan>;
  /// Null if there is none for these sizes. The plan lives as long as the table, which takes no part in counting its
  /// users.
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

  static constexpr std::size_t kBuckets = 1024;  // a power of two
  std::vector<std::atomic<Kept*>> buckets_;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::uint64_t> other_runs_{0};  // of plans that were not kept
};

}  // namespace oriel::api
