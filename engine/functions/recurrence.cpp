// Scans by any associative function, and recurrences.
#include <fmt/format.h>

#include <algorithm>

#include "base/element_types.hpp"
#include "base/parts.hpp"
#include "formula/value.hpp"
#include "oriel/arithmetic.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scan.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Value;

namespace {

using Tensors = std::vector<Tensor>;

/// The elements from `first` on along an axis, at every `step`-th position.
Tensors part(const Tensors& x, std::size_t axis, SymInt first, SymInt last, std::int64_t step) {
  Tensors out;
  for (const Tensor& t : x) {
    std::vector<Slice> slices(axis + 1);
    slices[axis] = {first, last, step};
    out.push_back(slice(t, slices));
  }
  return out;
}

/// JAX's scheme: pairs of neighbours are combined and scanned, which gives each second element; the others take one
/// combination more.
struct OddEven {
  const Combination& combine;
  std::size_t axis;
  std::string_view name;

  Tensors joined(const Tensors& a, const Tensors& b) const {
    Tensors out = combine(a, b);
    if (out.size() != a.size())
      throw ArgumentError(name, fmt::format("the function gives {} tensors for {}", out.size(), a.size()));
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (graph::known_same(out[k].shape(), a[k].shape()) && out[k].dtype() == a[k].dtype()) continue;
      throw ShapeError(name, fmt::format("the function makes {} {} of {} {}; it keeps shapes and dtypes",
                                         oriel::name(out[k].dtype()), to_string(out[k].shape()),
                                         oriel::name(a[k].dtype()), to_string(a[k].shape())));
    }
    return out;
  }

  Tensors run(const Tensors& x) const {
    const SymInt n = x[0].size(axis);
    if (n < 2) return x;
    const Tensors odd = run(joined(part(x, axis, 0, n - 1, 2), part(x, axis, 1, n, 2)));
    const bool even_count = n % 2 == 0;
    const Tensors rest = part(x, axis, 2, n, 2);
    const SymInt pairs = odd[0].size(axis);
    Tensors even = part(x, axis, 0, 1, 1);
    if (n > 2) {
      const Tensors before = even_count ? part(odd, axis, 0, pairs - 1, 1) : odd;
      const Tensors after = joined(before, rest);
      for (std::size_t k = 0; k < even.size(); ++k)
        even[k] = concat({even[k], after[k]}, static_cast<std::int64_t>(axis));
    }
    Tensors out;
    for (std::size_t k = 0; k < x.size(); ++k) out.push_back(interleaved(even[k], odd[k], pairs));
    return out;
  }

  /// even[0], odd[0], even[1], ..., of which there may be one even element more.
  Tensor interleaved(const Tensor& even, const Tensor& odd, SymInt pairs) const {
    const auto at = static_cast<std::int64_t>(axis);
    const Tensor first = part({even}, axis, 0, pairs, 1)[0];
    Shape shape = odd.shape();
    shape[axis] = pairs * 2;
    Tensor both = stack({first, odd}, at + 1).reshape(shape);
    if (even.size(axis) == pairs) return both;
    return concat({both, part({even}, axis, pairs, pairs + 1, 1)[0]}, at);
  }
};

}  // namespace

std::vector<Tensor> associative_scan(const Combination& combine, const std::vector<Tensor>& x, std::int64_t axis,
                                     bool reverse) {
  constexpr const char* kName = "associative_scan";
  if (x.empty()) throw ArgumentError(kName, "there is no tensor to scan");
  const std::size_t at = graph::normal_axis(axis, x[0].rank(), graph::Origin{kName, Site::unknown()});
  for (const Tensor& t : x) {
    if (t.rank() <= at || t.size(at) != x[0].size(at)) {
      throw ShapeError(
          kName, fmt::format("{} and {} differ along axis {}", to_string(x[0].shape()), to_string(t.shape()), at));
    }
  }
  const auto flipped = [&](Tensors tensors) {
    for (Tensor& t : tensors) t = flip(t, {static_cast<std::int64_t>(at)});
    return tensors;
  };
  if (!reverse) return OddEven{combine, at, kName}.run(x);
  // From the end, what comes after an element in memory comes before it in the scan.
  const Combination backwards = [&](std::span<const Tensor> a, std::span<const Tensor> b) { return combine(b, a); };
  const Tensors out = OddEven{backwards, at, kName}.run(flipped(x));
  return flipped(out);
}

Tensor associative_scan(const Callback<Tensor(const Tensor&, const Tensor&)>& combine, const Operand& x,
                        std::int64_t axis, bool reverse) {
  const Call call("associative_scan", x);
  const Tensor source = Access::tensor(call.node(x));
  const Combination both = [&](std::span<const Tensor> a, std::span<const Tensor> b) {
    return Tensors{combine(a[0], b[0])};
  };
  return associative_scan(both, {source}, axis, reverse)[0];
}

Tensor logcumsumexp(const Operand& x, std::int64_t axis) {
  const Call call("logcumsumexp", x);
  const DType dtype = api::floating_dtype(Access::default_dtype(x));
  const Value v = Value(call, call.node(x)).to(api::wide_dtype(dtype));
  if (v.shape().empty()) return v.to(dtype).tensor();
  const std::size_t at = call.axis(axis, v.shape().size());
  // The result is m + log1p(s): m is the largest element up to each one, and s the sum of exp(x - m) without the 1 of m
  // itself. It goes on by the factor f = exp(m[t-1] - m[t]): a new peak leaves (s + 1) * f, and the first one nothing.
  const Value peak = Value(call, graph::scan(graph::Op::CumMax, v.node(), at, call.origin())).to(v.dtype());
  // Differences of infinite peaks are NaN, those of the largest numbers are not.
  const double most = base::largest_finite(v.dtype());
  const Value finite = min(max(peak, -most), most);
  // One further back, without asking whether there are elements: a count may be 0.
  const Ranges all = api::whole(v.shape());
  Ranges one(all.size(), Range{0, 0});
  one[at].lo = 1;
  const auto behind = [&](NodePtr padded) { return Value(call, call.shrink(std::move(padded), all)); };
  const Value later = behind(call.inside(v.shape(), v.device(), one));  // not the first one
  const Value before = behind(graph::pad(finite.node(), one, call.origin()));
  // Chosen before exp, too: the derivative of what overflows is not 0 times 0.
  const Value fallen = where(later, exp(where(later, before - finite, 0)), 0);
  const Value added = where(v == peak, fallen, exp(v - finite));
  const Value sum = Value(call, graph::recurrence(fallen.node(), added.node(), at, call.origin()));
  return (peak + log1p(sum)).to(dtype).tensor();
}

namespace {

/// A scan from the end of an axis on, or without the element itself.
class DirectedScan {
 public:
  DirectedScan(const char* name, const Operand& x, std::int64_t along, const ScanOptions& options)
      : call_(name, x), site_(Access::site(x)), options_(options), source_(call_, call_.node(x)) {
    shape_ = source_.shape();
    if (shape_.empty()) source_ = source_.reshape({1});
    axis_ = call_.axis(along, source_.shape().size());
  }

  std::int64_t axis() const { return static_cast<std::int64_t>(axis_); }
  SymInt extent() const { return source_.shape()[axis_]; }
  const Call& call() const { return call_; }
  /// The operand in the order of the scan.
  Tensor source() const { return turned(source_).tensor(); }
  Operand operand(const Tensor& tensor) const { return {tensor, site_}; }
  Value scanned(const Tensor& tensor) const { return {call_, Access::node(tensor)}; }
  /// What was scanned, in the order of the axis. `none`: the result of no element.
  Tensor finish(Value out, int none) const {
    if (options_.exclusive) {
      Ranges front(out.shape().size(), Range{0, 0});
      front[axis_] = {1, 0};
      const graph::Scalar first = is_floating(out.dtype()) ? graph::Scalar::of_float(out.dtype(), none)
                                                           : graph::Scalar::of_int(out.dtype(), none);
      out = Value(call_, call_.pad(out.node(), front, first)).shrink(axis_, 0, extent());
    }
    const Value whole = turned(out).reshape(shape_);
    return Access::tensor(graph::format(whole.node(), MemoryFormat::contiguous, call_.origin()));
  }

 private:
  Value turned(const Value& v) const {
    return options_.reverse ? Value(call_, graph::flip(v.node(), {axis_}, call_.origin())) : v;
  }

  Call call_;
  Site site_;
  ScanOptions options_;
  Value source_;
  Shape shape_;
  std::size_t axis_ = 0;
};

Tensor directed(const char* name, Tensor (*scan)(const Operand&, std::int64_t), const Operand& x, std::int64_t axis,
                const ScanOptions& options, int none) {
  base::need<base::kFurther>(name);
  const DirectedScan s(name, x, axis, options);
  const Tensor source = s.source();
  return s.finish(s.scanned(scan(s.operand(source), s.axis())), none);
}

Ordered directed(const char* name, Ordered (*scan)(const Operand&, std::int64_t), const Operand& x, std::int64_t axis,
                 bool reverse) {
  base::need<base::kFurther>(name);
  const DirectedScan s(name, x, axis, {.reverse = reverse});
  const Tensor source = s.source();
  const Ordered out = scan(s.operand(source), s.axis());
  const Value places = s.scanned(out.positions);
  return {s.finish(s.scanned(out.values), 0),
          s.finish(reverse ? (-places).binary(api::Op::Add, s.extent() - 1) : places, 0)};
}

}  // namespace

Tensor cumsum(const Operand& x, std::int64_t axis, const ScanOptions& options) {
  return directed("cumsum", &cumsum, x, axis, options, 0);
}
Tensor cumprod(const Operand& x, std::int64_t axis, const ScanOptions& options) {
  return directed("cumprod", &cumprod, x, axis, options, 1);
}
Tensor logcumsumexp(const Operand& x, std::int64_t axis, bool reverse) {
  return directed("logcumsumexp", &logcumsumexp, x, axis, {.reverse = reverse}, 0);
}
Ordered cummax(const Operand& x, std::int64_t axis, bool reverse) {
  return directed("cummax", &cummax, x, axis, reverse);
}
Ordered cummin(const Operand& x, std::int64_t axis, bool reverse) {
  return directed("cummin", &cummin, x, axis, reverse);
}

Tensor linear_recurrence(const Operand& a, const Operand& b, std::int64_t axis, bool reverse) {
  const Call call("linear_recurrence", b);
  const DType own = api::common_dtype({&a, &b});
  const DType dtype = graph::scanned(own);
  const Device device = api::device_of({&b, &a});
  Value factor(call, call.node(a, dtype, {}, device)), added(call, call.node(b, dtype, {}, device));
  const Shape shape = graph::broadcast_shapes(factor.shape(), added.shape(), call.origin());
  if (shape.empty()) return added.to(own).tensor();
  const std::size_t at = call.axis(axis, shape.size());
  const bool number = factor.shape().empty();
  const Ints axes{static_cast<std::int64_t>(at)};
  const auto flipped = [&](const Value& v) { return Value(call, graph::flip(v.node(), axes, call.origin())); };
  added = added.broadcast(shape);
  if (reverse) added = flipped(added);
  if (!number) factor = reverse ? flipped(factor.broadcast(shape)) : factor.broadcast(shape);
  Value y(call, graph::recurrence(factor.node(), added.node(), at, call.origin()));
  if (reverse) y = flipped(y);
  return Access::tensor(
      graph::format(y.to(is_floating(own) ? own : dtype).node(), MemoryFormat::contiguous, call.origin()));
}

}  // namespace oriel
