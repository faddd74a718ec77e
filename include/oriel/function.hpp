// Captured functions: traced and scheduled at the first call, and run again without either.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/captured.hpp"
#include "oriel/captured_parts.hpp"
#include "oriel/function_export.hpp"
#include "oriel/saved_parts.hpp"
#include "oriel/shared.hpp"
#include "oriel/site.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

template <class F>
class Function;
template <class F, class... Bound>
class BoundFunction;

/// Captures `f`, a callable without state such as a lambda that captures nothing, or a transform of one (grad.hpp).
/// `site` is the line that reports name.
///
///   auto layer = oriel::function([](Tensor x, Tensor w, Tensor b) { return relu(matmul(x, w) + b); });
///   Tensor y = layer(x, w, b);   // traced: layer's operations are recorded, scheduled and compiled; then run
///   Tensor z = layer(v, w, b);   // if v is like x: the recorded kernels run on the new buffers
///   layer(u, w, b);              // u has more rows: traced again, for any number of rows
///
/// The first call runs `f` on placeholders, which have the dtypes, sizes, strides and devices of the arguments, and
/// schedules the results together. The kernels and the *guards* under which they hold are an *entry*. A later call runs
/// the first entry whose guards hold, without tracing, scheduling or compiling; if none does, `f` is traced again.
/// Results are in memory when a call returns (on OpenCL devices: submitted), and equal those of calling `f` itself.
///
/// Arguments:
///   - A Tensor is an input. Guards: dtype, rank, sizes, device, the order of its elements in memory, for a view its
///     movements, and which arguments name one storage. A pending tensor is realised first.
///   - float and double are inputs too: `f` gets a Tensor without axes (float32 or float64, on the device of the first
///     tensor), so that another value needs no new trace. Declare the parameter as `Tensor k` or `auto k`.
///   - Integers, bools, enumerations, Shape and Device are guards: another value is another entry.
///   - std::tuple, pair, array, vector and optional of all of these, and structs (see below). In them a float is a
///     guard, too, because the member's type is float; use a Tensor member for a number that changes.
/// Results are a Tensor, such a structure of tensors, or nothing. A result may be an argument, or a view of one.
/// SymInt, SymBool and Shape in a structure are numbers of the call: std::pair(y, y.size(0) * 2) gives each call its
/// own, without another trace. Other values, such as an int, are those of the trace.
///
/// Sizes: a size that differs from that of an earlier trace becomes a symbol in the next one (FunctionOptions::dynamic,
/// mark_dynamic). There `x.size(0)` is an expression. Conditions on it that `f` or an operation turns into a bool
/// become guards, unless they hold for all sizes of at least 2; sizes 0 and 1 are never symbols. An entry with symbols
/// serves every call whose sizes pass its guards. Sizes that it has not met are not traced, and from the second set on
/// mostly not scheduled either. What needs a number (value(), a static_cast, a loop bound) fixes the size, with a
/// guard. FunctionOptions::guards_per_size limits how many guards a size may have. Sizes become symbols in row-major
/// storages and in slices, reshapes and expansions of them, where the place of a slice may be one, too: batches of an
/// array, data.slice({{k, k + 8}}), share an entry. A write through a view keeps symbols if the strides show at once
/// that each element is written once, as those of a slice do. Otherwise it fixes the sizes.
///
/// Counts that depend on data (nonzero, masked_select, unique), elements that are sizes (item) and sizes marked with
/// mark_unbacked are symbols without a value while `f` is traced. A call runs the kernels before the count, finds the
/// positions, and goes on; what both sides need is computed once. Operations on what was chosen hold for every count, 0
/// included, or state what they need of it (select(0, 4) needs 5 elements), which each call checks. A branch on a count
/// that does not go the same way for all counts is a DataDependentError; expect_true(n.size(0) <= 100) states a
/// condition.
///
/// Tensors that would go stale are refused while `f` is traced, with the line that does it:
///   - using a tensor from outside that was not passed (a global, a static): ArgumentError; pass or bind it.
///   - reading elements (to_vector, Tensor::item, data, realize, printing, positions that are checked):
///   DataDependentError.
///   - borrowing memory: ArgumentError.
/// Tensors that `f` makes of numbers (Tensor::of, from, generate, adopt, files) are made once, by the trace, and kept
/// as constants of the entry; so is every other C++ value that `f` reads from outside, such as a global int. C++ gives
/// no way to see these: FunctionOptions::verify compares calls with the callable, and finds those that have changed.
///
/// Writes: `f` may write its own tensors, and its arguments: assign and += change the caller's storage as they do
/// outside. The new elements always take other memory than the old ones, which are let go of.
/// A captured function that is called while another one is traced becomes part of that trace.
///
/// User structs take part through two functions next to them, found by argument-dependent lookup, which name the
/// members that count:
///   struct Dense { Tensor w, b; bool rectified; };
///   auto oriel_members(Dense& d) { return std::tie(d.w, d.b, d.rectified); }
///   auto oriel_members(const Dense& d) { return std::tie(d.w, d.b, d.rectified); }
/// As a result a struct is copied from the traced one, with the tensors of the call.
///
/// Limits: FunctionOptions::limit entries a function (8), and FunctionOptions::traces traces of one callable type in
/// all functions of it (256). Beyond them a call that no entry serves runs `f` directly, as a call outside of any
/// captured function, or throws ArgumentError if `strict` is set. Entries keep kernels, constants and up to 1 MiB of
/// memory for values between kernels until the function and its copies are gone. Copies share the entries.
///
/// Thread safety: any number of threads may call a function at once.
template <class F>
Function<F> function(F f, FunctionOptions options = {}, Site site = Site::here()) {
  static_assert(detail::holds_nothing<F>,
                "oriel::function takes a callable without state: what it captured would be recorded once and go stale. "
                "Capture nothing, take these values as parameters, and pass them in each call or by oriel::bind(f, w, "
                "k). Call a plain function from a lambda");
  return Function<F>(std::move(f), std::move(options), site);
}

/// The same by another name, for programs that also use namespace std, which has a `function` too.
template <class F>
Function<F> capture(F f, FunctionOptions options = {}, Site site = Site::here()) {
  return function(std::move(f), std::move(options), site);
}

/// The captured function of a callable without state. Made by oriel::function.
template <class F>
class Function {
 public:
  /// Use oriel::function.
  Function(F f, FunctionOptions options, Site site)
      : f_(std::move(f)), captured_(detail::make_captured(std::move(options), detail::captures_of<F>, site)) {}

  /// The results of the callable for these arguments. Throws what the callable throws, and as function() says. An
  /// entry that throws, as where a position lies outside its axis (IndexError), has written no argument.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    static_assert(std::is_invocable_v<F&, detail::Traced<Args>&...>,
                  "the captured callable does not take these arguments. A float or double comes in as a Tensor without "
                  "axes, so that it may change without a new trace: declare such a parameter as Tensor or auto");
    using Result = std::remove_cvref_t<std::invoke_result_t<F&, detail::Traced<Args>&...>>;
    if (detail::in_trace()) return plain<Result>(arguments...);
    detail::CapturedArguments flat{detail::signature<Args...>()};
    (detail::flatten(flat, arguments), ...);
    detail::CapturedResults results;
    if (!detail::run_captured(*captured_, flat, results)) {
      const detail::Tracer<F, Result, Args...> tracer(f_, arguments...);
      if (!detail::capture(*captured_, flat, tracer, results)) {
        detail::RealizeAfter<Result> after;
        if constexpr (std::is_void_v<Result>) {
          plain<Result>(arguments...);
          return after.arguments(flat);
        } else {
          return after(plain<Result>(arguments...), flat);
        }
      }
    }
    return detail::take_results<Result>(results);
  }

  /// What was captured so far, in the order in which calls try it.
  std::vector<FunctionEntry> entries() const { return detail::entries(*captured_); }
  /// The entries as a table: guards, kernels, and why each was traced.
  std::string explain() const { return detail::explain(*captured_); }
  /// Counts of calls.
  FunctionCounts counts() const { return detail::counts(*captured_); }

  /// Writes all entries to a file: guards, graphs and constants, but no arguments and no compiled code. The file is
  /// written completely or not at all. load() and load_function (saved_function.hpp) read it. Throws ArgumentError if
  /// there is no entry, and IoError if the file cannot be written.
  void save(const std::string& path, Site site = Site::here()) const { detail::save_captured(*captured_, path, site); }
  /// Adds the entries of a file for calls with arguments of the types Args. Such a call is then served without a trace;
  /// others are traced, as ever. The file must hold what save() wrote for the same callable, which is not checked.
  /// Returns the number of entries. Throws as load_function does, and ArgumentError if there is no room for them
  /// (FunctionOptions::limit).
  ///   f.load<Tensor, float>("layer.oriel");
  template <class... Args>
  std::size_t load(const std::string& path, const LoadOptions& options = {}, Site site = Site::here()) const {
    using Result = std::remove_cvref_t<std::invoke_result_t<F&, detail::Traced<Args>&...>>;
    return detail::load_captured(*captured_, path, detail::saved_signature<Result, Args...>(), options, site);
  }

  /// The number of the entry that serves a call with these arguments, as entries() counts; nothing if it would be
  /// traced.
  template <class... Args>
  std::optional<std::size_t> entry_of(const Args&... arguments) const {
    detail::CapturedArguments flat{detail::signature<Args...>()};
    (detail::flatten(flat, arguments), ...);
    return detail::entry_of(*captured_, flat);
  }
  /// Writes an entry with symbolic sizes as NAME.hpp and NAME.cpp, C++17 for programs without Oriel. As export_cpp of
  /// tensors (export.hpp), but for all sizes that the entry's guards admit. The header declares
  ///
  ///   namespace NAME {
  ///   struct Sizes { std::int64_t s0; ... };    // the symbols, each with its source: x.size(0)
  ///   struct Inputs { const float* x; ... };    // a pointer for each tensor that is read
  ///   struct Outputs { float* out0; ... };      // for each result, then each argument that is written
  ///   struct Numbers { float k; ... };          // the floats that are passed, if there are any
  ///   Status check_sizes(const Sizes&);         // ok, guard or overflow; explain() names guard and sizes
  ///   std::size_t scratch_bytes(const Sizes&);  // what run() needs, as the engine's memory plan says
  ///   Status run(const Sizes&, const Inputs&, const Outputs&, const Numbers&, void* scratch) noexcept;
  ///   }
  ///
  /// and for each tensor functions from Sizes to its shape, strides and number of elements. run() checks the guards
  /// itself. Sizes that are no symbols, integers, bools and constants of the entry are constants of the source. The
  /// guards are those of the entry, and the decisions that planning for symbolic sizes takes
  /// (FunctionExportOptions::serve).
  ///
  /// Built with the flags that the header names, for the same instruction set, it gives the bits of the function,
  /// except for a softmax between two products and for windows of products. Contractions have no packed panels: where
  /// one size is all that is needed, an export of tensors is faster.
  ///
  /// Throws ArgumentError if no entry has symbolic sizes, or several and none is chosen; for a name that is bad or used
  /// twice; for an entry whose sizes depend on data (nonzero), that comes from a file, or that returns a view of an
  /// argument that is a view itself; for a kernel that has a form for numbers only, by its name. DeviceError for an
  /// entry on several devices, IoError if the files cannot be written. A file is written completely or not at all.
  ///   f.export_cpp("firmware", {.name = "layer", .entry = f.entry_of(x, w)});
  ExportedFunction export_cpp(const std::string& directory, const FunctionExportOptions& options = {}) const {
    return detail::export_captured(*captured_, directory, options);
  }

 private:
  template <class Result, class... Args>
  Result plain(const Args&... arguments) const {
    [[maybe_unused]] const Device device = detail::number_device(arguments...);
    std::tuple<detail::Traced<Args>...> copies{detail::traced_copy(arguments, device)...};
    F f = f_;
    return std::apply([&](auto&... own) -> Result { return f(own...); }, copies);
  }

  [[no_unique_address]] F f_;
  detail::Shared<detail::Captured> captured_;
};

/// A captured function with its last arguments bound: `bind(f, w, k)(x)` is `f(x, w, k)`. Bound tensors are inputs,
/// floats kernel arguments, integers and bools guards, as the arguments of a call. `f` is a captured function, whose
/// entries all its bindings share, or a callable without state.
///   auto scaled = oriel::bind([](Tensor x, Tensor w, auto k) { return matmul(x, w) * k; }, w, 0.5f);
///   scaled(x);
///   std::get<1>(scaled.bound()) = 0.25f;
///   scaled(x);                            // no new trace
template <class F, class... Bound>
BoundFunction<F, Bound...> bind(Function<F> f, Bound... bound) {
  return BoundFunction<F, Bound...>(std::move(f), std::move(bound)...);
}
/// The same for a callable that is not captured yet.
template <class F, class... Bound>
auto bind(F f, Bound... bound) {
  static_assert(
      std::is_empty_v<F>,
      "oriel::bind takes a captured function, or a callable without state: a lambda that captures nothing and "
      "takes all values as parameters, the bound ones last");
  return BoundFunction<F, Bound...>(Function<F>(std::move(f), {}, Site::unknown()), std::move(bound)...);
}
/// A bound function is captured already.
template <class F, class... Bound>
BoundFunction<F, Bound...> function(BoundFunction<F, Bound...> f) {
  return f;
}

/// See oriel::bind.
template <class F, class... Bound>
class BoundFunction {
 public:
  /// Use oriel::bind.
  explicit BoundFunction(Function<F> f, Bound... bound) : f_(std::move(f)), bound_(std::move(bound)...) {}

  /// Calls the function with these arguments and the bound ones behind them.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    return std::apply([&](const auto&... bound) { return f_(arguments..., bound...); }, bound_);
  }
  /// The bound values, which may be set. Thread safety: as for a std::tuple.
  std::tuple<Bound...>& bound() noexcept { return bound_; }
  /// The function whose last arguments are bound.
  const Function<F>& function() const noexcept { return f_; }
  /// Those of the function, which other bindings of it share.
  /// @{
  std::vector<FunctionEntry> entries() const { return f_.entries(); }
  std::string explain() const { return f_.explain(); }
  FunctionCounts counts() const { return f_.counts(); }
  void save(const std::string& path, Site site = Site::here()) const { f_.save(path, site); }
  ExportedFunction export_cpp(const std::string& directory, const FunctionExportOptions& options = {}) const {
    return f_.export_cpp(directory, options);
  }
  /// @}

 private:
  Function<F> f_;
  std::tuple<Bound...> bound_;
};

}  // namespace oriel
