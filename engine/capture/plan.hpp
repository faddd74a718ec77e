// The work of a captured function for one set of sizes.
#pragma once

#include <cstdint>
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

/// Schedules pending roots, whose sizes are numbers, and prepares the kernels. No leaf is overwritten: leaves belong to
/// the caller, or the next call reads them again. `keep`: the most bytes between kernels that are kept for the next
/// run. `look` is called with the order of the work before planning.
void schedule_plan(std::span<const graph::NodePtr> roots, const LeafOf& leaf_of, std::int64_t keep,
                   const std::function<void(const graph::Order&)>& look, CapturedPlan& plan);

}  // namespace oriel::api
