// Functions of one, called on many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/grad_parts.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

namespace detail {

/// One call of a mapped function: the stand-ins with which it runs, and what becomes of its results.
class Mapping {
 public:
  explicit Mapping(const char* operation);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  /// Stand-ins for one entry along the axis. Throws ShapeError for a tensor without it, or of another extent.
  std::vector<Tensor> stand_ins(std::span<const Tensor> parts, std::int64_t axis, std::size_t argument);
  /// The results for all entries, along the axis.
  std::vector<Tensor> results(std::span<const Tensor> of_one, std::int64_t axis) const;

 private:
  struct State;
  State* state_;
};

}  // namespace detail

/// What vmap maps.
struct VmapOptions {
  /// The axis of each argument that counts its entries, in all tensors of the argument; nullopt: all entries share the
  /// argument. Arguments that are not listed have axis 0.
  std::vector<std::optional<std::int64_t>> in = {};
  std::int64_t out = 0;  ///< the axis of the results that counts them
};

/// See vmap.
template <class F>
class VmapFunction {
 public:
  /// Use vmap.
  VmapFunction(F f, VmapOptions options) : f_(std::move(f)), options_(std::move(options)) {}

  /// The results for all entries of these arguments.
  template <class... Args>
  auto operator()(const Args&... arguments) const {
    detail::Mapping mapping("vmap");
    std::size_t k = 0;
    const auto one_of = [&](const auto& argument) {
      const std::size_t number = k++;
      const std::optional<std::int64_t> axis = number < options_.in.size() ? options_.in[number] : 0;
      if (!axis) return argument;
      return detail::with_parts(argument, mapping.stand_ins(detail::parts_of(argument), *axis, number));
    };
    std::tuple<Args...> copies{one_of(arguments)...};
    F f = f_;
    const auto result = std::apply([&](auto&... own) { return f(own...); }, copies);
    return detail::with_parts(result, mapping.results(detail::parts_of(result), options_.out));
  }

 private:
  F f_;
  VmapOptions options_;
};

/// A function of single entries as one of many: `vmap(f)(x)` is f of each x[i], stacked. The function runs once, on
/// stand-ins for one entry, and each of its operations gets one more axis; so asking for elements is an ArgumentError,
/// and captured functions run as plain ones. Arguments and results may be structures. Derivatives compose with it in
/// any order: vmap(grad(f)) gives the gradient of each entry. Throws ShapeError for entries of different counts,
/// ArgumentError where no argument is mapped and for a host function without HostOptions::batched.
///   auto rows = vmap([](Tensor x, Tensor w) { return sum(x * w); }, {.in = {0, {}}})(x, w);
template <class F>
auto vmap(F f, VmapOptions options = {}) {
  return VmapFunction<F>(std::move(f), std::move(options));
}

namespace detail {
template <class F>
inline constexpr bool holds_nothing<VmapFunction<F>> = holds_nothing<F>;
}  // namespace detail

}  // namespace oriel
