#include "oriel/activations.hpp"

#include <fmt/format.h>

#include <numbers>

#include "formula/value.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::composed;
using api::Value;

namespace {

Value clamped(const Value& x, double low, double high) { return min(max(x, low), high); }

// exp overflows to infinity and log1p keeps it, as it should be.
Value log_of_one_and(const Value& power) { return log1p(exp(power)); }

Value sigmoid_of(const Value& x) { return x.like(1) / (exp(-x) + 1); }

}  // namespace

Tensor relu6(const Operand& x) {
  return composed(
      "relu6", [](const Value& v) { return clamped(v, 0, 6); }, x);
}

Tensor hardtanh(const Operand& x, double low, double high) {
  return composed(
      "hardtanh", [=](const Value& v) { return clamped(v, low, high); }, x);
}

Tensor hardsigmoid(const Operand& x) {
  return composed(
      "hardsigmoid", [](const Value& v) { return clamped(v + 3, 0, 6) / 6; }, x);
}

Tensor hardswish(const Operand& x) {
  return composed(
      "hardswish", [](const Value& v) { return v * clamped(v + 3, 0, 6) / 6; }, x);
}

Tensor leaky_relu(const Operand& x, double slope) {
  return composed(
      "leaky_relu", [=](const Value& v) { return where(v > 0, v, v * slope); }, x);
}

Tensor elu(const Operand& x, double alpha) {
  return composed(
      "elu", [=](const Value& v) { return where(v > 0, v, expm1(v) * alpha); }, x);
}

Tensor selu(const Operand& x) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return composed(
      "selu", [](const Value& v) { return where(v > 0, v * kScale, expm1(v) * (kAlpha * kScale)); }, x);
}

Tensor celu(const Operand& x, double alpha) {
  if (alpha == 0) throw ArgumentError("celu", "alpha is 0; x is divided by it, so give another number");
  return composed(
      "celu", [=](const Value& v) { return max(v, 0) + min(expm1(v / alpha) * alpha, 0); }, x);
}

Tensor softplus(const Operand& x, double beta, double threshold) {
  return composed(
      "softplus",
      [=](const Value& v) {
        const Value scaled = v * beta;
        return where(scaled > threshold, v, log_of_one_and(scaled) / beta);
      },
      x);
}

Tensor mish(const Operand& x) {
  return composed(
      "mish", [](const Value& v) { return v * tanh(log_of_one_and(v)); }, x);
}

Tensor logsigmoid(const Operand& x) {
  return composed(
      "logsigmoid", [](const Value& v) { return min(v, 0) - log_of_one_and(-abs(v)); }, x);
}

Tensor softsign(const Operand& x) {
  return composed(
      "softsign", [](const Value& v) { return v / (abs(v) + 1); }, x);
}

Tensor softshrink(const Operand& x, double lambda) {
  // v * 0 keeps a NaN. An infinity is never in the middle.
  return composed(
      "softshrink",
      [=](const Value& v) { return where(v > lambda, v - lambda, where(v < -lambda, v + lambda, v * 0)); }, x);
}

Tensor hardshrink(const Operand& x, double lambda) {
  return composed(
      "hardshrink", [=](const Value& v) { return where((v >= -lambda) & (v <= lambda), 0, v); }, x);
}

Tensor tanhshrink(const Operand& x) {
  return composed(
      "tanhshrink", [](const Value& v) { return v - tanh(v); }, x);
}

Tensor threshold(const Operand& x, double threshold, double value) {
  return composed(
      "threshold", [=](const Value& v) { return where(v <= threshold, value, v); }, x);
}

Tensor gelu_tanh(const Operand& x) {
  return composed(
      "gelu_tanh",
      [](const Value& v) {
        const double scale = std::sqrt(2 / std::numbers::pi);
        return v * 0.5 * (tanh((v + v * v * v * 0.044715) * scale) + 1);
      },
      x);
}

Tensor glu(const Operand& x, std::int64_t axis) {
  return composed(
      "glu",
      [=](const Value& v) {
        const std::size_t d = v.call().axis(axis, v.shape().size());
        const SymInt n = v.shape()[d];
        if (n % 2 != 0) {
          throw ShapeError("glu", fmt::format("axis {} of {} has the odd extent {}; both halves are as long", d,
                                              to_string(v.shape()), to_string(n)));
        }
        return v.shrink(d, 0, n / 2) * sigmoid_of(v.shrink(d, n / 2, n));
      },
      x);
}

}  // namespace oriel
