// Derivatives of elementwise functions, and of some along an axis, beside PyTorch's (tests/data/torch_gradients.py).
#include <numbers>

#include "recorded_gradients.hpp"

namespace oriel::testing::recorded_elementwise_test {
namespace {

Tensor multivariate_lgamma(const Tensor& x, std::int64_t p) {
  Tensor out = full_like(x, static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi));
  for (std::int64_t k = 0; k < p; ++k) out = out + lgamma(x - 0.5 * static_cast<double>(k));
  return out;
}

/// By the form that keeps its digits for negative numbers, where a normal distribution has little.
Tensor log_ndtr(const Tensor& x) {
  const Tensor tail = erfc(x * (-std::numbers::sqrt2 / 2)) * 0.5;
  return log(tail);
}

Programs programs() {
  Programs f;
  const auto unary = [&](const char* name, Tensor (*g)(const Operand&)) {
    f[name] = [g](const Sample& s) { return g(s.x()); };
  };
  const auto binary = [&](const char* name, Tensor (*g)(const Operand&, const Operand&)) {
    f[name] = [g](const Sample& s) { return g(s.x(), s.operand("a0")); };
  };
  unary("abs", abs), unary("asin", asin), unary("asinh", asinh), unary("atan", atan), unary("atanh", atanh);
  unary("ceil", ceil), unary("deg2rad", deg2rad), unary("erf", erf), unary("erfinv", erfinv), unary("expm1", expm1);
  unary("floor", floor), unary("frac", frac), unary("log1p", log1p), unary("rad2deg", rad2deg), unary("round", round);
  unary("sgn", sign), unary("sign", sign), unary("sinh", sinh), unary("sqrt", sqrt), unary("tan", tan);
  unary("tanh", tanh), unary("trunc", trunc), unary("nn.functional.relu", relu);
  unary("nn.functional.hardsigmoid", hardsigmoid);
  f["neg"] = [](const Sample& s) { return -s.x(); };
  f["angle"] = [](const Sample& s) { return where(s.x() < 0, std::numbers::pi, 0.0 * s.x()); };
  f["positive"] = f["clone"] = f["contiguous"] = [](const Sample& s) { return s.x() * 1; };
  f["real"] = [](const Sample& s) { return s.x() * 1; };
  f["special.entr"] = [](const Sample& s) { return -xlogy(s.x(), s.x()); };
  f["special.i0e"] = [](const Sample& s) { return i0(s.x()) * exp(-abs(s.x())); };
  f["special.ndtr"] = [](const Sample& s) { return erfc(s.x() * (-std::numbers::sqrt2 / 2)) * 0.5; };
  f["special.ndtri"] = [](const Sample& s) { return erfinv(s.x() * 2 - 1) * std::numbers::sqrt2; };
  f["special.log_ndtr"] = [](const Sample& s) { return log_ndtr(s.x()); };
  f["special.xlog1py"] = [](const Sample& s) { return s.x() * log1p(s.y()); };
  f["nan_to_num"] = [](const Sample& s) { return nan_to_num(s.x(), s.number("nan")); };
  f["mvlgamma/mvlgamma_p_1"] = [](const Sample& s) { return multivariate_lgamma(s.x(), s.whole("p")); };
  binary("div/no_rounding_mode", operator/), binary("true_divide", operator/), binary("float_power", pow);
  binary("div/floor_rounding", floor_divide), binary("div/trunc_rounding", trunc_divide);
  binary("ldexp", ldexp), binary("logaddexp2", logaddexp2), binary("clamp_min", maximum);
  binary("clamp_max", minimum), binary("max/binary", maximum), binary("min/binary", minimum);
  f["clamp"] = [](const Sample& s) {
    Tensor out = s.x();
    if (s.has("min")) out = clamp(out, s.operand("min"), std::numeric_limits<double>::infinity());
    if (s.has("max")) out = clamp(out, -std::numeric_limits<double>::infinity(), s.operand("max"));
    return out;
  };
  f["rsub"] = [](const Sample& s) { return s.operand("other") - s.x() * s.number("alpha", 1); };
  f["lerp"] = [](const Sample& s) { return lerp(s.x(), s.y(), s.operand("a1")); };
  f["addcdiv"] = [](const Sample& s) { return s.x() + s.y() / s.tensor("a1") * s.number("value", 1); };
  f["addcmul"] = [](const Sample& s) { return addcmul(s.x(), s.y(), s.tensor("a1"), s.number("value", 1)); };
  f["fill"] = [](const Sample& s) { return full_like(s.x(), s.operand("value")); };
  f["masked_fill"] = [](const Sample& s) { return where(s.tensor("mask"), s.operand("value"), s.x()); };
  f["__radd__"] = [](const Sample& s) { return s.operand("other") + s.x(); };
  f["__rdiv__"] = [](const Sample& s) { return s.operand("other") / s.x(); };
  f["__rmul__"] = [](const Sample& s) { return s.operand("other") * s.x(); };
  f["__rsub__"] = [](const Sample& s) { return s.operand("other") - s.x(); };
  f["__rmod__"] = [](const Sample& s) { return remainder(s.operand("other"), s.x()); };
  f["__rmatmul__"] = [](const Sample& s) { return matmul(s.y(), s.x()); };
  f["complex"] = [](const Sample& s) { return as_pairs(Complex(s.x(), s.y())); };
  f["polar"] = [](const Sample& s) { return as_pairs(polar(s.x(), s.y())); };
  f["view_as_complex"] = [](const Sample& s) { return as_pairs(view_as_complex(s.x())); };
  f["where"] = [](const Sample& s) { return where(s.y(), s.x(), s.operand("a1")); };

  f["nn.functional.celu"] = [](const Sample& s) { return celu(s.x(), s.number("alpha", 1)); };
  f["nn.functional.elu"] = [](const Sample& s) { return elu(s.x(), s.number("alpha", 1)); };
  f["nn.functional.gelu"] = [](const Sample& s) {
    return s.text("approximate") == "tanh" ? gelu_tanh(s.x()) : gelu(s.x());
  };
  f["nn.functional.hardshrink"] = [](const Sample& s) { return hardshrink(s.x(), s.number("lambd", 0.5)); };
  f["nn.functional.softshrink"] = [](const Sample& s) { return softshrink(s.x(), s.number("lambd", 0.5)); };
  f["nn.functional.hardtanh"] = [](const Sample& s) {
    return hardtanh(s.x(), s.number("min_val", -1), s.number("max_val", 1));
  };
  f["nn.functional.leaky_relu"] = [](const Sample& s) { return leaky_relu(s.x(), s.number("negative_slope", 0.01)); };
  f["nn.functional.prelu"] = [](const Sample& s) { return where(s.x() > 0, s.x(), s.y() * s.x()); };
  f["nn.functional.softplus"] = [](const Sample& s) {
    return softplus(s.x(), s.number("beta", 1), s.number("threshold", 20));
  };
  f["nn.functional.threshold"] = [](const Sample& s) {
    return threshold(s.x(), s.number("threshold"), s.number("value"));
  };
  f["nn.functional.glu"] = [](const Sample& s) { return glu(s.x(), s.whole("dim", -1)); };
  f["nn.functional.softmin"] = [](const Sample& s) { return softmax(-s.x(), s.whole("dim", -1)); };
  f["cumulative_trapezoid"] = [](const Sample& s) {
    const std::int64_t axis = s.whole("dim", -1), n = s.x().size(axis).value();
    const Tensor middle = shrink(s.x(), {{0, n - 1}}, axis) + shrink(s.x(), {{1, n}}, axis);
    return cumsum(middle * (s.number("dx", 1) / 2), axis);
  };
  f["trapezoid"] = f["trapz"] = [](const Sample& s) { return trapezoid(s.x(), s.number("dx", 1), s.whole("dim", -1)); };
  f["nn.functional.normalize"] = [](const Sample& s) {
    const Tensor length = norm(s.x(), s.number("p", 2), s.whole("dim", 1), true);
    return s.x() / maximum(length, s.number("eps", 1e-12));
  };
  f["nn.functional.cosine_similarity"] = [](const Sample& s) {
    const std::int64_t axis = s.whole("dim", 1);
    const Tensor x = s.x() + s.y() * 0, y = s.y() + s.x() * 0;
    const double least = s.number("eps", 1e-8);
    const auto unit = [&](const Tensor& v) { return v / maximum(norm(v, 2, axis, true), least); };
    return sum(unit(x) * unit(y), axis);
  };
  f["nn.functional.pairwise_distance"] = [](const Sample& s) {
    return norm(s.x() - s.y() + s.number("eps", 1e-6), s.is_tensor("p") ? 2 : s.number("p", 2), -1, s.keep());
  };
  return f;
}

}  // namespace

TEST_CASE("derivatives of elementwise functions are PyTorch's") { run_recorded_gradients("elementwise", programs()); }

}  // namespace oriel::testing::recorded_elementwise_test
