// Pooling, as a reduction over a view of windows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parts.hpp"
#include "functions/window_view.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scatter.hpp"
#include "oriel/windows.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using api::WindowAxis;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The windows of pooling along one axis of n elements. In ceil mode padding is added behind the end as far as the last
/// window reaches.
WindowAxis pooled_axis(const Call& call, SymInt n, WindowAxis axis, SymInt padding, bool ceil_mode) {
  if (axis.size > 1 && axis.dilation > (kMost - 1) / (axis.size - 1)) {
    throw ShapeError(call.operation(),
                     fmt::format("a window of {} elements with dilation {} is wider than 2^63-1 elements", axis.size,
                                 axis.dilation));
  }
  SymInt room = n + padding * 2 - axis.span();
  if (ceil_mode && n > 0) room = sym_max(room, 0);  // the first window starts inside
  if (room < 0 || (padding > 0 && n == 0)) {
    throw ShapeError(call.operation(), fmt::format("a window of {} elements is wanted of {} with padding {}",
                                                   axis.span(), to_string(n), to_string(padding)));
  }
  axis.before = padding;
  axis.after = padding;
  axis.count = room / axis.stride + 1;
  if (!ceil_mode) return axis;
  axis.count = (room + (axis.stride - 1)) / axis.stride + 1;
  // A window that starts in the padding behind the end is left out.
  if ((axis.count - 1) * axis.stride >= n + padding) axis.count = axis.count - 1;
  axis.after = sym_max(0, (axis.count - 1) * axis.stride + axis.span() - n - padding);
  return axis;
}

/// The same windows over n elements without what lies in the padding in all of them, at their front and their end.
WindowAxis shortened(WindowAxis axis, SymInt n) {
  if (n.is_symbolic()) return axis;
  const std::int64_t padding = axis.before.value(), last_start = (axis.count.value() - 1) * axis.stride - padding;
  const std::int64_t last = std::min(axis.size - 1, (n.value() - 1 + padding) / axis.dilation);
  const std::int64_t first = std::min(std::max<std::int64_t>(-last_start, 0) / axis.dilation, last);
  if (last - first + 1 == axis.size) return axis;
  axis.size = last - first + 1;
  axis.before = padding - first * axis.dilation;
  axis.after = sym_max(0, last_start + padding + axis.span() - n - axis.before);
  return axis;
}

struct Pool {
  Pool(const char* name, const Operand& x, const Ints& window, std::size_t count, const PoolOptions& options)
      : call(name, x), source(call, call.node(x)), axes(count) {
    const std::size_t rank = source.shape().size();
    if (rank != count + 1 && rank != count + 2) {
      throw ShapeError(name, fmt::format("{} has {} axes; give {} or {} (batch, channels, sizes)",
                                         to_string(source.shape()), rank, count + 1, count + 2));
    }
    front = rank - count;
    const Ints sizes = api::for_axes(call, window, count, "window", 1);
    const Ints stride = options.stride.empty() ? sizes : api::for_axes(call, options.stride, count, "stride", 1);
    const Ints padding = api::for_axes(call, options.padding, count, "padding", 0);
    const Ints dilation = api::for_axes(call, options.dilation, count, "dilation", 1);
    for (std::size_t k = 0; k < count; ++k) {
      if (padding[k] * 2 > sizes[k]) {
        throw ArgumentError(
            name, fmt::format("padding {} is more than half of window {}", to_string(padding), to_string(sizes)));
      }
      WindowAxis axis;
      axis.size = sizes[k].value();
      axis.stride = stride[k].value();
      axis.dilation = dilation[k].value();
      axes[k] = pooled_axis(call, source.shape()[front + k], axis, padding[k], options.ceil_mode);
    }
  }

  /// The windows as they are read.
  std::vector<WindowAxis> read_axes() const {
    std::vector<WindowAxis> read = axes;
    for (std::size_t k = 0; k < axes.size(); ++k) read[k] = shortened(axes[k], source.shape()[front + k]);
    return read;
  }
  Value windows(const Value& x, const graph::Scalar& around) const {
    Ranges ranges(x.shape().size(), Range{0, 0});
    const std::vector<WindowAxis> read = read_axes();
    for (std::size_t k = 0; k < axes.size(); ++k) ranges[front + k] = {read[k].before, read[k].after};
    return api::windows(Value(call, call.pad(x.node(), ranges, around)), read);
  }
  /// Reduced over the elements of windows.
  Value reduce(Op op, const Value& seen) const {
    const Ints inner = api::axes_from(front + axes.size(), front + 2 * axes.size());
    return seen.reduce(op, inner).drop(inner);
  }

  Call call;
  Value source;
  std::vector<WindowAxis> axes;
  std::size_t front = 0;  // axes in front of the spatial ones
};

Tensor max_pool(const char* name, const Operand& x, const Ints& window, std::size_t count, const PoolOptions& options) {
  const Pool pool(name, x, window, count, options);
  return pool
      .reduce(Op::ReduceMax,
              pool.windows(pool.source, graph::Scalar::of_identity(ops::Identity::Lowest, pool.source.dtype())))
      .tensor();
}

Tensor avg_pool(const char* name, const Operand& x, const Ints& window, std::size_t count, const PoolOptions& options) {
  Pool pool(name, x, window, count, options);
  for (const SymInt n : options.dilation)
    if (n != 1) throw ArgumentError(name, "takes no dilation; use 1");
  if (!std::isfinite(options.divisor))
    throw ArgumentError(name, fmt::format("divisor is {}; give a finite number", options.divisor));
  const DType dtype = api::floating_dtype(pool.source.dtype()), wide = api::wide_dtype(dtype);
  const Value source = pool.source.to(wide);
  Value mean = pool.reduce(Op::Sum, pool.windows(source, graph::Scalar::of_int(wide, 0)));
  if (options.divisor != 0) return (mean / options.divisor).to(dtype).tensor();
  SymInt all = 1;
  for (std::size_t k = 0; k < count; ++k) {
    const WindowAxis& axis = pool.axes[k];
    const SymInt padding = axis.before, n = source.shape()[pool.front + k];
    // What lies in the padding of ceil mode never counts, what lies in the caller's padding counts if wanted.
    const bool whole = !options.ceil_mode && (options.count_include_pad || padding == 0);
    if (whole) {
      all *= axis.size;
      continue;
    }
    const Value first = api::positions(pool.call, mean.shape(), pool.front + k, source.device())
                            .binary(Op::Mul, SymInt(axis.stride))
                            .binary(Op::Sub, padding);
    const Value last =
        first.binary(Op::Add, SymInt(axis.size)).binary(Op::Min, options.count_include_pad ? n + padding : n);
    const Value from = options.count_include_pad ? first : max(first, 0);
    mean = mean / (last - from).to(wide);
  }
  return mean.binary(Op::Div, all).to(dtype).tensor();
}

/// One axis of adaptive pooling. The windows are equal if n divides by the size; else their elements are gathered, with
/// a mask for those of the longest window that a shorter one lacks.
Tensor adaptive_axis(const Call& call, const Tensor& x, std::size_t axis, SymInt size, bool mean, Site site) {
  const Value v(call, Access::node(x));
  const SymInt n = v.shape()[axis];
  const Op op = mean ? Op::Sum : Op::ReduceMax;
  if (n % size == 0) {
    Shape split = v.shape();
    split[axis] = size;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, n / size);
    const Value out = v.reshape(split).reduce(op, {axis + 1}).drop({axis + 1});
    return (mean ? out.binary(Op::Div, n / size) : out).tensor();
  }
  const SymInt longest = (n + size - 1) / size + 1;
  const Shape grid{size, longest};
  const Value i = api::positions(call, grid, 0, v.device()), j = api::positions(call, grid, 1, v.device());
  const Value first = i.binary(Op::Mul, n).binary(Op::FloorDiv, size);
  const Value end = (i + 1).binary(Op::Mul, n).binary(Op::Add, size - 1).binary(Op::FloorDiv, size);
  const Value at = first + j;
  const Tensor positions = at.binary(Op::Min, n - 1).tensor();
  const Value seen(call,
                   Access::node(take(Operand(x, site), positions, static_cast<std::int64_t>(axis), Bounds::zero)));
  Shape aligned(seen.shape().size(), SymInt(1));
  aligned[axis] = size;
  Shape inside = aligned;
  inside[axis + 1] = longest;
  const Value outside(call, graph::constant(mean ? graph::Scalar::of_int(v.dtype(), 0)
                                                 : graph::Scalar::of_identity(ops::Identity::Lowest, v.dtype()),
                                            seen.shape(), v.device(), call.origin()));
  const Value kept = where((at < end).reshape(inside), seen, outside);
  Value out = kept.reduce(op, {axis + 1}).drop({axis + 1});
  if (mean) {
    aligned.pop_back();
    out = out / (end - first).to(v.dtype()).reshape(aligned);
  }
  return out.tensor();
}

Tensor adaptive(const char* name, const Operand& x, const Ints& sizes, std::size_t count, bool mean) {
  base::need<base::kFilters>(name);
  const Call call(name, x);
  const Value v(call, call.node(x));
  const std::size_t rank = v.shape().size();
  if (rank != count + 1 && rank != count + 2) {
    throw ShapeError(name, fmt::format("{} has {} axes; give {} or {} (batch, channels, sizes)", to_string(v.shape()),
                                       rank, count + 1, count + 2));
  }
  const Ints wanted = api::for_axes(call, sizes, count, "sizes", -1);
  const DType dtype = mean ? api::floating_dtype(v.dtype()) : v.dtype();
  Tensor out = v.to(mean ? api::wide_dtype(dtype) : dtype).tensor();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t axis = rank - count + k;
    if (wanted[k] == -1) continue;
    if (v.shape()[axis] == 0 && wanted[k] != 0) {
      throw ShapeError(name, fmt::format("axis {} of {} has no elements to pool", axis, to_string(v.shape())));
    }
    if (wanted[k] == 0)
      throw ArgumentError(name, fmt::format("sizes {} hold 0; give numbers >= 1, or -1", to_string(sizes)));
    const SymInt n = v.shape()[axis];
    if (!n.is_symbolic() && !wanted[k].is_symbolic() && wanted[k] != n && wanted[k].value() > kMost / (n.value() + 1)) {
      throw OverflowError(name, fmt::format("{} windows along axis {} of {} pass 2^63-1 in their positions",
                                            to_string(wanted[k]), axis, to_string(v.shape())));
    }
    out = adaptive_axis(call, out, axis, wanted[k], mean, Access::site(x));
  }
  return Value(call, Access::node(out)).to(dtype).tensor();
}

}  // namespace

Ordered max_pool_with_indices(const Operand& x, const Ints& window, const PoolOptions& options) {
  constexpr const char* kName = "max_pool_with_indices";
  base::need<base::kFurther>(kName);
  const std::size_t count = window.size();
  if (count < 1 || count > 3) {
    throw ArgumentError(
        kName, fmt::format("a window {}; give one number for each of one to three spatial axes", to_string(window)));
  }
  const Pool pool(kName, x, window, count, options);
  const Value& source = pool.source;
  const Value seen = pool.windows(source, graph::Scalar::of_identity(ops::Identity::Lowest, source.dtype()));
  const Value values = pool.reduce(Op::ReduceMax, seen);
  const std::vector<WindowAxis> read = pool.read_axes();
  Shape lines = values.shape();
  std::int64_t size = 1;
  for (const WindowAxis& axis : read) size *= axis.size;
  lines.push_back(size);
  const Tensor windows = seen.reshape(lines).tensor();
  // The place in the window, of which each axis takes its part.
  const Value place(pool.call, Access::node(argmax(Operand(windows, Access::site(x)), -1)));
  Value flat = place.like(0);
  for (std::size_t k = 0; k < count; ++k) {
    const WindowAxis& axis = read[k];
    size /= axis.size;
    const Value first = api::positions(pool.call, values.shape(), pool.front + k, source.device())
                            .binary(Op::Mul, SymInt(axis.stride))
                            .binary(Op::Sub, axis.before);
    const Value own = place.binary(Op::FloorDiv, SymInt(size)).binary(Op::Remainder, SymInt(axis.size));
    // Where all elements are as low as the padding, the first one that is none.
    const Value least =
        max(-first, 0).binary(Op::Add, SymInt(axis.dilation - 1)).binary(Op::FloorDiv, SymInt(axis.dilation));
    const Value at = first + max(own, least).binary(Op::Mul, SymInt(axis.dilation));
    flat = flat.binary(Op::Mul, source.shape()[pool.front + k]) + at;
  }
  return {values.tensor(), flat.tensor()};
}

Tensor max_unpool(const Operand& x, const Tensor& positions, const Ints& sizes) {
  base::need<base::kFurther>("max_unpool");
  const Call call("max_unpool", x);
  const Value v(call, call.node(x));
  const std::size_t rank = v.shape().size(), count = sizes.size();
  if (count == 0 || count > rank || positions.shape() != v.shape()) {
    throw ShapeError("max_unpool",
                     fmt::format("{} with positions {} to sizes {}; give a position for each element, and "
                                 "a size for each of the last axes",
                                 to_string(v.shape()), to_string(positions.shape()), to_string(sizes)));
  }
  const auto front = static_cast<std::ptrdiff_t>(rank - count);
  Shape lined(v.shape().begin(), v.shape().begin() + front), planes = lined, result = lined;
  lined.push_back(numel(Shape(v.shape().begin() + front, v.shape().end())));
  planes.push_back(numel(sizes, "max_unpool"));
  for (const SymInt n : sizes) result.push_back(n);
  const Site site = Access::site(x);
  const Value none(call, graph::constant(graph::Scalar::of_int(v.dtype(), 0), planes, v.device(), call.origin()));
  const Tensor plane = none.tensor(), line = v.reshape(lined).tensor(), at = positions.reshape(lined, site);
  return api::renamed(call, [&] {
    const Tensor out = scatter(Operand(plane, site), at, Operand(line, site), -1);
    return Value(call, Access::node(out)).reshape(result).tensor();
  });
}

#define ORIEL_POOLS(count)                                                                      \
  Tensor max_pool##count##d(const Operand& x, const Ints& window, const PoolOptions& options) { \
    return max_pool("max_pool" #count "d", x, window, count, options);                          \
  }                                                                                             \
  Tensor avg_pool##count##d(const Operand& x, const Ints& window, const PoolOptions& options) { \
    return avg_pool("avg_pool" #count "d", x, window, count, options);                          \
  }                                                                                             \
  Tensor adaptive_avg_pool##count##d(const Operand& x, const Ints& sizes) {                     \
    return adaptive("adaptive_avg_pool" #count "d", x, sizes, count, true);                     \
  }                                                                                             \
  Tensor adaptive_max_pool##count##d(const Operand& x, const Ints& sizes) {                     \
    return adaptive("adaptive_max_pool" #count "d", x, sizes, count, false);                    \
  }
ORIEL_POOLS(1)
ORIEL_POOLS(2)
ORIEL_POOLS(3)
#undef ORIEL_POOLS

}  // namespace oriel
