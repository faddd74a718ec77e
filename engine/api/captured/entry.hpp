// One trace of a captured function: guards, launches, and how inputs and results bind to them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/captured/facts.hpp"
#include "graph/make.hpp"
#include "oriel/captured.hpp"
#include "runtime/launches.hpp"

namespace oriel::api {

/// facts[fact] == value. A trace with symbolic sizes will have other conditions over facts beside it.
struct CapturedGuard {
  std::int32_t fact = 0;
  std::int64_t value = 0;
};

/// Where the memory of a leaf of the schedule, or a value, comes from.
struct CapturedValue {
  enum class Kind : std::uint8_t {
    input,     // the elements of a storage of the call
    number,    // a number of the call
    constant,  // memory that the trace made
    output,    // a root of the schedule
  } kind = Kind::input;
  std::size_t index = 0;
};

/// What a result names: a storage or an argument, seen through movements.
struct CapturedResult {
  enum class Kind : std::uint8_t { argument, input, fresh } kind = Kind::fresh;
  std::size_t index = 0;            // of the tensor of the call, of its storage, or of a new storage
  std::vector<detail::Path> paths;  // from there, the first one first
};

/// Immutable once it is complete. Thread safety: any thread.
struct CapturedEntry {
  std::vector<CapturedGuard> guards;
  std::size_t facts = 0;  // how many a call has that may pass

  std::unique_ptr<runtime::LaunchList> launches;
  std::vector<CapturedValue> leaves;  // of the schedule
  struct Root {
    std::size_t output = 0;  // of the schedule
    graph::RealizedKind kind;
  };
  std::vector<Root> roots;
  std::vector<graph::NodePtr> constants;
  Device number_device;  // where the tensors of numbers live

  struct Write {
    std::size_t storage = 0;  // of the call
    CapturedValue value;
  };
  std::vector<Write> writes;
  std::vector<CapturedValue> fresh;  // what each new storage holds
  std::vector<CapturedResult> results;
  std::shared_ptr<const void> like;

  // For reports.
  std::vector<FactName> names;  // of the facts
  std::vector<std::string> inputs;
  std::vector<FunctionMiss> misses;

  /// Checks the guards in order.
  bool holds(const Facts& call) const noexcept {
    if (call.size() != facts) return false;
    const std::int64_t* const values = call.data();
    for (const CapturedGuard& g : guards)
      if (values[g.fact] != g.value) return false;
    return true;
  }
  /// Of a call that does not pass.
  FunctionMiss first_miss(const Facts& call, std::size_t number) const;
  /// Runs the kernels, writes what the function writes, and makes the results. Throws as realize does; then nothing has
  /// changed.
  void run(const CapturedInputs& call, const detail::CapturedArguments& arguments, detail::CapturedResults& out) const;
};

/// Runs the callable on placeholders and schedules its results. `inputs` and `facts` are those of the call.
std::unique_ptr<CapturedEntry> trace(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                     const Facts& facts, const detail::TracerBase& tracer, Site site);

}  // namespace oriel::api
