// Padding by a tensor's own elements, interpolation, and convolutions along all axes.
#include <fmt/format.h>

#include <algorithm>

#include "base/parts.hpp"
#include "formula/interpolation.hpp"
#include "functions/window_view.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "oriel/windows.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using api::weighted;

namespace {

const char* mode_name(PadMode mode) {
  return mode == PadMode::reflect     ? "reflect"
         : mode == PadMode::replicate ? "replicate"
         : mode == PadMode::symmetric ? "symmetric"
                                      : "circular";
}

/// What stands in front of, or behind, the elements of an axis: `count` elements.
Value edge(const Value& v, std::size_t d, SymInt count, PadMode mode, bool front) {
  const SymInt n = v.shape()[d];
  if (mode == PadMode::circular) return front ? v.shrink(d, n - count, n) : v.shrink(d, 0, count);
  if (mode == PadMode::replicate) {
    Shape shape = v.shape();
    shape[d] = count;
    const Value end = front ? v.shrink(d, 0, 1) : v.shrink(d, n - 1, n);
    return {v.call(), graph::expand(end.node(), shape, v.call().origin())};
  }
  const std::int64_t end = mode == PadMode::symmetric ? 0 : 1;  // is the last element left out?
  const Value part = front ? v.shrink(d, end, count + end) : v.shrink(d, n - end - count, n - end);
  return {v.call(), graph::flip(part.node(), {d}, v.call().origin())};
}

/// x at integer positions along an axis, clamped to it.
Value read_at(const Value& x, std::size_t axis, const Value& position, Site site) {
  const SymInt n = x.shape()[axis];
  const Tensor at = max(position.binary(Op::Min, n - 1), 0).tensor();
  const Tensor source = x.tensor();
  return {x.call(), Access::node(take(Operand(source, site), at, static_cast<std::int64_t>(axis), Bounds::zero))};
}

/// Each element `factor` times in a row, as a view.
Value repeated(const Value& x, std::size_t axis, SymInt factor) {
  Shape apart = x.shape(), joined = x.shape();
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, SymInt(1));
  joined[axis] *= factor;
  Shape grown = apart;
  grown[axis + 1] = factor;
  return x.reshape(apart).broadcast(grown).reshape(joined);
}

Value resampled(const Value& x, std::size_t axis, SymInt size, Interpolation mode, bool align_corners, Site site) {
  const Call& call = x.call();
  const SymInt n = x.shape()[axis];
  // A multiple of the size needs no gather.
  const bool plain = !n.is_symbolic() && !size.is_symbolic();
  if (mode == Interpolation::nearest && plain && size % n == 0) return repeated(x, axis, size / n);
  const Value i = api::positions(call, {size}, 0, x.device());
  if (mode == Interpolation::nearest) return read_at(x, axis, i.binary(Op::Mul, n).binary(Op::FloorDiv, size), site);
  // The position in x, as a fraction.
  Value at = i.to(x.dtype());
  if (align_corners) {
    if (size > 1)
      at = at * at.like(1).binary(Op::Mul, n - 1).binary(Op::Div, size - 1);
    else
      at = at * 0;
  } else {
    const Value scale = at.like(1).binary(Op::Mul, n).binary(Op::Div, size);
    at = (at + 0.5) * scale - 0.5;
    if (mode == Interpolation::linear) at = max(at, 0);
  }
  const Value below = at.unary(Op::Floor), first = below.to(DType::int64);
  Shape aligned(x.shape().size(), SymInt(1));
  aligned[axis] = size;
  const Value t = (at - below).reshape(aligned);
  if (mode == Interpolation::linear) {
    return weighted(read_at(x, axis, first, site), 1 - t) + weighted(read_at(x, axis, first + 1, site), t);
  }
  const Value a = read_at(x, axis, first - 1, site), b = read_at(x, axis, first, site);
  const Value c = read_at(x, axis, first + 1, site), d = read_at(x, axis, first + 2, site);
  // In pairs, which do not leave the range where the elements are alike.
  const Value front = weighted(a, cubic_weight(t, 0)) + weighted(b, cubic_weight(t, 1));
  const Value back = weighted(c, cubic_weight(t, 2)) + weighted(d, cubic_weight(t, 3));
  return where((a == b) & (b == c) & (c == d), b, front + back);
}

/// sum over k of a[i + k] * b[k] where both overlap as wanted. But for all results, a is not shorter than b.
Value correlation(const Value& a, const Value& b, Overlap overlap) {
  const std::size_t rank = b.shape().size();
  Ranges around(rank, Range{0, 0});
  for (std::size_t d = 0; d < rank; ++d) {
    const SymInt m = b.shape()[d];
    if (overlap == Overlap::full) around[d] = {m - 1, m - 1};
    if (overlap == Overlap::same) around[d] = {m / 2, m - 1 - m / 2};
  }
  const Value padded(a.call(), graph::pad(a.node(), around, a.call().origin()));
  const Ints steps = contiguous_strides(padded.shape());
  View view;
  Shape kernel(rank, SymInt(1));
  for (std::size_t d = 0; d < rank; ++d) {
    const SymInt count = padded.shape()[d] - b.shape()[d] + 1;
    view.shape.push_back(count);
    view.strides.push_back(count == 1 ? SymInt(0) : steps[d]);
  }
  for (std::size_t d = 0; d < rank; ++d) {
    view.shape.push_back(b.shape()[d]);
    view.strides.push_back(b.shape()[d] == 1 ? SymInt(0) : steps[d]);
    kernel.push_back(b.shape()[d]);
  }
  const Value seen(a.call(), graph::raw_view(padded.node(), view, a.call().origin()));
  const Ints inner = api::axes_from(rank, 2 * rank);
  return (seen * b.reshape(kernel)).reduce(a.dtype() == DType::bool_ ? Op::ReduceMax : Op::Sum, inner).drop(inner);
}

/// Is a at least as long as b along every axis?
bool covers(const Shape& a, const Shape& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] < b[d]) return false;
  return true;
}

Tensor convolved_along_all(const char* name, const Operand& a, const Operand& b, Overlap overlap, bool reversed) {
  base::need<base::kFilters>(name);
  const Call call(name, a);
  const DType dtype = api::common_dtype({&a, &b});
  const DType in = is_floating(dtype) ? api::wide_dtype(dtype) : dtype;
  const Value x(call, call.node(a, in, {}, default_device()));
  Value y(call, call.node(b, in, {}, default_device()));
  const std::size_t rank = x.shape().size();
  if (rank == 0 || y.shape().size() != rank || numel(x.shape()) == 0 || numel(y.shape()) == 0) {
    throw ShapeError(name, fmt::format("{} and {}: both must have elements and as many axes, at least one",
                                       to_string(x.shape()), to_string(y.shape())));
  }
  const auto flipped = [&](const Value& v) {
    return Value(call, graph::flip(v.node(), api::axes_from(0, rank), call.origin()));
  };
  const bool exchanged = !covers(x.shape(), y.shape()) && covers(y.shape(), x.shape());
  if (!exchanged && overlap != Overlap::full && !covers(x.shape(), y.shape())) {
    throw ShapeError(name, fmt::format("{} and {}: but for Overlap::full one must be as long as the other along every "
                                       "axis",
                                       to_string(x.shape()), to_string(y.shape())));
  }
  if (reversed) y = flipped(y);  // a convolution
  if (!exchanged) return correlation(x, y, overlap).to(dtype).tensor();
  // The correlation of the longer one with the shorter one, backwards.
  const Value out = reversed ? correlation(flipped(y), flipped(x), overlap) : flipped(correlation(y, x, overlap));
  return out.to(dtype).tensor();
}

}  // namespace

Tensor pad(const Operand& x, const Ranges& before_after, PadMode mode) {
  const Call call("pad", x);
  Value v(call, call.node(x));
  if (before_after.size() != v.shape().size()) {
    throw ShapeError("pad", fmt::format("{} pairs for the {} axes of {}; give one for each", before_after.size(),
                                        v.shape().size(), to_string(v.shape())));
  }
  if (mode == PadMode::constant) return Value(call, graph::pad(v.node(), before_after, call.origin())).tensor();
  base::need<base::kFilters>("pad");
  for (std::size_t d = 0; d < before_after.size(); ++d) {
    const auto [before, after] = before_after[d];
    if (before < 0 || after < 0) {
      throw ShapeError("pad", fmt::format("axis {} is padded by {} and {}; give numbers >= 0", d, to_string(before),
                                          to_string(after)));
    }
    const SymInt n = v.shape()[d];
    const SymInt most = mode == PadMode::reflect ? n - 1 : n;
    const bool fits = mode == PadMode::replicate ? before + after == 0 || n > 0
                                                 : before + after == 0 || (before <= most && after <= most);
    if (!fits) {
      throw ShapeError("pad", fmt::format("axis {} of {} is too short to be padded by {} and {} in mode {}", d,
                                          to_string(v.shape()), to_string(before), to_string(after), mode_name(mode)));
    }
    std::vector<Tensor> parts;
    if (before != 0) parts.push_back(edge(v, d, before, mode, true).tensor());
    parts.push_back(v.tensor());
    if (after != 0) parts.push_back(edge(v, d, after, mode, false).tensor());
    if (parts.size() > 1) v = Value(call, Access::node(concat(parts, static_cast<std::int64_t>(d), Access::site(x))));
  }
  return v.tensor();
}

Tensor interpolate(const Operand& x, const Ints& sizes, Interpolation mode, bool align_corners) {
  base::need<base::kFilters>("interpolate");
  const Call call("interpolate", x);
  Value v(call, call.node(x));
  const std::size_t rank = v.shape().size();
  if (sizes.empty() || sizes.size() > rank) {
    throw ShapeError("interpolate", fmt::format("{} sizes for the {} axes of {}; give one for each of the last axes",
                                                sizes.size(), rank, to_string(v.shape())));
  }
  if (align_corners && (mode == Interpolation::nearest || mode == Interpolation::area))
    throw ArgumentError("interpolate", "align_corners has a meaning for linear and cubic only");
  const std::size_t front = rank - sizes.size();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < 1 || v.shape()[front + k] == 0) {
      throw ShapeError("interpolate",
                       fmt::format("{} to {}; extents must be >= 1", to_string(v.shape()), to_string(sizes)));
    }
  }
  if (mode == Interpolation::area) {
    if (sizes.size() > 3) throw ShapeError("interpolate", "area takes one to three sizes");
    // The pooling functions take one or two axes in front.
    Shape shape{1, 1};
    SymInt outer = 1;
    for (std::size_t d = 0; d < front; ++d) outer *= v.shape()[d];
    shape[0] = outer;
    for (std::size_t k = 0; k < sizes.size(); ++k) shape.push_back(v.shape()[front + k]);
    const Tensor lined = v.reshape(shape).tensor();
    const Operand source(lined, Access::site(x));
    const Tensor pooled = sizes.size() == 1   ? adaptive_avg_pool1d(source, sizes)
                          : sizes.size() == 2 ? adaptive_avg_pool2d(source, sizes)
                                              : adaptive_avg_pool3d(source, sizes);
    Shape result(v.shape().begin(), v.shape().begin() + static_cast<std::ptrdiff_t>(front));
    for (const SymInt n : sizes) result.push_back(n);
    return Value(call, Access::node(pooled)).reshape(result).tensor();
  }
  const DType dtype = mode == Interpolation::nearest ? v.dtype() : api::floating_dtype(v.dtype());
  if (mode != Interpolation::nearest) v = v.to(api::wide_dtype(dtype));
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    // At its own positions a size stays as it is.
    if (identical(v.shape()[front + k], sizes[k])) continue;
    v = resampled(v, front + k, sizes[k], mode, align_corners, Access::site(x));
  }
  return v.to(dtype).tensor();
}

Tensor convolve(const Operand& a, const Operand& b, Overlap overlap) {
  return convolved_along_all("convolve", a, b, overlap, true);
}
Tensor correlate(const Operand& a, const Operand& b, Overlap overlap) {
  return convolved_along_all("correlate", a, b, overlap, false);
}

}  // namespace oriel
