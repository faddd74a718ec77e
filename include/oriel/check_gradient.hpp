// Derivatives beside central differences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/callback.hpp"
#include "oriel/grad_parts.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute

/// The element at which a derivative is furthest from a difference: see check_gradient.
struct GradientCheck {
  bool ok = true;             ///< all elements are within the tolerance
  double error = 0;           ///< |derivative - difference| / (1 + |difference|) of the worst element
  std::size_t argument = 0;   ///< the number of its tensor among those of the arguments
  std::int64_t position = 0;  ///< its row-major position there
  double derivative = 0;      ///< what the reverse pass gives
  double difference = 0;      ///< the central difference
  /// "argument 0, element 3: derivative 1.5, difference 2, error 0.17".
  std::string str() const;
};
/// How check_gradient compares.
struct GradientCheckOptions {
  double step = 1e-5;       ///< of the differences, times 1 + |x|
  double tolerance = 1e-6;  ///< of the error
};

namespace detail {
using PlainFunction = Callback<std::vector<Tensor>(const std::vector<Tensor>&)>;
GradientCheck check_gradient(const PlainFunction& f, const std::vector<Tensor>& arguments,
                             const GradientCheckOptions& options);
}  // namespace detail

/// Compares the derivatives of a function with central differences, by each element of its arguments, which should be
/// float64. The result may have any shape: what is compared is the derivative of its product with fixed numbers.
///   CHECK(check_gradient([](Tensor x) { return tanh(x); }, x).ok);
template <class F, class... Args>
GradientCheck check_gradient_with(const GradientCheckOptions& options, F f, const Args&... arguments) {
  const auto plain = [&](const std::vector<Tensor>& parts) {
    const Tensor* next = parts.data();
    const std::tuple<Args...> copies{detail::with_parts(arguments, next)...};
    F own = f;
    return detail::parts_of(std::apply([&](const auto&... x) { return own(x...); }, copies));
  };
  return detail::check_gradient(plain, detail::parts_of(arguments...), options);
}
/// The same with the usual step and tolerance.
template <class F, class... Args>
GradientCheck check_gradient(F f, const Args&... arguments) {
  return check_gradient_with({}, std::move(f), arguments...);
}

}  // namespace oriel
