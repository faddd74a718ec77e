#include "oriel/activations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "formula/value.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::composed;
using api::Value;

namespace {

/// The derivative is 0 at the bounds, as in PyTorch.
Value clamped(const Value& x, double low, double high) {
  const auto outside = [](const Value& v) { return Value(v.call(), graph::tied(v.node(), graph::Tie::none)); };
  return outside(min(outside(max(x, low)), high));
}

// exp overflows to infinity and log1p keeps it, as it should be.
Value log_of_one_and(const Value& power) { return log1p(exp(power)); }

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

Value sigmoid_of(const Value& x) { return x.like(1) / (exp(-x) + 1); }

}  // namespace

// clang-format off
/// A function of one operand as a formula of its value v (api::composed).
#define ORIEL_ACTIVATION(name, parameters, ...) \
  Tensor name parameters { return composed(#name, [&](const Value& v) { return __VA_ARGS__; }, x); }
ORIEL_ACTIVATION(relu6, (const Operand& x), clamped(v, 0, 6))
ORIEL_ACTIVATION(hardtanh, (const Operand& x, double low, double high), clamped(v, low, high))
ORIEL_ACTIVATION(hardsigmoid, (const Operand& x), clamped(v + 3, 0, 6) / 6)
ORIEL_ACTIVATION(hardswish, (const Operand& x), v * clamped(v + 3, 0, 6) / 6)
ORIEL_ACTIVATION(leaky_relu, (const Operand& x, double slope), where(v > 0, v, v * slope))
ORIEL_ACTIVATION(elu, (const Operand& x, double alpha), where(v > 0, v, expm1(v) * alpha))
ORIEL_ACTIVATION(selu, (const Operand& x), where(v > 0, v * kSeluScale, expm1(v) * (kSeluAlpha * kSeluScale)))
ORIEL_ACTIVATION(mish, (const Operand& x), v * tanh(log_of_one_and(v)))
ORIEL_ACTIVATION(logsigmoid, (const Operand& x), min(v, 0) - log_of_one_and(-abs(v)))
ORIEL_ACTIVATION(softsign, (const Operand& x), v / (abs(v) + 1))
// v * 0 keeps a NaN. An infinity is never in the middle.
ORIEL_ACTIVATION(softshrink, (const Operand& x, double lambda),
                 where(v > lambda, v - lambda, where(v < -lambda, v + lambda, v * 0)))
ORIEL_ACTIVATION(hardshrink, (const Operand& x, double lambda), where((v >= -lambda) & (v <= lambda), 0, v))
ORIEL_ACTIVATION(tanhshrink, (const Operand& x), v - tanh(v))
ORIEL_ACTIVATION(threshold, (const Operand& x, double threshold, double value), where(v <= threshold, value, v))
ORIEL_ACTIVATION(gelu_tanh, (const Operand& x),
                 v * 0.5 * (tanh((v + v * v * v * 0.044715) * std::sqrt(2 / std::numbers::pi)) + 1))
#undef ORIEL_ACTIVATION
// clang-format on

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
