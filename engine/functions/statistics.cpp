// Statistics that ignore NaN, covariances, normalisations, and attention.
#include "oriel/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formula/moments.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Moments;
using api::Op;
using api::Value;

namespace {

/// A reduction of x in which NaN counts as `instead`.
Tensor without_nan(const char* name, Tensor (*plain)(const Operand&, const Axes&, KeepDim), const Operand& x,
                   const Axes& axes, KeepDim keepdim, double instead) {
  const Call call(name, x);
  Value v(call, call.node(x));
  (void)call.axes(axes, v.shape().size());  // errors name this function
  if (is_floating(v.dtype())) v = where(isnan(v), instead, v);
  const Tensor filled = v.tensor();
  return plain(Operand(filled, Access::site(x)), axes, keepdim);
}

/// The same, but NaN where no element is a number.
Tensor extreme_without_nan(const char* name, Op op, const Operand& x, const Axes& axes, KeepDim keepdim) {
  const Call call(name, x);
  const Value v(call, call.node(x));
  const Ints list = call.axes(axes, v.shape().size());
  const auto finish = [&](const Value& r) { return (keepdim ? r : r.drop(list)).tensor(); };
  if (!is_floating(v.dtype()) || list.empty()) return finish(v.reduce(op, list));
  const double lowest = (op == Op::ReduceMax ? -1 : 1) * std::numeric_limits<double>::infinity();
  const Value empty = isnan(v);
  const Value best = where(empty, lowest, v).reduce(op, list);
  const bool some = call.count(v.shape(), list) != 0;
  if (!some) return finish(best);
  return finish(where(empty.reduce(Op::ReduceAnd, list), std::numeric_limits<double>::quiet_NaN(), best));
}

/// x as rows of variables in the dtype of the computation, less their means, and the number of observations.
struct Centred {
  Centred(const char* name, const Operand& x)
      : call(name, x), dtype(api::floating_dtype(Access::default_dtype(x))), rows(call, call.node(x)) {
    const std::size_t rank = rows.shape().size();
    if (rank > 2) {
      throw ShapeError(name, fmt::format("{} has {} axes; give a matrix with a variable in each row",
                                         to_string(rows.shape()), rank));
    }
    matrix = rank == 2 && rows.shape()[0] != 1;
    rows = rows.to(api::wide_dtype(dtype)).reshape(rank == 2 ? rows.shape() : Shape{1, numel(rows.shape())});
    observations = rows.shape()[1];
    // The second time takes the rounding error of a large mean away: equal elements deviate by 0.
    for (int k = 0; k < 2; ++k) rows = rows - rows.reduce(Op::Sum, {1}).binary(Op::Div, observations);
  }

  /// (rows, rows): the sums of products.
  Value products() const {
    const SymInt n = rows.shape()[0];
    return (rows.reshape({n, 1, observations}) * rows.reshape({1, n, observations})).reduce(Op::Sum, {2}).drop({2});
  }
  Tensor finish(const Value& v) const { return (matrix ? v : v.reshape({})).to(dtype).tensor(); }

  Call call;
  DType dtype;
  Value rows;
  bool matrix = true;
  SymInt observations = 0;
};

/// A tensor of batches, channels and sizes that is being normalised.
struct Normalised {
  Normalised(const char* name, const Operand& x, const NormOptions& given)
      : call(name, x),
        options(given),
        dtype(api::floating_dtype(Access::default_dtype(x))),
        source(call, call.node(x, api::wide_dtype(dtype), {}, default_device())) {
    if (!std::isfinite(options.eps) || options.eps < 0)
      throw ArgumentError(name, fmt::format("eps is {}; give a finite number >= 0", options.eps));
  }

  void need_channels(std::size_t axes) const {
    if (source.shape().size() >= axes) return;
    throw ShapeError(call.operation(),
                     fmt::format("{} has fewer than {} axes (batches, channels)", to_string(source.shape()), axes));
  }
  /// One number for each channel, along axis 1.
  Value by_channel(const Tensor& numbers, const char* what) const {
    const SymInt channels = source.shape()[1];
    if (numbers.rank() != 1 || numbers.size(0) != channels) {
      throw ShapeError(call.operation(), fmt::format("{} {} for {} channels; give one number for each", what,
                                                     to_string(numbers.shape()), to_string(channels)));
    }
    Shape aligned(source.shape().size(), SymInt(1));
    aligned[1] = channels;
    return Value(call, call.cast(Access::node(numbers), source.dtype())).reshape(aligned);
  }
  Moments moments(const Value& x, const Ints& axes, Moments::From from = Moments::From::Mean) const {
    return {x, axes, from, options.eps};
  }

  Tensor finish(Value v, bool channels = true) const {
    const auto operand = [&](const Tensor& numbers, const char* what) {
      return channels ? by_channel(numbers, what) : Value(call, call.cast(Access::node(numbers), source.dtype()));
    };
    if (options.weight != nullptr) v = v * operand(*options.weight, "weights");
    if (options.bias != nullptr) v = v + operand(*options.bias, "biases");
    return v.to(dtype).tensor();
  }

  Call call;
  NormOptions options;
  DType dtype;
  Value source;
};

}  // namespace

Tensor nansum(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return without_nan("nansum", &sum, x, axes, keepdim, 0);
}
Tensor nanprod(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return without_nan("nanprod", &prod, x, axes, keepdim, 1);
}
Tensor nanmax(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return extreme_without_nan("nanmax", Op::ReduceMax, x, axes, keepdim);
}
Tensor nanmin(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return extreme_without_nan("nanmin", Op::ReduceMin, x, axes, keepdim);
}

Tensor nanmean(const Operand& x, const Axes& axes, KeepDim keepdim) {
  return api::composed(
      "nanmean",
      [&](const Value& v) {
        const Ints list = v.call().axes(axes, v.shape().size());
        const Value empty = isnan(v);
        const Value count = (!empty).to(v.dtype()).reduce(Op::Sum, list);
        const Value mean = where(empty, 0, v).reduce(Op::Sum, list) / count;
        return keepdim ? mean : mean.drop(list);
      },
      x);
}

Tensor cov(const Operand& x, std::int64_t correction) {
  const Centred c("cov", x);
  return c.finish(c.products().binary(Op::Div, sym_max(c.observations - correction, 0)));
}

Tensor corrcoef(const Operand& x) {
  Centred c("corrcoef", x);
  const SymInt n = c.rows.shape()[0];
  // No factor changes the result: those of large and of small rows keep their squares in the range.
  c.rows = c.rows * api::squares_factor(c.rows, {1});
  const Value deviation = sqrt((c.rows * c.rows).reduce(Op::Sum, {1}));
  const Value r = c.products() / deviation / deviation.reshape({1, n});
  return c.finish(min(max(r, -1), 1));
}

Tensor batch_norm(const Operand& x, const Tensor& mean, const Tensor& variance, const NormOptions& options) {
  const Normalised n("batch_norm", x, options);
  n.need_channels(2);
  const Value centred = n.source - n.by_channel(mean, "means");
  return n.finish(centred * rsqrt(n.by_channel(variance, "variances") + options.eps));
}

Tensor batch_norm_training(const Operand& x, Tensor& running_mean, Tensor& running_variance, const NormOptions& options,
                           double momentum) {
  const Normalised n("batch_norm_training", x, options);
  n.need_channels(2);
  (void)n.by_channel(running_mean, "running means");
  (void)n.by_channel(running_variance, "running variances");
  Ints axes = api::axes_from(2, n.source.shape().size());
  axes.insert(axes.begin(), SymInt(0));
  const SymInt count = n.call.count(n.source.shape(), axes);
  const Moments moments = n.moments(n.source, axes);
  Tensor out = n.finish(moments.normalised());
  const Site site = Access::site(x);
  const auto update = [&](Tensor& running, const Value& batch) {
    const Value before(n.call, n.call.cast(Access::node(running), n.source.dtype()));
    const Value now = batch.drop(axes).to(n.source.dtype());
    const Tensor mixed = (before * (1 - momentum) + now * momentum).tensor();
    running.assign(Operand(mixed, site));
  };
  update(running_mean, moments.mean());
  update(running_variance, moments.variance(sym_max(count - 1, 0)));
  return out;
}

Tensor instance_norm(const Operand& x, const NormOptions& options) {
  const Normalised n("instance_norm", x, options);
  n.need_channels(3);
  return n.finish(n.moments(n.source, api::axes_from(2, n.source.shape().size())).normalised());
}

Tensor group_norm(const Operand& x, std::int64_t groups, const NormOptions& options) {
  const Normalised n("group_norm", x, options);
  n.need_channels(2);
  const Shape& shape = n.source.shape();
  if (groups < 1 || shape[1] % groups != 0) {
    throw ArgumentError("group_norm", fmt::format("{} groups of {} channels; the channels must divide by the groups",
                                                  groups, to_string(shape[1])));
  }
  Shape split = shape;
  split[1] = shape[1] / groups;
  split.insert(split.begin() + 1, SymInt(groups));
  return n.finish(n.moments(n.source.reshape(split), api::axes_from(2, split.size())).normalised().reshape(shape));
}

Tensor rms_norm(const Operand& x, const Axes& axes, const NormOptions& options) {
  const Normalised n("rms_norm", x, options);
  const Ints list = n.call.axes(axes, n.source.shape().size());
  return n.finish(n.moments(n.source, list, Moments::From::Zero).normalised(), false);
}

Tensor scaled_dot_product_attention(const Operand& q, const Operand& k, const Operand& v,
                                    const AttentionOptions& options) {
  const Call call("scaled_dot_product_attention", q);
  const DType result = api::floating_dtype(api::common_dtype({&q, &k, &v})), dtype = api::wide_dtype(result);
  const Device device = api::device_of({&q, &k, &v});
  const auto operand = [&](const Operand& x) { return Value(call, call.node(x, dtype, {}, device)); };
  Value queries = operand(q), keys = operand(k), values = operand(v);
  const std::size_t rank = queries.shape().size();
  const auto refuse = [&](const char* why) {
    throw ShapeError(call.operation(), fmt::format("q {}, k {}, v {}: {}", to_string(queries.shape()),
                                                   to_string(keys.shape()), to_string(values.shape()), why));
  };
  if (rank < 2 || keys.shape().size() != rank || values.shape().size() != rank)
    refuse("give (.., L, E), (.., S, E) and (.., S, V) with as many axes");
  const SymInt rows = queries.shape()[rank - 2], size = queries.shape()[rank - 1], columns = keys.shape()[rank - 2];
  if (keys.shape()[rank - 1] != size || values.shape()[rank - 2] != columns)
    refuse("queries and keys have one size, and there is a value for each key");
  // Grouped heads: (heads of k, group) in place of the heads of q.
  const bool has_heads = rank >= 3;
  const SymInt heads = has_heads ? queries.shape()[rank - 3] : SymInt(1);
  const SymInt shared = has_heads ? keys.shape()[rank - 3] : SymInt(1);
  const bool grouped = has_heads && heads != shared && shared != 1;
  if (grouped) {
    if (heads % shared != 0 || values.shape()[rank - 3] != shared)
      refuse("the heads of q are a multiple of those of k and v");
    const auto lifted = [&](const Value& x, SymInt first, SymInt second) {
      Shape shape = x.shape();
      shape[rank - 3] = first;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(rank) - 2, second);
      return x.reshape(shape);
    };
    queries = lifted(queries, shared, heads / shared);
    keys = lifted(keys, shared, 1);
    values = lifted(values, shared, 1);
  }
  const Site site = Access::site(q);
  const Tensor query = queries.tensor(), key = keys.tensor(), value = values.tensor();
  const Tensor products = matmul(Operand(query, site), key.transpose(-2, -1, site));
  Value scores(call, Access::node(products));
  if (options.scale != 0)
    scores = scores * options.scale;
  else if (size.is_symbolic())
    scores = scores / sqrt(scores.like(1).binary(Op::Mul, sym_max(size, 1)));
  else if (size != 0)
    scores = scores * (1 / std::sqrt(static_cast<double>(size.value())));
  const Value none(call, graph::constant(graph::Scalar::of_float(dtype, -std::numeric_limits<double>::infinity()), {},
                                         device, call.origin()));
  const auto masked = [&](const Value& seen) { scores = where(seen, scores, none); };
  if (options.mask != nullptr) {
    Value mask(call, Access::node(*options.mask));
    if (grouped && mask.shape().size() >= 3) {  // its heads are those of q, or one
      Shape shape = mask.shape();
      const auto at = shape.end() - 3;
      const bool one = *at == 1;
      if (!one && *at != heads) refuse("the mask has one head, or those of q");
      *at = one ? SymInt(1) : shared;
      shape.insert(shape.end() - 2, one ? SymInt(1) : heads / shared);
      mask = mask.reshape(shape);
    }
    if (mask.dtype() == DType::bool_)
      masked(mask);
    else
      scores = scores + mask.to(dtype);
  }
  if (options.causal) {
    const Shape grid{rows, columns};
    masked(api::positions(call, grid, 1, device) <= api::positions(call, grid, 0, device));
  }
  const Tensor seen = scores.tensor(), shares = softmax(Operand(seen, site));
  const Tensor out = matmul(Operand(shares, site), value);
  if (!grouped) return Value(call, Access::node(out)).to(result).tensor();
  Shape joined = out.shape();
  joined.erase(joined.end() - 3);
  *(joined.end() - 3) = heads;
  return Value(call, Access::node(out)).reshape(joined).to(result).tensor();
}

}  // namespace oriel
