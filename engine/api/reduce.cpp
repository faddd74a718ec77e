#include "oriel/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/by_use.hpp"
#include "formula/call.hpp"
#include "formula/moments.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "view/layouts/iterate.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Moments;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

// A reduction in progress: the source in the dtype of the computation, the axes, and the dtype of the result.
struct Reduced {
  Reduced(std::string_view name, const Operand& x, const Axes& over, bool keep)
      : call(name, x), source(call.node(x)), axes(call.axes(over, source->shape.size())), keepdim(keep) {
    dtype = source->dtype;
  }

  // Computes in dtype `in` and returns dtype `out`.
  void compute_in(DType in, DType out) {
    source = call.cast(std::move(source), in);
    dtype = out;
  }
  // Computes in floats; halves in float32.
  void compose() {
    const DType out = api::floating_dtype(source->dtype);
    compute_in(api::wide_dtype(out), out);
  }
  NodePtr reduce(graph::UsedOp op, const NodePtr& x) const { return call.reduce(op, x, axes); }
  // sum / count, with the reduced axes kept.
  NodePtr mean(const NodePtr& x) const {
    NodePtr total = reduce(Op::Sum, x);
    return call.binary(Op::Div, std::move(total), call.count(x->shape, axes));
  }
  Moments moments(double eps = 0) const { return {{call, source}, axes, Moments::From::Mean, eps}; }
  Tensor finish(NodePtr x) const {
    x = call.cast(std::move(x), dtype);
    return Access::tensor(keepdim ? std::move(x) : call.drop(std::move(x), axes));
  }
  // The result has the source's shape.
  Tensor finish_whole(NodePtr x) const { return Access::tensor(call.cast(std::move(x), dtype)); }

  Call call;
  NodePtr source;
  Ints axes;
  bool keepdim;
  DType dtype;
};

Tensor accumulate(graph::UsedOp op, std::string_view name, const Operand& x, const Axes& axes, bool keepdim,
                  std::optional<DType> wanted = {}) {
  Reduced r(name, x, axes, keepdim);
  if (wanted == DType::bool_) throw DTypeError(name, "sums and products are numbers, not bool; any and all are bool");
  if (wanted) r.source = r.call.cast(std::move(r.source), *wanted);
  const DType dtype = r.source->dtype;
  if (is_floating(dtype)) {
    r.compute_in(api::wide_dtype(dtype), dtype);
  } else {
    const DType sums = dtype == DType::uint64 ? dtype : DType::int64;
    r.compute_in(sums, wanted.value_or(sums));
  }
  return r.finish(r.reduce(op, r.source));
}

Tensor test(graph::UsedOp op, std::string_view name, const Operand& x, const Axes& axes, bool keepdim) {
  Reduced r(name, x, axes, keepdim);
  // As in PyTorch, where uint8 once was used as bool.
  r.compute_in(DType::bool_, r.source->dtype == DType::uint8 ? DType::uint8 : DType::bool_);
  return r.finish(r.reduce(op, r.source));
}

Tensor extreme(graph::UsedOp op, std::string_view name, const Operand& x, const Axes& axes, bool keepdim) {
  const Reduced r(name, x, axes, keepdim);
  return r.finish(r.reduce(op, r.source));
}

// First computes the extreme value, then the smallest position that holds it: two stages over one row.
Tensor arg_extreme(graph::UsedOp op, std::string_view name, const Operand& x, const Axes& axes, bool keepdim) {
  Reduced r(name, x, axes, keepdim);
  const Shape& shape = r.source->shape;
  Shape positions(shape.size(), 1);
  for (const SymInt axis : r.axes)
    positions[static_cast<std::size_t>(axis.value())] = shape[static_cast<std::size_t>(axis.value())];
  const NodePtr best = r.reduce(op, r.source);
  if (!sym::required((numel(best->shape) == 0) | (numel(shape) != 0), name)) {
    throw ShapeError(name, fmt::format("axes {} of {} have no elements, so there is no position to return",
                                       to_string(r.axes), to_string(shape)));
  }
  NodePtr found = r.call.binary(Op::Eq, r.source, best);
  if (is_floating(r.source->dtype)) found = r.call.binary(Op::Or, std::move(found), r.call.unary(Op::IsNan, r.source));
  const NodePtr position = r.call.broadcast(graph::iota(positions, r.source->device, r.call.origin()), shape);
  const NodePtr none = graph::constant(Scalar::of_int(DType::int64, std::numeric_limits<std::int64_t>::max()), shape,
                                       r.source->device, r.call.origin());
  r.dtype = DType::int64;
  return r.finish(r.reduce(Op::ReduceMin, r.call.where(std::move(found), position, none)));
}

// The maximum, with infinities replaced by 0, so that x - peak is never inf - inf.
NodePtr finite_peak(const Reduced& r) {
  const NodePtr peak = r.reduce(Op::ReduceMax, r.source);
  return r.call.where(r.call.unary(Op::IsInf, peak), r.call.like(peak, 0), peak);
}

double checked_number(std::string_view name, std::string_view what, double value, bool negative_too) {
  if (std::isfinite(value) && (negative_too || value >= 0)) return value;
  throw ArgumentError(name, fmt::format("{} is {}; give a finite number{}", what, value, negative_too ? "" : " >= 0"));
}

}  // namespace

Tensor sum(const Operand& x, const Axes& axes, KeepDim keepdim) { return accumulate(Op::Sum, "sum", x, axes, keepdim); }
Tensor asum(const Operand& x, const Axes& axes, KeepDim keepdim) {
  Reduced r("asum", x, axes, keepdim);
  if (!is_floating(r.source->dtype))
    throw DTypeError("asum", fmt::format("takes floats, not {}; cast it first", name(r.source->dtype)));
  r.compose();
  return r.finish(r.reduce(Op::SumAbs, r.source));
}
Tensor prod(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return accumulate(Op::Prod, "prod", x, axes, keepdim);
}
Tensor sum(const Operand& x, DType dtype, const Axes& axes, KeepDim keepdim) {
  return accumulate(Op::Sum, "sum", x, axes, keepdim, dtype);
}
Tensor prod(const Operand& x, DType dtype, const Axes& axes, KeepDim keepdim) {
  return accumulate(Op::Prod, "prod", x, axes, keepdim, dtype);
}
Tensor max(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return extreme(Op::ReduceMax, "max", x, axes, keepdim);
}
Tensor min(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return extreme(Op::ReduceMin, "min", x, axes, keepdim);
}
Tensor any(const Operand& x, const Axes& axes, KeepDim keepdim) { return test(Op::ReduceOr, "any", x, axes, keepdim); }
Tensor all(const Operand& x, const Axes& axes, KeepDim keepdim) { return test(Op::ReduceAnd, "all", x, axes, keepdim); }

Tensor mean(const Operand& x, const Axes& axes, KeepDim keepdim) {
  Reduced r("mean", x, axes, keepdim);
  r.compose();
  return r.finish(r.mean(r.source));
}
Tensor mean(const Operand& x, DType dtype, const Axes& axes, KeepDim keepdim) {
  if (!is_floating(dtype)) throw DTypeError("mean", fmt::format("a mean is no {}; give a float dtype", name(dtype)));
  Reduced r("mean", x, axes, keepdim);
  r.source = r.call.cast(std::move(r.source), dtype);
  r.compose();
  return r.finish(r.mean(r.source));
}

namespace {

/// f(moments, the count less the correction, at least 0), finished.
template <class F>
Tensor spread(Reduced&& r, double correction, F&& f) {
  r.compose();
  const SymInt n = r.call.count(r.source->shape, r.axes);
  checked_number(r.call.operation(), "correction", correction, true);
  if (n.is_symbolic() && std::abs(correction) <= 1 << 30 && correction == std::floor(correction))
    return r.finish(f(r.moments(), sym_max(n - static_cast<std::int64_t>(correction), 0)).node());
  return r.finish(f(r.moments(), std::max(static_cast<double>(n.value()) - correction, 0.0)).node());
}

}  // namespace

Tensor var(const Operand& x, const Axes& axes, KeepDim keepdim, double correction) {
  return spread(Reduced("var", x, axes, keepdim), correction,
                [](const Moments& m, const auto& divisor) { return m.variance(divisor); });
}

Tensor stddev(const Operand& x, const Axes& axes, KeepDim keepdim, double correction) {
  return spread(Reduced("stddev", x, axes, keepdim), correction,
                [](const Moments& m, const auto& divisor) { return m.deviation(divisor); });
}

Tensor count_nonzero(const Operand& x, const Axes& axes, KeepDim keepdim) {
  Reduced r("count_nonzero", x, axes, keepdim);
  r.source = r.call.to_bool(std::move(r.source));
  r.compute_in(DType::int64, DType::int64);
  return r.finish(r.reduce(Op::Sum, r.source));
}

Tensor norm(const Operand& x, double p, const Axes& axes, KeepDim keepdim) {
  Reduced r("norm", x, axes, keepdim);
  if (!is_floating(r.source->dtype)) {
    throw DTypeError("norm", fmt::format("takes floats, not {}; cast it first", name(r.source->dtype)));
  }
  if (std::isnan(p)) throw ArgumentError("norm", "p is nan; give a number, or an infinity");
  if (p < 0 || std::isinf(p)) {
    const SymInt results = [&] {
      Shape kept = r.source->shape;
      for (const SymInt axis : r.axes) kept[static_cast<std::size_t>(axis.value())] = 1;
      return numel(kept);
    }();
    if (!sym::required((results == 0) | (r.call.count(r.source->shape, r.axes) != 0), "norm")) {
      throw ShapeError("norm", fmt::format("p is {} and axes {} of {} hold no element; give a p >= 0 that is finite", p,
                                           to_string(r.axes), to_string(r.source->shape)));
    }
  }
  r.compose();
  if (p == 0) return r.finish(r.reduce(Op::Sum, r.call.cast(r.call.to_bool(r.source), r.source->dtype)));
  if (p == 2) return r.finish(r.call.unary(Op::Sqrt, r.reduce(Op::Sum, r.call.binary(Op::Mul, r.source, r.source))));
  const NodePtr size = r.call.unary(Op::Abs, r.source);
  if (std::isinf(p)) return r.finish(r.reduce(p > 0 ? Op::ReduceMax : Op::ReduceMin, size));
  if (p == 1) return r.finish(r.reduce(Op::Sum, size));
  NodePtr total = r.reduce(Op::Sum, r.call.binary(Op::Pow, size, p));
  return r.finish(r.call.binary(Op::Pow, std::move(total), 1 / p));
}

Tensor argmax(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return arg_extreme(Op::ReduceMax, "argmax", x, axes, keepdim);
}
Tensor argmin(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return arg_extreme(Op::ReduceMin, "argmin", x, axes, keepdim);
}

namespace {

// log(sum(exp(x))). The numbers that are 0 add 1 each. The first 1 is left to log1p: added to a small rest, it would
// leave nothing of it.
NodePtr log_of_powers(Reduced& r, const NodePtr& x) {
  const NodePtr zero = r.call.binary(Op::Eq, x, 0);
  const NodePtr rest = r.reduce(Op::Sum, r.call.where(zero, r.call.like(x, 0), r.call.unary(Op::Exp, x)));
  const NodePtr ones = r.reduce(Op::Sum, r.call.cast(zero, x->dtype));
  return r.call.unary(Op::Log1p, r.call.binary(Op::Add, r.call.binary(Op::Sub, ones, 1), rest));
}

}  // namespace

Tensor logsumexp(const Operand& x, const Axes& axes, KeepDim keepdim) {
  Reduced r("logsumexp", x, axes, keepdim);
  r.compose();
  const NodePtr peak = finite_peak(r);
  return r.finish(r.call.binary(Op::Add, log_of_powers(r, r.call.binary(Op::Sub, r.source, peak)), peak));
}

Tensor softmax(const Operand& x, const Axes& axes) {
  Reduced r("softmax", x, axes, true);
  r.compose();
  const NodePtr peak = r.reduce(Op::ReduceMax, r.source);
  const NodePtr powers = r.call.unary(Op::Exp, r.call.binary(Op::Sub, r.source, peak));
  return r.finish_whole(r.call.binary(Op::Div, powers, r.reduce(Op::Sum, powers)));
}

Tensor log_softmax(const Operand& x, const Axes& axes) {
  Reduced r("log_softmax", x, axes, true);
  r.compose();
  const NodePtr shifted = r.call.binary(Op::Sub, r.source, r.reduce(Op::ReduceMax, r.source));
  return r.finish_whole(r.call.binary(Op::Sub, shifted, log_of_powers(r, shifted)));
}

Tensor layer_norm(const Operand& x, const Axes& axes, double eps) {
  Reduced r("layer_norm", x, axes, true);
  checked_number("layer_norm", "eps", eps, false);
  r.compose();
  return r.finish_whole(r.moments(eps).normalised().node());
}

namespace {

// Checks that the axes before the last two broadcast. It checks the operands themselves, because errors of the reshaped
// operands below would show shapes that the caller never wrote.
void check_batches(const Call& call, const graph::Node& a, const graph::Node& b) {
  const auto front = [](const Shape& shape) {
    return Shape(shape.begin(), shape.size() < 2 ? shape.begin() : shape.end() - 2);
  };
  Shape common = front(a.shape);
  const Shape other = front(b.shape);
  if (!detail::broadcast_into(common, other)) return;
  throw ShapeError(call.operation(),
                   fmt::format("{} x {}: the axes in front of the last two, {} and {}, do not broadcast; counted from "
                               "the last, extents must agree or be 1",
                               to_string(a.shape), to_string(b.shape), to_string(common), to_string(other)));
}

}  // namespace

Tensor matmul(const Operand& a, const Operand& b) {
  by_use::small_products();
  const Call call("matmul", a);
  const DType dtype = api::common_dtype({&a, &b});
  NodePtr x = call.node(a, dtype, {}, default_device());
  NodePtr y = call.node(b, dtype, {}, default_device());
  const auto shapes = [&] { return fmt::format("{} x {}", to_string(x->shape), to_string(y->shape)); };
  if (x->shape.empty() || y->shape.empty()) {
    throw ShapeError("matmul", fmt::format("{}: an operand has no axes; give each at least one", shapes()));
  }
  const bool row = x->shape.size() == 1;
  const bool column = y->shape.size() == 1;
  const SymInt k = x->shape.back();
  const SymInt other = column ? y->shape[0] : y->shape[y->shape.size() - 2];
  if (!sym::required(k == other, "matmul")) {
    throw ShapeError("matmul",
                     fmt::format("{}: the inner extents {} and {} differ", shapes(), to_string(k), to_string(other)));
  }
  check_batches(call, *x, *y);
  if (is_floating(dtype)) {
    x = call.cast(std::move(x), api::wide_dtype(dtype));
    y = call.cast(std::move(y), api::wide_dtype(dtype));
  }
  // (.., n, k) as (.., n, 1, k) and (.., k, m) as (.., 1, m, k), multiplied and reduced over the last axis.
  Shape left = x->shape;
  left.insert(left.end() - 1, SymInt(1));
  if (row) left.insert(left.begin(), SymInt(1));
  x = call.reshape(std::move(x), left);
  if (!column) {
    Ints order(y->shape.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    y = call.permute(std::move(y), order);
  }
  Shape right = y->shape;
  right.insert(right.end() - (column ? 1 : 2), SymInt(1));
  if (column) right.insert(right.end() - 1, SymInt(1));
  y = call.reshape(std::move(y), right);
  NodePtr product = call.binary(Op::Mul, std::move(x), std::move(y));
  const std::size_t rank = product->shape.size();
  NodePtr total = call.reduce(dtype == DType::bool_ ? Op::ReduceMax : Op::Sum, std::move(product), {rank - 1});
  Ints gone;
  if (row) gone.push_back(rank - 3);
  if (column) gone.push_back(rank - 2);
  gone.push_back(rank - 1);
  return Access::tensor(call.drop(call.cast(std::move(total), dtype), gone));
}

}  // namespace oriel
