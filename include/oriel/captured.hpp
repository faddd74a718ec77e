// Options of captured functions and reports on them; and the engine's side of function.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/shared.hpp"
#include "oriel/tensor.hpp"

namespace oriel::detail {
class Captured;
}

namespace ORIEL_API oriel {

/// Which sizes of a captured function's inputs become symbols, so that one entry serves many of them.
enum class Dynamic : std::uint8_t {
  automatic,  ///< none at first; then each size that differs from those of an earlier trace
  yes,        ///< all; sizes that are equal in the traced call are one symbol
  no,         ///< none but those marked with mark_dynamic or mark_unbacked
  unbacked,   ///< as automatic, but without looking at the values: one entry serves all sizes, 0 and 1 too, and a
              ///< condition on them that is not the same for all is a DataDependentError
};

/// Options of oriel::function.
struct FunctionOptions {
  /// The most entries. Calls that no entry serves beyond it run the callable directly.
  std::size_t limit = 8;
  /// The most traces of the callable's type, in all captured functions of it in the process.
  int traces = 256;
  /// Beyond the limits a call that no entry serves throws ArgumentError, which says why each entry does not serve it.
  bool strict = false;
  /// Which sizes become symbols. Sizes 0 and 1 never do.
  Dynamic dynamic = Dynamic::automatic;
  /// The most guards of an entry that name one symbolic size. With one more the size is fixed to its number in the
  /// trace, so that an entry is not checked at length for few sizes; for a marked size that is an ArgumentError.
  std::optional<std::size_t> guards_per_size = {};
  /// For looking for values that went stale: in every so many calls, and in each one that is traced, the callable is
  /// traced anew, and its graph is compared with what the entry holds, exactly. A difference is an ArgumentError before
  /// anything runs, which names what has changed and its line: "at main.cpp:12 "Const 2: float32 ()" has become "Const
  /// 5: float32 ()"". Such a call takes as long as a traced one. Host functions that are made anew are compared by
  /// name. 0: never.
  std::uint64_t verify = 0;
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
  std::string site;                    ///< the line of oriel::function, "main.cpp:12"; empty if unknown
  std::vector<std::string> inputs;     ///< a line for each argument: "x: float32 (3, 4) on eigen"
  std::vector<std::string> guards;     ///< in the order in which they are checked: "x.size(0) == 3"
  std::vector<std::string> symbols;    ///< a line for each symbolic size: "s0 = x.size(0), at least 2"
  std::vector<std::string> origins;    ///< for each symbolic size the line that it came from: "made at main.cpp:12",
                                       ///< "marked at main.cpp:13"; empty if it is unknown
  std::vector<std::string> decisions;  ///< one text for each guard on symbolic sizes: the line that decided it and the
                                       ///< lines where its sizes originate. The line of a plain `if` is known only with
                                       ///< -g
  std::size_t sizes = 1;               ///< the sets of sizes that it has met
  std::size_t scheduled = 1;           ///< how many of these were scheduled; the others follow from earlier schedules
  std::int64_t plan_bytes = 0;         ///< about how much memory the plans of these sets take; at most 64 MiB are kept
  std::vector<std::string> kernels;    ///< their names, in the order in which they run
  std::vector<FunctionMiss> misses;    ///< why it was traced: a line for each entry that there was
  std::uint64_t calls = 0;             ///< that it served, the one that was traced included
  std::int64_t kept_bytes = 0;         ///< memory between kernels that is kept for each thread that calls it
  std::size_t packed = 0;              ///< copies of weights in the layout of the products that read them
  std::int64_t packed_bytes = 0;       ///< of these copies; memory() counts them
};

/// How a captured function is loaded from a file.
struct LoadOptions {
  /// The device that it runs on, whatever device it was traced for; default_device() unless it is given. A function
  /// that spans several devices runs on devices of the same names, and takes no other.
  std::optional<Device> device = {};
};

/// What mark_dynamic() states of a size.
struct DynamicSize {
  std::string name = {};                ///< sizes of one name are equal in every call
  std::optional<std::int64_t> lo = {};  ///< the least size
  std::optional<std::int64_t> hi = {};  ///< the largest size
  std::int64_t multiple_of = 1;         ///< every size is a multiple of it
  bool lenient = false;                 ///< a trace may fix the size to one value; it is then as if it were not marked
};

/// Makes the size of an axis a symbol in the next trace of a captured function that `x` is passed to, whatever
/// FunctionOptions::dynamic says. A trace that fixes this size to one value is then an ArgumentError, which names the
/// axis, the line of the mark, and the guard with its line; unless the mark is lenient (maybe_mark_dynamic of PyTorch
/// 2). Throws ShapeError for an axis out of range, ArgumentError for bounds that x itself breaks, and
/// for a view: a mark belongs to a tensor with memory of its own.
///   mark_dynamic(x, 0, {.name = "batch", .hi = 512});
void mark_dynamic(const Tensor& x, std::int64_t axis, DynamicSize size = {}, Site site = Site::here());
/// The size of this axis never becomes a symbol for `x`: another size is another entry. Throws as mark_dynamic.
void mark_static(const Tensor& x, std::int64_t axis);
/// Makes the size of an axis a symbol without a hint in the next trace that `x` is passed to: nothing is assumed of it
/// but that it is at least 0, so one entry serves all sizes, 0 and 1 too. A condition on it that is not the same for
/// all sizes is a DataDependentError; expect_true states one, which each call checks. A trace that fixes the size to
/// one value is an ArgumentError. Throws as mark_dynamic. (Source: mark_unbacked of PyTorch 2.)
///   mark_unbacked(x, 0);
void mark_unbacked(const Tensor& x, std::int64_t axis, Site site = Site::here());

/// Calls of a captured function so far.
struct FunctionCounts {
  std::uint64_t hits = 0;      ///< served by an entry that was there
  std::uint64_t traces = 0;    ///< that traced the callable
  std::uint64_t plain = 0;     ///< that ran the callable directly, beyond the limits
  std::uint64_t verified = 0;  ///< of all these, those that were compared with the callable (FunctionOptions::verify)
};

namespace detail {

/// A device as a guard's value.
constexpr std::int64_t packed(Device device) noexcept {
  return static_cast<std::int64_t>(device.kind) << 32 | static_cast<std::int64_t>(device.index) << 16 | device.context;
}
constexpr Device unpacked(std::int64_t device) noexcept {
  return {static_cast<DeviceKind>(device >> 32), static_cast<std::uint8_t>(device >> 16 & 0xff),
          static_cast<std::uint16_t>(device & 0xffff)};
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
  InlineVector<SymInt, 4> sizes;  // a SymBool is 0 or 1
  Shared<const void> like;        // a result that holds other tensors and sizes, unless it is a tensor
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

/// The structure of a captured function's arguments and result, for a file.
struct CapturedForm {
  std::string arguments;             // "(Tensor, float)"
  std::string result;                // "(Tensor, int)"
  std::vector<std::int64_t> values;  // those parts of the result that are no tensors; 0 for sizes and conditions
};

/// One call of the callable, for a trace.
class TracerBase {
 public:
  /// Runs the callable on these tensors. Appends the tensors of its result.
  virtual Shared<void> run(std::span<const Tensor> tensors, std::span<const Tensor> numbers,
                           CapturedResults& results) const = 0;
  virtual CapturedNames names(const FunctionOptions& options) const = 0;
  /// `like`: what run() returned.
  virtual CapturedForm form(const void* like) const = 0;
  /// False if the graph comes from a file: it is verified before it is planned.
  virtual bool trusted() const { return true; }

 protected:
  ~TracerBase() = default;
};

Shared<Captured> make_captured(FunctionOptions options, int& traces, Site site);
/// Runs the first entry whose guards hold; false if there is none.
bool run_captured(const Captured& captured, const CapturedArguments& arguments, CapturedResults& results);
/// Traces the callable into a new entry, and runs it. False beyond the limits.
bool capture(Captured& captured, const CapturedArguments& arguments, const TracerBase& tracer,
             CapturedResults& results);
/// Throws ArgumentError: no entry serves the call, and there is no callable to trace.
[[noreturn]] void refuse_call(const Captured& captured, const CapturedArguments& arguments);
std::vector<FunctionEntry> entries(const Captured& captured);
std::string explain(const Captured& captured);
FunctionCounts counts(const Captured& captured);
/// Is a captured function being traced in this thread?
bool in_trace() noexcept;
/// A tensor without axes.
Tensor number_tensor(double value, DType dtype, Device device);

}  // namespace detail

}  // namespace oriel
