// Captured functions from files: run without the callable that was traced.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/captured.hpp"
#include "oriel/saved_parts.hpp"
#include "oriel/shared.hpp"
#include "oriel/site.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

template <class Signature>
class LoadedFunction;

/// A captured function that Function::save wrote, to call in a program that need not have its callable. `Signature`
/// states the types of a call, by value: std::tuple and struct stand for each other if their parts are the same.
///
///   f.save("layer.oriel");                                                              // in one program
///   auto layer = oriel::load_function<Tensor(Tensor, Tensor, float)>("layer.oriel");    // in another
///   Tensor y = layer(x, w, 0.5f);
///
/// Nothing is traced. The file holds graphs, guards and constants, and no code: kernels are planned and rendered anew
/// for the device, for the sizes that the saved function has met at once, for others when they come. A call whose
/// arguments pass no entry's guards is an ArgumentError, which says the first guard that failed in each entry.
///
/// The file is checked: its version, a checksum of its contents, and then each number in it and the graphs, as
/// they are for every set of sizes that comes. The checksum is no signature: whoever can write the file can choose what
/// the function computes, but not code.
///
/// Throws IoError, which names the file, if it cannot be read, is no regular file (a pipe, a device), is no such file,
/// is truncated or altered, or was written by another version in another format; ArgumentError if it holds no entry for
/// these types, which says those that it has; DeviceError if the device is missing or cannot run the function.
template <class Signature>
LoadedFunction<Signature> load_function(const std::string& path, const LoadOptions& options = {},
                                        Site site = Site::here()) {
  return LoadedFunction<Signature>(path, options, site);
}

/// The captured function of a file. Made by oriel::load_function. Copies share the entries.
///
/// Thread safety: any number of threads may call a function at once.
template <class Result, class... Args>
class LoadedFunction<Result(Args...)> {
  static_assert((std::is_same_v<Args, std::decay_t<Args>> && ...) && !std::is_reference_v<Result>,
                "state the types of arguments and result by value, such as Tensor(Tensor, float)");

 public:
  /// Use oriel::load_function.
  LoadedFunction(const std::string& path, const LoadOptions& options, Site site)
      : captured_(detail::load_captured(path, detail::saved_signature<Result, Args...>(), options, site)) {}

  /// The results of the callable that was saved. Throws ArgumentError if no entry serves these arguments, or while
  /// another captured function is traced.
  Result operator()(const Args&... arguments) const {
    detail::CapturedArguments flat{detail::signature<Args...>()};
    (detail::flatten(flat, arguments), ...);
    detail::CapturedResults results;
    if (detail::in_trace() || !detail::run_captured(*captured_, flat, results)) detail::refuse_call(*captured_, flat);
    return detail::take_results<Result>(results);
  }

  /// As those of Function.
  /// @{
  std::vector<FunctionEntry> entries() const { return detail::entries(*captured_); }
  std::string explain() const { return detail::explain(*captured_); }
  FunctionCounts counts() const { return detail::counts(*captured_); }
  void save(const std::string& path, Site site = Site::here()) const { detail::save_captured(*captured_, path, site); }
  /// @}

 private:
  detail::Shared<detail::Captured> captured_;
};

}  // namespace oriel
