// All derivatives of a tensor by a tensor.
#pragma once

#include <cstdint>
#include <utility>

#include "oriel/linearize.hpp"
#include "oriel/vmap.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

namespace detail {

/// The unit vectors of the elements of x, (n, shape of x..): what a Jacobian is mapped over.
Tensor basis_of(const Tensor& x);
/// A Jacobian, whose axes are those of the result and then those of the argument, from its rows, one for each element
/// of the result, or from its columns, one for each element of the argument.
Tensor jacobian_of(const Tensor& lines, const Tensor& result, const Tensor& argument, bool columns);
/// Has a more elements than b? By the hints of symbolic sizes, without a guard.
bool is_larger(const Tensor& a, const Tensor& b);

}  // namespace detail

/// How a Jacobian is computed: row by row, or column by column.
enum class JacobianMode : std::uint8_t {
  automatic,  ///< reverse unless there are more results than arguments
  reverse,
  forward,
};

namespace detail {
template <class F>
struct JacobianFunction {
  [[no_unique_address]] F f;
  JacobianMode mode;

  template <class... Rest>
  Tensor operator()(const Tensor& x, const Rest&... rest) const {
    const auto at = vjp(
        [&](const Tensor& first) {
          F own = f;
          return own(first, rest...);
        },
        x);
    const bool forward = mode == JacobianMode::forward || (mode == JacobianMode::automatic && is_larger(at.value, x));
    if (forward) return jacobian_of(vmap([&](const Tensor& t) { return at.push(t); })(basis_of(x)), at.value, x, true);
    return jacobian_of(vmap([&](const Tensor& g) { return at.pull(g); })(basis_of(at.value)), at.value, x, false);
  }
};
}  // namespace detail
/// The derivative of each element of a function's result by each element of its first argument: a tensor whose axes are
/// those of the result and then those of the argument. Result and argument are tensors.
///   Tensor j = jacobian([](Tensor x) { return x * x; })(x);  // diagonal
template <class F>
auto jacobian(F f, JacobianMode mode = JacobianMode::automatic) {
  return detail::JacobianFunction<F>{std::move(f), mode};
}

namespace detail {
template <class F>
inline constexpr bool holds_nothing<JacobianFunction<F>> = holds_nothing<F>;
}  // namespace detail

}  // namespace oriel
