// Padding by a tensor's own elements, interpolation, and convolutions of vectors.
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

/// Weight k of cubic convolution at the distance t behind the element before; a = -0.75.
Value cubic_weight(const Value& t, int k) {
  constexpr double a = -0.75;
  if (k == 0 || k == 3) {
    const Value x = k == 0 ? t + 1 : 2 - t;
    return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a;
  }
  const Value x = k == 1 ? t : 1 - t;
  return (x * (a + 2) - (a + 3)) * x * x + 1;
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

/// sum over k of a[i + k] * b[k] where both overlap as wanted; a is not shorter than b.
Value correlation(const Value& a, const Value& b, Overlap overlap) {
  const SymInt m = b.shape()[0];
  SymInt before = 0, after = 0;
  if (overlap == Overlap::full) before = after = m - 1;
  if (overlap == Overlap::same) {
    before = m / 2;
    after = m - 1 - before;
  }
  const Value padded(a.call(), graph::pad(a.node(), {{before, after}}, a.call().origin()));
  const SymInt count = padded.shape()[0] - m + 1;
  View view;
  view.shape = {count, m};
  view.strides = {count == 1 ? SymInt(0) : SymInt(1), m == 1 ? SymInt(0) : SymInt(1)};
  const Value seen(a.call(), graph::raw_view(padded.node(), view, a.call().origin()));
  return (seen * b.reshape({1, m})).reduce(a.dtype() == DType::bool_ ? Op::ReduceMax : Op::Sum, {1}).drop({1});
}

Tensor of_vectors(const char* name, const Operand& a, const Operand& b, Overlap overlap, bool reversed) {
  base::need<base::kFilters>(name);
  const Call call(name, a);
  const DType dtype = api::common_dtype({&a, &b});
  const DType in = is_floating(dtype) ? api::wide_dtype(dtype) : dtype;
  Value x(call, call.node(a, in, {}, default_device())), y(call, call.node(b, in, {}, default_device()));
  if (x.shape().size() != 1 || y.shape().size() != 1 || x.shape()[0] == 0 || y.shape()[0] == 0) {
    throw ShapeError(
        name, fmt::format("{} and {}: both must be vectors with elements", to_string(x.shape()), to_string(y.shape())));
  }
  const auto flipped = [&](const Value& v) { return Value(call, graph::flip(v.node(), {0}, call.origin())); };
  if (reversed) y = flipped(y);  // a convolution
  const bool exchanged = x.shape()[0] < y.shape()[0];
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

Tensor grid_sample(const Operand& x, const Tensor& grid, Interpolation mode, bool align_corners, bool border) {
  base::need<base::kFilters>("grid_sample");
  const Call call("grid_sample", x);
  if (mode != Interpolation::nearest && mode != Interpolation::linear)
    throw ArgumentError("grid_sample", "takes the modes nearest and linear");
  const Operand points(grid, Access::site(x));
  const DType dtype = api::floating_dtype(api::common_dtype({&x, &points})), wide = api::wide_dtype(dtype);
  const Value image(call, call.node(x, wide, {}, grid.device()));
  const Value at(call, call.cast(Access::node(grid), wide));
  const Shape &from = image.shape(), &to = at.shape();
  if (from.size() != 4 || to.size() != 4 || to[3] != 2 || to[0] != from[0] || from[2] == 0 || from[3] == 0) {
    throw ShapeError("grid_sample",
                     fmt::format("images {} and a grid {}; give (N, C, H, W) with pixels and (N, H', W', 2)",
                                 to_string(from), to_string(to)));
  }
  const SymInt count = to[1] * to[2];
  const Tensor flat = image.reshape({from[0], from[1], from[2] * from[3]}).tensor();
  // Positions in pixels, as (N, 1, H' * W'): x for axis 3, y for axis 2.
  const auto position = [&](std::size_t axis) {
    const SymInt part = axis == 3 ? 0 : 1, n = from[axis];
    const Value unit = at.shrink(3, part, part + 1).reshape({to[0], 1, count}) + 1;
    const Value pixel = align_corners ? unit.binary(Op::Mul, n - 1) * 0.5 : (unit.binary(Op::Mul, n) - 1) * 0.5;
    if (border) return where(isnan(pixel), 0, max(pixel.binary(Op::Min, n - 1), 0));
    return where(api::is_finite(pixel), pixel, -2);  // outside, with neighbours that are outside
  };
  const Value column = position(3), row = position(2);
  const auto read = [&](const Value& i, const Value& j) {  // pixels in row i and column j, which are whole numbers
    const Value inside = (i >= 0) & (j >= 0) & i.binary(Op::Le, from[2] - 1) & j.binary(Op::Le, from[3] - 1);
    const Value place = i.to(DType::int64).binary(Op::Mul, from[3]) + j.to(DType::int64);
    const Tensor index = where(inside, place, 0).broadcast({to[0], from[1], count}).tensor();
    const Value pixel(call, Access::node(gather(Operand(flat, Access::site(x)), index, -1, Bounds::zero)));
    return where(inside, pixel, 0);
  };
  const auto finish = [&](const Value& v) { return v.reshape({to[0], from[1], to[1], to[2]}).to(dtype).tensor(); };
  if (mode == Interpolation::nearest) return finish(read(round(row), round(column)));
  const Value top = row.unary(Op::Floor), left = column.unary(Op::Floor);
  const Value down = row - top, right = column - left;
  const auto line = [&](const Value& i) {
    return weighted(read(i, left), 1 - right) + weighted(read(i, left + 1), right);
  };
  return finish(weighted(line(top), 1 - down) + weighted(line(top + 1), down));
}

Tensor convolve(const Operand& a, const Operand& b, Overlap overlap) {
  return of_vectors("convolve", a, b, overlap, true);
}
Tensor correlate(const Operand& a, const Operand& b, Overlap overlap) {
  return of_vectors("correlate", a, b, overlap, false);
}

}  // namespace oriel
