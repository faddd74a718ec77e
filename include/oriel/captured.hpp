// Options of captured functions and reports on them; and the engine's side of function.hpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "oriel/inline_vector.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

/// Options of oriel::function.
struct FunctionOptions {
  /// The most entries. Calls that no entry serves beyond it run the callable directly.
  std::size_t limit = 8;
  /// The most traces of the callable's type, in all captured functions of it in the process.
  int traces = 256;
  /// Beyond the limits a call that no entry serves throws ArgumentError, which says why each entry does not serve it.
  bool strict = false;
  /// What reports call the arguments; arg0, arg1, ... where there is no name.
  std::vector<std::string> names = {};
};

/// Why an entry did not serve a call.
struct FunctionMiss {
  std::size_t entry = 0;  ///< its number
  std::string guard;      ///< the first guard that failed: "x.size(0) == 3"
  std::string value;      ///< what the call had: "4"
};

/// A captured trace.
struct FunctionEntry {
  std::string site;                  ///< the line of oriel::function, "main.cpp:12"; empty if unknown
  std::vector<std::string> inputs;   ///< a line for each argument: "x: float32 (3, 4) on eigen"
  std::vector<std::string> guards;   ///< in the order in which they are checked
  std::vector<std::string> kernels;  ///< their names, in the order in which they run
  std::vector<FunctionMiss> misses;  ///< why it was traced: a line for each entry that there was
  std::uint64_t calls = 0;           ///< that it served, the one that was traced included
  std::int64_t kept_bytes = 0;       ///< memory between kernels that is kept for each thread that calls it
};

/// Calls of a captured function so far.
struct FunctionCounts {
  std::uint64_t hits = 0;    ///< served by an entry that was there
  std::uint64_t traces = 0;  ///< that traced the callable
  std::uint64_t plain = 0;   ///< that ran the callable directly, beyond the limits
};

namespace detail {

class Captured;

/// A device as a guard's value.
constexpr std::int64_t packed(Device device) noexcept {
  return static_cast<std::int64_t>(device.kind) << 32 | static_cast<std::int64_t>(device.index) << 16 | device.context;
}

/// A call's arguments, taken apart.
struct CapturedArguments {
  struct Number {
    double value;
    DType dtype;
  };
  const void* signature = nullptr;  // one address for each list of types
  InlineVector<const Tensor*, 8> tensors = {};
  InlineVector<Number, 4> numbers = {};
  InlineVector<std::int64_t, 8> values = {};  // guards
};

struct CapturedResults {
  InlineVector<Tensor, 4> tensors;
  std::shared_ptr<const void> like;  // a result that holds other tensors, unless it is a tensor
};

/// What reports call each of the parts of CapturedArguments.
struct CapturedNames {
  struct Value {
    std::string name;
    bool floating;  // the value is the bits of a double
  };
  std::vector<std::string> tensors;
  std::vector<std::string> numbers;
  std::vector<Value> values;
};

/// One call of the callable, for a trace.
class TracerBase {
 public:
  /// Runs the callable on these tensors. Appends the tensors of its result.
  virtual std::shared_ptr<void> run(std::span<const Tensor> tensors, std::span<const Tensor> numbers,
                                    CapturedResults& results) const = 0;
  virtual CapturedNames names(const FunctionOptions& options) const = 0;

 protected:
  ~TracerBase() = default;
};

std::shared_ptr<Captured> make_captured(FunctionOptions options, std::atomic<int>& traces, Site site);
/// Runs the first entry whose guards hold; false if there is none.
bool run_captured(const Captured& captured, const CapturedArguments& arguments, CapturedResults& results);
/// Traces the callable into a new entry, and runs it. False beyond the limits.
bool capture(Captured& captured, const CapturedArguments& arguments, const TracerBase& tracer,
             CapturedResults& results);
std::vector<FunctionEntry> entries(const Captured& captured);
std::string explain(const Captured& captured);
FunctionCounts counts(const Captured& captured);
/// Is a captured function being traced in this thread?
bool in_trace() noexcept;
/// A tensor without axes.
Tensor number_tensor(double value, DType dtype, Device device);

}  // namespace detail

}  // namespace oriel
