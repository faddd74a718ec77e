// Calls of your own code on the elements of tensors, as part of lazy work: in graphs, and in captured functions with
// sizes that are symbols.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/callback.hpp"
#include "oriel/list.hpp"
#include "oriel/tensor.hpp"

namespace oriel::graph {
struct HostFunction;
}

namespace ORIEL_API oriel {

/// The elements of an operand or a result, row-major in memory of the host. bool is a byte that holds 0 or 1.
struct HostArray {
  DType dtype = DType::float32;              ///< of the elements
  std::span<const std::int64_t> shape = {};  ///< (), (n), (m, n), ...
  void* data = nullptr;                      ///< an operand's elements must not be written

  /// The number of elements.
  std::int64_t size() const noexcept {
    std::int64_t n = 1;
    for (const std::int64_t extent : shape) n *= extent;
    return n;
  }
  /// The elements as T, which must store the dtype.
  template <class T>
  std::span<T> elements() const noexcept {
    return {static_cast<T*>(data), static_cast<std::size_t>(size())};
  }
};

/// What a host function is given.
struct HostCall {
  std::span<const HostArray> operands = {};  ///< in the order of the call
  HostArray result = {};                     ///< to be filled; its elements hold anything before
  std::int64_t first = 0;                    ///< of a batched function: the number of the first batch that is here
};

/// How a host function may be called.
struct HostOptions {
  /// Axis 0 of the result and of every operand counts batches, which do not depend on each other. The function is
  /// called for some of them at a time, by several threads at once.
  bool batched = false;
  /// What one call costs, or one batch: by it the engine decides how many threads pay.
  double nanoseconds = 1000;
  /// What derivatives go through it by: the cotangents of the operands, in their shapes and dtypes, for that of the
  /// result. It may use tensors, and must be linear in the cotangent. Without it a derivative is an ArgumentError.
  Callback<std::vector<Tensor>(std::span<const Tensor> operands, const Tensor& result, const Tensor& cotangent)> vjp =
      {};
};

/// A function of host memory that tensors can be passed to. It must be pure: equal operands give equal results, and it
/// changes nothing else, because the engine may call it once for several equal calls, or not at all. It must not use
/// tensors. It runs when its result is needed. An exception that it throws ends the work and reaches whoever asked for
/// the result; of a batched function that of the lowest batches.
///
/// Make it once and call it often: calls of one HostFunction share plans, calls of two do not, and a plan keeps its
/// function alive. Thread safety: any thread may call it.
class HostFunction {
 public:
  /// `name` stands in explanations and errors. Throws ArgumentError if it is empty, or `function` is.
  HostFunction(std::string name, Callback<void(const HostCall&)> function, HostOptions options = {},
               Site site = Site::here());

  /// The result of the function on one to three operands, with this shape and dtype. Operands are stored first, unless
  /// they are in memory; those on other devices are copied to the CPU, and the result is copied back. Throws
  /// ArgumentError for no operands or more than three, ShapeError for a negative extent, and of a batched function
  /// unless all have an axis 0 of one extent, DeviceError for operands of several devices.
  ///   HostFunction cube("cube", [](const HostCall& c) { ... });
  ///   Tensor y = cube({x}, x.shape(), DType::float32);
  /// @{
  [[nodiscard]] Tensor operator()(ListOf<Tensor> operands, const Shape& shape, DType dtype,
                                  Site site = Site::here()) const;
  /// @}

 private:
  detail::Shared<const graph::HostFunction> function_;
};

/// The same for a function that is called once.
[[nodiscard]] Tensor host_call(std::string name, Callback<void(const HostCall&)> function, ListOf<Tensor> operands,
                               const Shape& shape, DType dtype, HostOptions options = {}, Site site = Site::here());

}  // namespace oriel
