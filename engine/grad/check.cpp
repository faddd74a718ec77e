// Derivatives against central differences.
#include <fmt/format.h>

#include <cmath>

#include "oriel/grad.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

std::string GradientCheck::str() const {
  return fmt::format("argument {}, element {}: derivative {}, difference {}, error {:.3g}", argument, position,
                     derivative, difference, error);
}

namespace detail {

namespace {

/// Numbers between -1 and 1 that no symmetry of a function makes vanish.
Tensor weights(const Tensor& like) {
  double next = 0.3;
  return Tensor::generate(like.shape(),
                          [&](auto) {
                            next = std::fmod(next * 3.7 + 0.61, 2.0);
                            return next - 1.05;
                          })
      .to(like.dtype());
}

}  // namespace

GradientCheck check_gradient(const PlainFunction& f, const std::vector<Tensor>& arguments,
                             const GradientCheckOptions& options) {
  const Deriving deriving;
  std::vector<Tensor> by;
  by.reserve(arguments.size());
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::vector<Tensor> own = variables({&arguments[k], 1}, "check_gradient", k);
    by.push_back(own.front());
  }
  const std::vector<Tensor> results = f(renamed(by));
  std::vector<Tensor> cotangents;
  cotangents.reserve(results.size());
  for (const Tensor& result : results) cotangents.push_back(weights(result));
  const std::vector<Tensor> found = pull(*derivative(results, by, "check_gradient"), cotangents);
  const auto loss = [&](const std::vector<Tensor>& at) {
    const std::vector<Tensor> values = f(at);
    double total = 0;
    for (std::size_t r = 0; r < values.size(); ++r)
      total += sum((values[r] * cotangents[r]).to(DType::float64)).item<double>();
    return total;
  };
  GradientCheck worst;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::vector<double> derivatives = found[k].to(DType::float64).to_vector<double>();
    const std::vector<double> values = arguments[k].to(DType::float64).to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double h = options.step * (1 + std::abs(values[i]));
      const auto moved = [&](double by_much) {
        std::vector<double> there = values;
        there[i] += by_much;
        std::vector<Tensor> at = arguments;
        at[k] = Tensor::from(there, arguments[k].shape()).to(arguments[k].dtype());
        return loss(at);
      };
      const double difference = (moved(h) - moved(-h)) / (2 * h);
      const double error = std::abs(derivatives[i] - difference) / (1 + std::abs(difference));
      if (error <= worst.error || std::isnan(worst.error)) continue;  // NaN is the worst
      worst = {worst.ok, error, k, static_cast<std::int64_t>(i), derivatives[i], difference};
    }
  }
  worst.ok = worst.error <= options.tolerance;
  return worst;
}

}  // namespace detail

}  // namespace oriel
