// The derivative of a function at some arguments, as a linear function: vjp, jvp.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/grad_parts.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

/// The derivative of a function at some arguments. Made by vjp, jvp and linearize. Copies share it.
template <class R, class... Args>
class Linearized {
 public:
  R value;  ///< what the function returned

  /// The cotangent of the argument, or a tuple of those of several, for a cotangent of the result.
  auto pull(const R& cotangent) const {
    const std::vector<Tensor> found = detail::pull(*derivative_, detail::parts_of(cotangent));
    const Tensor* next = found.data();
    return detail::alone_or_tuple(
        std::apply([&](const Args&... x) { return std::tuple<Args...>{detail::with_parts(x, next)...}; }, arguments_));
  }
  /// The tangent of the result for tangents of the arguments.
  R push(const Args&... tangents) const {
    return detail::with_parts(value, detail::push(*derivative_, detail::parts_of(tangents...)));
  }

  /// Use vjp or linearize.
  Linearized(R result, std::tuple<Args...> arguments, detail::Shared<const detail::Derivative> derivative)
      : value(std::move(result)), arguments_(std::move(arguments)), derivative_(std::move(derivative)) {}

 private:
  std::tuple<Args...> arguments_;
  detail::Shared<const detail::Derivative> derivative_;
};

namespace detail {
template <class F, class... Args>
auto linearized(const char* operation, F f, const Args&... arguments) {
  const Deriving deriving;
  std::vector<Tensor> by;
  std::size_t k = 0;
  const auto stand_in = [&](const auto& argument) {
    const std::vector<Tensor> own = variables(parts_of(argument), operation, k++);
    by.insert(by.end(), own.begin(), own.end());
    return with_parts(argument, renamed(own));
  };
  std::tuple<Args...> copies{stand_in(arguments)...};
  auto result = std::apply([&](auto&... own) { return f(own...); }, copies);
  using R = decltype(result);
  Shared<const Derivative> of = derivative(parts_of(result), by, operation);
  return Linearized<R, Args...>(std::move(result), std::tuple<Args...>(arguments...), std::move(of));
}
}  // namespace detail

/// The value of a function and its derivative as a linear function of a cotangent: `auto y = vjp(f, x); y.value;
/// y.pull(v)`. Arguments may be structures, all of floats; integers in the result have no derivative, and tangents 0.
/// The result may have any shape.
template <class F, class... Args>
auto vjp(F f, const Args&... arguments) {
  return detail::linearized("vjp", std::move(f), arguments...);
}
/// The same: the derivative as a linear function of tangents, y.push(t). (Source: linearize of JAX.)
template <class F, class... Args>
auto linearize(F f, const Args&... arguments) {
  return detail::linearized("linearize", std::move(f), arguments...);
}

/// What jvp returns.
template <class R>
struct ValueAndTangent {
  R value;    ///< what the function returned
  R tangent;  ///< its derivative in the direction of the tangents
};
/// The value of a function and its derivative in a direction: `auto [y, dy] = jvp(f, x, t)`; for several arguments
/// jvp(f, std::tuple(x, w), std::tuple(tx, tw)).
template <class F, class Arguments>
auto jvp(F f, const Arguments& arguments, const Arguments& tangents) {
  const auto at = std::apply([&](const auto&... x) { return detail::linearized("jvp", std::move(f), x...); },
                             detail::as_tuple(arguments));
  auto tangent = std::apply([&](const auto&... t) { return at.push(t...); }, detail::as_tuple(tangents));
  return ValueAndTangent<decltype(tangent)>{at.value, std::move(tangent)};
}

}  // namespace oriel
