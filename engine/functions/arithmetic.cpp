#include "oriel/arithmetic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/element_types.hpp"
#include "formula/interpolation.hpp"
#include "oriel/error.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::composed;
using api::Op;
using api::Value;
using graph::NodePtr;

namespace {

double power_of_ten(int decimals) { return std::pow(10.0, std::abs(decimals)); }

// m + log of (1 + what is raised to -|a - b|), where m is the larger one. Equal infinities have no difference.
template <class F>
Value log_of_sum(const Value& a, const Value& b, F&& tail) {
  const Value same = isinf(a) & (a == b);
  return where(same, a, max(a, b) + tail(-abs(a - b)));
}

Tensor infinite(const char* name, const Operand& x, double infinity) {
  const Call call(name, x);
  const Value v(call, call.node(x));
  return is_floating(v.dtype()) ? (v == infinity).tensor() : v.like(0).to(DType::bool_).tensor();
}

Tensor replaced(const Operand& x, double nan, double up, double down) {
  const Call call("nan_to_num", x);
  const Value v(call, call.node(x));
  if (!is_floating(v.dtype())) return v.tensor();
  const double most = base::largest_finite(v.dtype());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Value finite =
      where(v == -kInfinity, std::isnan(down) ? -most : down, where(v == kInfinity, std::isnan(up) ? most : up, v));
  return where(isnan(v), nan, finite).tensor();
}

// The sum of the means of neighbours, each times its distance to the next.
template <class Distance>
Tensor integral(const Operand& y, std::int64_t axis, DType dtype, Distance&& distance) {
  const Call call("trapezoid", y);
  const DType wide = api::wide_dtype(dtype);
  const Value v(call, call.node(y, wide, {}, default_device()));
  const std::size_t d = call.axis(axis, v.shape().size());
  const SymInt n = v.shape()[d];
  const SymInt steps = n < 1 ? SymInt(0) : n - 1;
  const Value means = (v.shrink(d, n - steps, n) + v.shrink(d, 0, steps)) * 0.5;
  return distance(call, means, d, steps, n).reduce(Op::Sum, {d}).drop({d}).to(dtype).tensor();
}

}  // namespace

Tensor lerp(const Operand& a, const Operand& b, const Operand& weight) {
  return composed("lerp", api::between, a, b, weight);
}

Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Operand& value) {
  const Call call("addcmul", x);
  const DType dtype = api::common_dtype({&x, &a, &b, &value});
  if (dtype == DType::bool_) throw DTypeError("addcmul", "takes integers and floats, not bool; cast first");
  const DType in = is_floating(dtype) ? api::wide_dtype(dtype) : dtype;
  const Device device = api::device_of({&x, &a, &b, &value});
  const auto node = [&](const Operand& o) { return Value(call, call.node(o, in, {}, device)); };
  return (node(x) + node(value) * node(a) * node(b)).to(dtype).tensor();
}

Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Operand& value) {
  return composed(
      "addcdiv", [](const Value& v, const Value& n, const Value& d, const Value& k) { return v + k * n / d; }, x, a, b,
      value);
}

Tensor logaddexp(const Operand& a, const Operand& b) {
  return composed(
      "logaddexp",
      [](const Value& x, const Value& y) {
        return log_of_sum(x, y, [](const Value& below) { return log1p(exp(below)); });
      },
      a, b);
}

Tensor logaddexp2(const Operand& a, const Operand& b) {
  return composed(
      "logaddexp2",
      [](const Value& x, const Value& y) {
        return log_of_sum(x, y, [](const Value& below) { return log1p(exp2(below)) * std::numbers::log2e; });
      },
      a, b);
}

Tensor xlogy(const Operand& x, const Operand& y) {
  return composed(
      "xlogy", [](const Value& a, const Value& b) { return where((a == 0) & !isnan(b), 0, a * log(b)); }, x, y);
}

Tensor heaviside(const Operand& x, const Operand& value) {
  const Call call("heaviside", x);
  auto [first, second] = call.meet(x, value);
  const Value v(call, first), at_zero(call, second);
  if (v.dtype() == DType::bool_) return (v | at_zero).tensor();
  Value step = where(v > 0, v.like(1), v.like(0));
  if (is_floating(v.dtype())) step = where(isnan(v), v, step);
  return where(v == 0, at_zero, step).tensor();
}

namespace {

Tensor ignoring_nan(const char* name, Op op, const Operand& a, const Operand& b) {
  const Call call(name, a);
  auto [first, second] = call.meet(a, b);
  const Value x(call, first), y(call, second);
  const Value best = x.binary(op, y);
  if (!is_floating(x.dtype())) return best.tensor();
  return where(isnan(x), y, where(isnan(y), x, best)).tensor();
}

}  // namespace

Tensor fmax(const Operand& a, const Operand& b) { return ignoring_nan("fmax", Op::Max, a, b); }
Tensor fmin(const Operand& a, const Operand& b) { return ignoring_nan("fmin", Op::Min, a, b); }

Tensor nan_to_num(const Operand& x, double nan) {
  constexpr double kDefault = std::numeric_limits<double>::quiet_NaN();
  return replaced(x, nan, kDefault, kDefault);
}
Tensor nan_to_num(const Operand& x, double nan, double positive_infinity, double negative_infinity) {
  return replaced(x, nan, positive_infinity, negative_infinity);
}

Tensor frac(const Operand& x) {
  return composed(
      "frac", [](const Value& v) { return v - trunc(v); }, x);
}

Tensor round(const Operand& x, int decimals) {
  const DType dtype = Access::default_dtype(x);
  if (!is_floating(dtype)) {
    const Call call("round", x);
    if (decimals >= 0) return Access::tensor(call.node(x));
    throw DTypeError("round", fmt::format("{} to {} decimals; cast it to a float first", name(dtype), decimals));
  }
  return composed(
      "round",
      [=](const Value& v) {
        if (decimals == 0) return round(v);
        const double scale = power_of_ten(decimals);
        return decimals > 0 ? round(v * scale) / scale : round(v / scale) * scale;
      },
      x);
}

Tensor sinc(const Operand& x) {
  return composed(
      "sinc",
      [](const Value& v) {
        const Value angle = v * std::numbers::pi;
        return where(v == 0, 1, sin(angle) / angle);
      },
      x);
}

namespace {

Value log_odds(const Value& v) { return log(v / (1 - v)); }

}  // namespace

Tensor logit(const Operand& x) { return composed("logit", log_odds, x); }
Tensor logit(const Operand& x, double eps) {
  return composed(
      "logit", [=](const Value& v) { return log_odds(min(max(v, eps), 1 - eps)); }, x);
}

Tensor deg2rad(const Operand& x) {
  return composed(
      "deg2rad", [](const Value& v) { return v * (std::numbers::pi / 180); }, x);
}
Tensor rad2deg(const Operand& x) {
  return composed(
      "rad2deg", [](const Value& v) { return v * (180 / std::numbers::pi); }, x);
}

Tensor signbit(const Operand& x) {
  const Call call("signbit", x);
  const NodePtr node = call.node(x);
  if (node->dtype == DType::bool_ || is_unsigned(node->dtype))
    return Value(call, node).like(0).to(DType::bool_).tensor();
  if (!is_floating(node->dtype)) return (Value(call, node) < 0).tensor();
  const std::size_t width = itemsize(node->dtype);
  const DType bits = width == 8 ? DType::int64 : width == 4 ? DType::int32 : DType::int16;
  return (Value(call, graph::bitcast(node, bits, call.origin())) < 0).tensor();
}

Tensor isposinf(const Operand& x) { return infinite("isposinf", x, std::numeric_limits<double>::infinity()); }
Tensor isneginf(const Operand& x) { return infinite("isneginf", x, -std::numeric_limits<double>::infinity()); }

Tensor diff(const Operand& x, std::int64_t n, std::int64_t axis) {
  const Call call("diff", x);
  if (n < 0) throw ArgumentError("diff", fmt::format("n is {}; give a number >= 0", n));
  Value v(call, call.node(x));
  const std::size_t d = call.axis(axis, v.shape().size());
  for (std::int64_t k = 0; k < n; ++k) {
    const SymInt extent = v.shape()[d];
    if (extent == 0) break;
    const Value later = v.shrink(d, 1, extent), earlier = v.shrink(d, 0, extent - 1);
    v = v.dtype() == DType::bool_ ? later.binary(Op::Ne, earlier) : later - earlier;
  }
  return v.tensor();
}

Tensor trapezoid(const Operand& y, double dx, std::int64_t axis) {
  const DType dtype = api::floating_dtype(Access::default_dtype(y));
  return integral(y, axis, dtype,
                  [=](const Call&, const Value& means, std::size_t, SymInt, SymInt) { return means * dx; });
}

Tensor trapezoid(const Operand& y, const Tensor& x, std::int64_t axis) {
  const Operand points(x, Access::site(y));
  const DType dtype = api::floating_dtype(api::common_dtype({&y, &points}));
  return integral(y, axis, dtype, [&](const Call& call, const Value& means, std::size_t d, SymInt steps, SymInt n) {
    Value at(call, call.cast(Access::node(x), api::wide_dtype(dtype)));
    if (at.shape().size() == 1) {
      Shape aligned(means.shape().size(), SymInt(1));
      aligned[d] = at.shape()[0];
      at = at.reshape(aligned);
    }
    if (at.shape().size() != means.shape().size() || at.shape()[d] != n) {
      throw ShapeError("trapezoid",
                       fmt::format("points of shape {} for values with {} elements along axis {}; give one "
                                   "for each",
                                   to_string(x.shape()), to_string(n), d));
    }
    return means * (at.shrink(d, n - steps, n) - at.shrink(d, 0, steps));
  });
}

}  // namespace oriel
