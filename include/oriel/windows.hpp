// Convolution, pooling, padding and resampling of signals, images and volumes.
//
// Each is a view of overlapping windows and a sum, a mean or a maximum over it, so it fuses with what stands before and
// behind it. The last one, two or three axes are spatial, with one axis of channels in front of them and axes of
// batches in front of that: (N, C, H, W) or (C, H, W) for the functions that end in 2d. The definitions are PyTorch's
// (torch.nn.functional), unless a comment names another.
//
// A list of numbers for the spatial axes may hold one number, which then holds for all of them. Every function throws
// ShapeError if ranks, channels or sizes do not fit, and ArgumentError for other numbers that make no sense (stride 0).
#pragma once

#include "oriel/api.hpp"
#include "oriel/order.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// How convolutions move over their input.
struct ConvOptions {
  Ints stride = {1};        ///< from window to window
  Ints padding = {0};       ///< zeros at both ends of each axis
  Ints dilation = {1};      ///< from element to element of a window
  std::int64_t groups = 1;  ///< channels are split in so many groups, and each is convolved by itself
  bool same = false;  ///< pads so that the sizes stay, one zero more behind than in front if need be; for stride 1
};

/// The sum over channels and window elements of x times w, for each window. x: (N, C, sizes), w: (O, C / groups, window
/// sizes); the result is (N, O, sizes'), where size' is (size + 2 padding - dilation * (window - 1) - 1) / stride + 1
/// rounded down. The dtypes are promoted; halves are summed in float32 and rounded once. `bias`, if given, has one
/// number for each channel of the result.
///   conv2d(x, w, {.padding = {1}})
/// @{
[[nodiscard]] Tensor conv1d(const Operand& x, const Operand& w, const ConvOptions& options = {});
[[nodiscard]] Tensor conv2d(const Operand& x, const Operand& w, const ConvOptions& options = {});
[[nodiscard]] Tensor conv3d(const Operand& x, const Operand& w, const ConvOptions& options = {});
[[nodiscard]] Tensor conv1d(const Operand& x, const Operand& w, const Tensor& bias, const ConvOptions& options = {});
[[nodiscard]] Tensor conv2d(const Operand& x, const Operand& w, const Tensor& bias, const ConvOptions& options = {});
[[nodiscard]] Tensor conv3d(const Operand& x, const Operand& w, const Tensor& bias, const ConvOptions& options = {});
/// @}
/// The transpose of the convolution as a matrix: x: (N, C, sizes), w: (C, O / groups, window sizes); the result is (N,
/// O, sizes'), where size' is (size - 1) * stride - 2 padding + dilation * (window - 1) + output_padding + 1. Computed
/// as a convolution of x with stride - 1 zeros between its elements, which multiplies these zeros too.
/// @{
[[nodiscard]] Tensor conv_transpose1d(const Operand& x, const Operand& w, const ConvOptions& options = {},
                                      const Ints& output_padding = {0});
[[nodiscard]] Tensor conv_transpose2d(const Operand& x, const Operand& w, const ConvOptions& options = {},
                                      const Ints& output_padding = {0});
[[nodiscard]] Tensor conv_transpose3d(const Operand& x, const Operand& w, const ConvOptions& options = {},
                                      const Ints& output_padding = {0});
/// @}

/// How pooling moves over its input.
struct PoolOptions {
  Ints stride = {};               ///< from window to window; empty: the size of the window
  Ints padding = {0};             ///< at both ends of each axis; at most half of a window
  Ints dilation = {1};            ///< from element to element of a window; for max_pool only
  bool ceil_mode = false;         ///< a last window may reach beyond the end, if it starts inside of input and padding
  bool count_include_pad = true;  ///< avg_pool: do elements of the padding count in the mean, as zeros?
  double divisor = 0;             ///< avg_pool: what sums are divided by; 0: the number of elements that count
};

/// The largest element of each window, in the dtype of x. A NaN wins. Padding is never chosen.
///   max_pool2d(x, {2})
/// @{
[[nodiscard]] Tensor max_pool1d(const Operand& x, const Ints& window, const PoolOptions& options = {});
[[nodiscard]] Tensor max_pool2d(const Operand& x, const Ints& window, const PoolOptions& options = {});
[[nodiscard]] Tensor max_pool3d(const Operand& x, const Ints& window, const PoolOptions& options = {});
/// @}
/// The largest element of each window and its row-major position in the last axes of x, int64, of which there is one
/// for each number of `window`: max_pool2d(x, {2, 2}) with positions. torch's max_pool with return_indices.
///   const auto [values, positions] = max_pool_with_indices(x, {2, 2});
[[nodiscard]] Ordered max_pool_with_indices(const Operand& x, const Ints& window, const PoolOptions& options = {});
/// Its inverse: zeros of these last sizes, with the elements of x at their positions, of which the last of equal ones
/// counts. torch's max_unpool.
///   max_unpool(values, positions, {h, w})
[[nodiscard]] Tensor max_unpool(const Operand& x, const Tensor& positions, const Ints& sizes);
/// One number for all axes of the window, and what does not compile.
/// @{
// clang-format off
#define ORIEL_ONE_WINDOW(name) \
  template <detail::Size T> [[nodiscard]] Tensor name(const Operand& x, T window, const PoolOptions& options = {}) { \
    return name(x, Ints{window}, options); \
  }
namespace detail { template <class T> Nothing named_options() { static_assert(kNever<T>, "options have names: conv2d(x, w, {.stride = {2}, .padding = {1}})"); return {}; } }
#define ORIEL_NAMED_OPTIONS(name) \
  template <detail::PlainNumber T> detail::Nothing name(const Operand&, const Operand&, T, const auto&...) { return detail::named_options<T>(); }
ORIEL_ONE_WINDOW(max_pool1d) ORIEL_ONE_WINDOW(max_pool2d) ORIEL_ONE_WINDOW(max_pool3d)
ORIEL_NAMED_OPTIONS(conv1d) ORIEL_NAMED_OPTIONS(conv2d) ORIEL_NAMED_OPTIONS(conv3d)
    // clang-format on
    /// @}
    /// The mean of each window, in floats.
    /// @{
    [[nodiscard]] Tensor avg_pool1d(const Operand& x, const Ints& window, const PoolOptions& options = {});
[[nodiscard]] Tensor avg_pool2d(const Operand& x, const Ints& window, const PoolOptions& options = {});
[[nodiscard]] Tensor avg_pool3d(const Operand& x, const Ints& window, const PoolOptions& options = {});
// clang-format off
ORIEL_ONE_WINDOW(avg_pool1d) ORIEL_ONE_WINDOW(avg_pool2d) ORIEL_ONE_WINDOW(avg_pool3d)
// clang-format on
#undef ORIEL_ONE_WINDOW
#undef ORIEL_NAMED_OPTIONS
    /// @}
    /// Mean or maximum over windows that give results of these sizes: window i of `size` reaches from i * n / size,
    /// rounded down, to (i + 1) * n / size, rounded up. A size of -1 keeps that of x.
    /// @{
    [[nodiscard]] Tensor adaptive_avg_pool1d(const Operand& x, const Ints& sizes);
[[nodiscard]] Tensor adaptive_avg_pool2d(const Operand& x, const Ints& sizes);
[[nodiscard]] Tensor adaptive_avg_pool3d(const Operand& x, const Ints& sizes);
[[nodiscard]] Tensor adaptive_max_pool1d(const Operand& x, const Ints& sizes);
[[nodiscard]] Tensor adaptive_max_pool2d(const Operand& x, const Ints& sizes);
[[nodiscard]] Tensor adaptive_max_pool3d(const Operand& x, const Ints& sizes);
/// @}

/// The windows of images as columns (im2col, torch.nn.functional.unfold): (N, C, H, W) gives (N, C * windows elements,
/// number of windows). Elements of a column are in the order channel, row, column of the window.
[[nodiscard]] Tensor im2col(const Operand& x, const Ints& window, const ConvOptions& options = {});
/// The inverse up to a factor: (N, C * window elements, number of windows) gives images (N, C, sizes) in which each
/// element is the sum of those of all windows that hold it, in a fixed order (torch.nn.functional.fold). Throws
/// ShapeError if x does not fit, DTypeError for bool.
///   col2im(im2col(x, {3}), {h, w}, {3}) / col2im(im2col(ones_like(x), {3}), {h, w}, {3})  // x
[[nodiscard]] Tensor col2im(const Operand& x, const Ints& sizes, const Ints& window, const ConvOptions& options = {});

/// What pad() puts around a tensor: zeros; its elements mirrored at the first and last one, which are not repeated; its
/// first and last element; its elements from the other end; its elements mirrored behind the first and last one, which
/// are repeated (NumPy's symmetric).
enum class PadMode { constant, reflect, replicate, circular, symmetric };
/// Adds elements at the ends of the axes: {before, after} for each axis, both >= 0. Unlike in PyTorch there is a pair
/// for each axis of x, in their order. Throws ShapeError if an axis is too short: reflect needs more elements than it
/// adds at one end, circular and symmetric as many, replicate one.
///   pad(Tensor::of<int>({1, 2, 3}), {{2, 1}}, PadMode::reflect);  // {3, 2, 1, 2, 3, 2}
[[nodiscard]] Tensor pad(const Operand& x, const Ranges& before_after, PadMode mode);

/// The median of the window around each element, in the dtype of x; of an even number of elements the upper one of the
/// middle, and then the window has one more element in front. `window` has a size for each axis, or one for all. Modes
/// in SciPy's words: symmetric is reflect, replicate is nearest, reflect is mirror, circular is wrap. A NaN counts as
/// larger than all numbers. Sorts each window. Throws ShapeError as pad does. scipy.ndimage.median_filter.
///   median_filter(Tensor::of<int>({1, 9, 2, 3}), {3});  // {1, 2, 3, 3}
[[nodiscard]] Tensor median_filter(const Operand& x, const Ints& window, PadMode mode = PadMode::symmetric);

/// How interpolate() reads between elements: the nearest one below; a mean of 2, 4 or 8 neighbours weighted by
/// distance; cubic convolution with a = -0.75 over 4 neighbours along each axis; the mean over the area of a result.
enum class Interpolation { nearest, linear, cubic, area };
/// x resampled to `sizes`, one for each of the last axes; the result is in floats, but that of nearest in the dtype of
/// x. The positions of results in x are those of PyTorch: pixels have an area, and the corners of the images meet; with
/// `align_corners` the centres of the corner pixels meet (linear and cubic only). Positions beyond the end read the
/// last element. nearest computes its positions in integers, i * n / size rounded down, where PyTorch rounds n / size
/// first.
///   interpolate(x, {2 * h, 2 * w}, Interpolation::linear)  // of (N, C, h, w)
[[nodiscard]] Tensor interpolate(const Operand& x, const Ints& sizes, Interpolation mode = Interpolation::nearest,
                                 bool align_corners = false);

/// Images (N, C, H, W) read at the points of `grid`, (N, H', W', 2) with x and y from -1 to 1, in floats, as (N, C, H',
/// W'). -1 and 1 are the corners of the images; with `align_corners` the centres of the corner pixels. `mode` is
/// nearest (ties to even), linear or cubic (as in interpolate), else ArgumentError. Outside of the images, at infinite
/// points and at NaN there are zeros, or with `border` the nearest pixel, for NaN the first. Throws ShapeError if the
/// shapes do not fit.
[[nodiscard]] Tensor grid_sample(const Operand& x, const Tensor& grid, Interpolation mode = Interpolation::linear,
                                 bool align_corners = false, bool border = false);
/// The same with what is outside by name: constant (zeros), replicate (`border`), or reflect, which mirrors points at
/// the corners of the images, with `align_corners` at the centres of the corner pixels; infinite points and NaN are the
/// first pixel then. Throws ArgumentError for other modes.
[[nodiscard]] Tensor grid_sample(const Operand& x, const Tensor& grid, Interpolation mode, bool align, PadMode outside);

/// Which results of a convolution are wanted: all; as many as the longer one has; those where both overlap completely.
enum class Overlap { full, same, valid };
/// The convolution of two vectors, sum over k of a[k] * b[i - k], in the promoted dtype (numpy.convolve), or of two
/// tensors along all of their axes (scipy.signal.convolve). Throws ShapeError unless both have as many axes and
/// elements, and, but for `full`, one is at least as long as the other along every axis.
///   convolve(Tensor::of<float>({1, 2, 3}), Tensor::of<float>({1, 1}));  // {1, 3, 5, 3}
[[nodiscard]] Tensor convolve(const Operand& a, const Operand& b, Overlap overlap = Overlap::full);
/// The correlation, sum over k of a[i + k] * b[k] (numpy.correlate, scipy.signal.correlate). As convolve.
[[nodiscard]] Tensor correlate(const Operand& a, const Operand& b, Overlap overlap = Overlap::valid);

}  // namespace oriel
