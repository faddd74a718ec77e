// Convolutions: a view of windows and a sum of products, which devices run in a form of its own (codegen/windows.hpp,
// codegen/contraction.hpp).
#include <fmt/format.h>

#include "base/parts.hpp"
#include "functions/window_view.hpp"
#include "oriel/error.hpp"
#include "oriel/windows.hpp"

namespace oriel {

namespace api {

Ints for_axes(const Call& call, const Ints& numbers, std::size_t count, const char* what, std::int64_t least) {
  if (numbers.size() != count && numbers.size() != 1) {
    throw ArgumentError(call.operation(), fmt::format("{} {} for {} spatial axes; give one number, or one for each",
                                                      what, to_string(numbers), count));
  }
  for (const SymInt n : numbers) {
    if (n < least) {
      throw ArgumentError(call.operation(),
                          fmt::format("{} {}; numbers must be >= {}", what, to_string(numbers), least));
    }
  }
  return numbers.size() == count ? numbers : Ints(count, numbers[0]);
}

Value windows(const Value& x, std::span<const WindowAxis> axes) {
  const Shape& shape = x.shape();
  const std::size_t front = shape.size() - axes.size();
  const Ints strides = contiguous_strides(shape);
  View view;
  view.shape = shape;
  view.strides = strides;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    view.shape[front + k] = axes[k].count;
    view.strides[front + k] = axes[k].count == 1 ? SymInt(0) : strides[front + k] * axes[k].stride;
  }
  for (std::size_t k = 0; k < axes.size(); ++k) {
    view.shape.push_back(axes[k].size);
    view.strides.push_back(axes[k].size == 1 ? SymInt(0) : strides[front + k] * axes[k].dilation);
  }
  return {x.call(), graph::raw_view(x.node(), view, x.call().origin())};
}

}  // namespace api

using api::Access;
using api::Call;
using api::Op;
using api::Value;
using api::WindowAxis;
using graph::NodePtr;

namespace {

/// Counts the windows over n elements, padding included, of spatial axis k. Throws ShapeError if none fits.
void count_windows(const Call& call, WindowAxis& axis, SymInt n, std::size_t k) {
  if (axis.size < 1 || n < axis.span()) {
    throw ShapeError(call.operation(),
                     fmt::format("a window of {} elements, padding included, is wanted of {} on spatial axis {}",
                                 axis.span(), to_string(n), k));
  }
  axis.count = (n - axis.span()) / axis.stride + 1;
}

/// The operands of a convolution as (N, C, sizes) and (O, C / groups, window), in the dtype in which it is summed.
struct Convolution {
  Convolution(const char* name, const Operand& x, const Operand& w, std::size_t axes, const ConvOptions& options)
      : call(name, x),
        spatial(axes),
        dtype(api::common_dtype({&x, &w})),
        source(call, operand(x)),
        weights(call, operand(w)),
        groups(options.groups),
        stride(api::for_axes(call, options.stride, axes, "stride", 1)),
        padding(api::for_axes(call, options.padding, axes, "padding", 0)),
        dilation(api::for_axes(call, options.dilation, axes, "dilation", 1)) {
    const std::size_t rank = source.shape().size();
    if (rank != axes + 2 && rank != axes + 1) {
      throw ShapeError(name, fmt::format("the input has shape {}; it takes {} or {} axes (batch, channels, sizes)",
                                         to_string(source.shape()), axes + 1, axes + 2));
    }
    if (weights.shape().size() != axes + 2) {
      throw ShapeError(name, fmt::format("the weights have shape {}; they take {} axes (channels of the result and of "
                                         "the input, sizes)",
                                         to_string(weights.shape()), axes + 2));
    }
    batched = rank == axes + 2;
    if (!batched) {
      Shape shape = source.shape();
      shape.insert(shape.begin(), SymInt(1));
      source = source.reshape(shape);
    }
    if (groups < 1) throw ArgumentError(name, fmt::format("groups is {}; give a number >= 1", groups));
  }

  NodePtr operand(const Operand& x) const {
    const DType in = is_floating(dtype) ? api::wide_dtype(dtype) : dtype;
    return call.node(x, in, {}, default_device());
  }

  std::int64_t window(std::size_t k) const { return weights.shape()[2 + k].value(); }

  void check_channels(std::size_t axis, SymInt wanted) const {
    if (weights.shape()[axis] == wanted && weights.shape()[0] % groups == 0 && source.shape()[1] % groups == 0) return;
    throw ShapeError(call.operation(),
                     fmt::format("weights {} do not fit the channels of {} in {} {}", to_string(weights.shape()),
                                 to_string(source.shape()), groups, groups == 1 ? "group" : "groups"));
  }

  /// The sums over windows of the padded source: (N, O, counts). `w` is (O, C / groups, window).
  Value sums(const Value& padded, const Value& w, const Ints& steps) const {
    std::vector<WindowAxis> axes(spatial);
    for (std::size_t k = 0; k < spatial; ++k) {
      WindowAxis& axis = axes[k];
      axis.size = w.shape()[2 + k].value();
      axis.dilation = dilation[k].value();
      axis.stride = steps[k].value();
      count_windows(call, axis, padded.shape()[2 + k], k);
    }
    // (N, groups, 1, C / groups, counts, window) * (groups, O / groups, C / groups, 1, window)
    const Value seen = api::windows(padded, axes);
    const SymInt batch = seen.shape()[0], in = w.shape()[1], out = w.shape()[0];
    Shape left{batch, SymInt(groups), SymInt(1), in}, right{SymInt(groups), out / groups, in}, result{batch, out};
    for (std::size_t k = 0; k < spatial; ++k) {
      left.push_back(axes[k].count);
      right.push_back(1);
      result.push_back(axes[k].count);
    }
    for (const WindowAxis& axis : axes) {
      left.push_back(axis.size);
      right.push_back(axis.size);
    }
    Ints reduced{3};
    for (std::size_t k = 0; k < spatial; ++k) reduced.push_back(4 + spatial + k);
    const Value products = seen.reshape(left) * w.reshape(right);
    return products.reduce(dtype == DType::bool_ ? Op::ReduceMax : Op::Sum, reduced).reshape(result);
  }

  Value padded(const Value& x, const Ranges& around) const {
    Ranges all{{0, 0}, {0, 0}};
    for (const Range& range : around) all.push_back(range);
    return {call, graph::pad(x.node(), all, call.origin())};
  }

  Tensor finish(Value sum, const Tensor* bias) const {
    if (bias != nullptr) {
      if (bias->rank() != 1 || bias->size(0) != sum.shape()[1]) {
        throw ShapeError(call.operation(), fmt::format("a bias {} for {} channels; give one number for each",
                                                       to_string(bias->shape()), to_string(sum.shape()[1])));
      }
      Shape aligned{sum.shape()[1]};
      for (std::size_t k = 0; k < spatial; ++k) aligned.push_back(1);
      sum = sum + Value(call, call.cast(Access::node(*bias), sum.dtype())).reshape(aligned);
    }
    if (!batched) sum = sum.drop({0});
    return sum.to(dtype).tensor();
  }

  Call call;
  std::size_t spatial;
  DType dtype;
  Value source;
  Value weights;
  std::int64_t groups;
  Ints stride;
  Ints padding;
  Ints dilation;
  bool batched = true;
};

Tensor convolved(const char* name, const Operand& x, const Operand& w, const Tensor* bias, std::size_t axes,
                 const ConvOptions& options) {
  const Convolution c(name, x, w, axes, options);
  c.check_channels(1, c.source.shape()[1] / c.groups);
  Ranges around;
  for (std::size_t k = 0; k < axes; ++k) {
    if (options.same) {
      if (c.stride[k] != 1) throw ArgumentError(name, "padding 'same' needs stride 1");
      const SymInt total = c.dilation[k] * (c.window(k) - 1);
      around.push_back({total / 2, total - total / 2});
    } else {
      around.push_back({c.padding[k], c.padding[k]});
    }
  }
  return c.finish(c.sums(c.padded(c.source, around), c.weights, c.stride), bias);
}

Tensor transposed(const char* name, const Operand& x, const Operand& w, std::size_t axes, const ConvOptions& options,
                  const Ints& output_padding) {
  base::need<base::kFilters>(name);
  const Convolution c(name, x, w, axes, options);
  const Ints more = api::for_axes(c.call, output_padding, axes, "output_padding", 0);
  if (options.same) throw ArgumentError(name, "takes padding as numbers, not 'same'");
  c.check_channels(0, c.source.shape()[1]);
  // Weights (C, O / g, window) as (O, C / g, window), with the window reversed.
  const SymInt in = c.source.shape()[1] / c.groups, out = c.weights.shape()[1];
  Shape apart{SymInt(c.groups), in, out}, joined{out * c.groups, in};
  Ints order{0, 2, 1};
  for (std::size_t k = 0; k < axes; ++k) {
    apart.push_back(c.weights.shape()[2 + k]);
    joined.push_back(c.weights.shape()[2 + k]);
    order.push_back(3 + k);
  }
  const Value flipped(c.call, graph::flip(c.weights.node(), api::axes_from(2, axes + 2), c.call.origin()));
  const Value weights = flipped.reshape(apart).permute(order).reshape(joined);
  // stride - 1 zeros behind each element, but the last one.
  Value spread = c.source;
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t d = 2 + k;
    if (c.stride[k] == 1) continue;
    Shape split = spread.shape();
    const SymInt n = split[d];
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(d) + 1, SymInt(1));
    Ranges behind(split.size(), Range{0, 0});
    behind[d + 1] = {0, c.stride[k] - 1};
    Shape whole = spread.shape();
    whole[d] = n * c.stride[k];
    const Value apart_by(c.call, graph::pad(spread.reshape(split).node(), behind, c.call.origin()));
    spread = apart_by.reshape(whole).shrink(d, 0, (n - 1) * c.stride[k] + 1);
  }
  // The padding takes away what is more than whole windows beyond the ends.
  Ranges around;
  for (std::size_t k = 0; k < axes; ++k) {
    const SymInt reach = c.dilation[k] * (c.window(k) - 1);
    if (more[k] >= c.stride[k] && more[k] >= c.dilation[k]) {
      throw ArgumentError(
          name, fmt::format("output_padding {} must be smaller than stride or dilation", to_string(output_padding)));
    }
    SymInt before = reach - c.padding[k], after = before + more[k];
    const std::size_t d = 2 + k;
    if (before < 0 || after < 0) {
      const SymInt n = spread.shape()[d];
      const SymInt lo = before < 0 ? -before : SymInt(0), hi = after < 0 ? n + after : n;
      if (lo > hi) throw ShapeError(name, fmt::format("padding {} leaves nothing", to_string(c.padding)));
      spread = spread.shrink(d, lo, hi);
      before = before < 0 ? SymInt(0) : before;
      after = after < 0 ? SymInt(0) : after;
    }
    around.push_back({before, after});
  }
  return c.finish(c.sums(c.padded(spread, around), weights, Ints(axes, SymInt(1))), nullptr);
}

}  // namespace

#define ORIEL_CONVOLUTIONS(count)                                                                                     \
  Tensor conv##count##d(const Operand& x, const Operand& w, const ConvOptions& options) {                             \
    return convolved("conv" #count "d", x, w, nullptr, count, options);                                               \
  }                                                                                                                   \
  Tensor conv##count##d(const Operand& x, const Operand& w, const Tensor& bias, const ConvOptions& options) {         \
    return convolved("conv" #count "d", x, w, &bias, count, options);                                                 \
  }                                                                                                                   \
  Tensor conv_transpose##count##d(const Operand& x, const Operand& w, const ConvOptions& options, const Ints& more) { \
    return transposed("conv_transpose" #count "d", x, w, count, options, more);                                       \
  }
ORIEL_CONVOLUTIONS(1)
ORIEL_CONVOLUTIONS(2)
ORIEL_CONVOLUTIONS(3)
#undef ORIEL_CONVOLUTIONS

Tensor im2col(const Operand& x, const Ints& window, const ConvOptions& options) {
  base::need<base::kFilters>("im2col");
  const Call call("im2col", x);
  const Ints sizes = api::for_axes(call, window, 2, "window", 1);
  const Ints stride = api::for_axes(call, options.stride, 2, "stride", 1);
  const Ints padding = api::for_axes(call, options.padding, 2, "padding", 0);
  const Ints dilation = api::for_axes(call, options.dilation, 2, "dilation", 1);
  const NodePtr node = call.node(x);
  if (node->shape.size() != 4) {
    throw ShapeError(
        "im2col", fmt::format("{} has {} axes; give images (N, C, H, W)", to_string(node->shape), node->shape.size()));
  }
  Ranges around{{0, 0}, {0, 0}, {padding[0], padding[0]}, {padding[1], padding[1]}};
  const Value padded(call, graph::pad(node, around, call.origin()));
  std::vector<WindowAxis> axes(2);
  for (std::size_t k = 0; k < 2; ++k) {
    axes[k].size = sizes[k].value();
    axes[k].stride = stride[k].value();
    axes[k].dilation = dilation[k].value();
    count_windows(call, axes[k], padded.shape()[2 + k], k);
  }
  const Value seen = api::windows(padded, axes).permute({0, 1, 4, 5, 2, 3});
  const Shape& s = seen.shape();
  return seen.reshape({s[0], s[1] * s[2] * s[3], s[4] * s[5]}).tensor();
}

}  // namespace oriel
