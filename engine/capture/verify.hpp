// Compares a call of a captured function with a new trace of its callable (FunctionOptions::verify).
#pragma once

#include "capture/captured.hpp"

namespace oriel::api {

/// What a call should give: the callable is traced anew, with all sizes as numbers, and run on the same elements. What
/// it writes goes to storages of its own.
class Expected {
 public:
  /// The call as its entry is to get it. Throws what the callable throws.
  Expected(const detail::Captured& captured, const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
           const CallKey& key, const detail::TracerBase& tracer);

  /// Throws ArgumentError if the entry has given something else, or left other elements in an argument. Names the first
  /// result and element that differ. Zeros of both signs are equal, and so are all NaN. Floats may differ by as many
  /// roundings as another order of additions explains.
  void compare(const detail::CapturedArguments& arguments, const detail::CapturedResults& results) const;

 private:
  [[noreturn]] void refuse(const std::string& difference) const;
  void compare_tensors(const std::string& what, const Tensor& got, const Tensor& want) const;

  const detail::Captured& captured_;
  const detail::TracerBase& tracer_;
  std::vector<Tensor> own_;  // the arguments
  detail::CapturedResults results_;
};

}  // namespace oriel::api
