// Discrete Fourier transforms with NumPy's definitions, and what is built on them. They are host calls (host_call.hpp),
// as linear algebra is: the CPU computes them in the dtype of the parts, batches are shared among threads, and operands
// on other devices are copied there and back. A length without prime factors above 19 takes O(n log n) operations by
// its factors, every other one by Bluestein's algorithm where that takes fewer. A row has the same bits in every batch
// of two or more; a row alone is computed in another order and may differ in the last bits. Halves, integers and bool
// count as float32. Every function throws ShapeError for a length below 1, and for an axis that is out of range.
//
// Their derivatives (grad.hpp) are transforms of the same scale in the other direction. A gradient by a Complex is that
// by the real part plus i times that by the imaginary part. irfft and hfft have none by the imaginary parts that they
// do not read.
#pragma once

#include <cstdint>

#include "oriel/api.hpp"
#include "oriel/complex.hpp"
#include "oriel/windows.hpp"

namespace ORIEL_API oriel {

/// Which direction is divided by the number of elements n: the inverse one, neither (both are divided by sqrt(n)), or
/// the forward one.
enum class FftNorm { backward, ortho, forward };
/// A length: an int64 or a SymInt, or by default that of the axis.
using FftLength = SliceEnd;

/// y[k] = sum over j of x[j] exp(-2 pi i j k / n) along an axis (numpy.fft.fft, torch.fft.fft). x is a Complex or a
/// tensor. With a length n, x is cut or padded with zeros at its end.
[[nodiscard]] Complex fft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                          FftNorm norm = FftNorm::backward);
/// Its inverse, with exp(+2 pi i j k / n) / n.
[[nodiscard]] Complex ifft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                           FftNorm norm = FftNorm::backward);
/// Elements 0 to n / 2 of the transform of a real x; the others are their conjugates. Throws DTypeError for complex x.
[[nodiscard]] Complex rfft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                           FftNorm norm = FftNorm::backward);
/// Its inverse: n reals, by default 2 (m - 1) of the m elements of x. The imaginary part of element 0, and of element
/// n / 2 for an even n, counts as 0.
[[nodiscard]] Tensor irfft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                           FftNorm norm = FftNorm::backward);
/// The real transform of numbers of which x holds the first n / 2 + 1, and whose others are the conjugates. As irfft of
/// conj(x) with the norms exchanged.
[[nodiscard]] Tensor hfft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                          FftNorm norm = FftNorm::backward);
/// Its inverse: conj(rfft(x)) with the norms exchanged.
[[nodiscard]] Complex ihfft(const ComplexOperand& x, FftLength n = {}, std::int64_t axis = -1,
                            FftNorm norm = FftNorm::backward);

/// The same along several axes, by default all, or as many last ones as there are sizes. `sizes`, if given, has one for
/// each axis; -1 is the length of the axis. irfftn applies its last size to the axis of rfftn, the last one named.
/// Throws ShapeError if the numbers of sizes and axes differ, or an axis is named twice.
/// @{
[[nodiscard]] Complex fftn(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {},
                           FftNorm norm = FftNorm::backward);
[[nodiscard]] Complex ifftn(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {},
                            FftNorm norm = FftNorm::backward);
[[nodiscard]] Complex rfftn(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {},
                            FftNorm norm = FftNorm::backward);
[[nodiscard]] Tensor irfftn(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {},
                            FftNorm norm = FftNorm::backward);
/// @}
/// The same along two axes, by default the last two.
/// @{
[[nodiscard]] Complex fft2(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {-2, -1},
                           FftNorm norm = FftNorm::backward);
[[nodiscard]] Complex ifft2(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {-2, -1},
                            FftNorm norm = FftNorm::backward);
[[nodiscard]] Complex rfft2(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {-2, -1},
                            FftNorm norm = FftNorm::backward);
[[nodiscard]] Tensor irfft2(const ComplexOperand& x, const Ints& sizes = {}, const Axes& axes = {-2, -1},
                            FftNorm norm = FftNorm::backward);
/// @}

/// Moves frequency 0 from the front of the axes to their middle, n / 2, and back.
/// @{
[[nodiscard]] Tensor fftshift(const Operand& x, const Axes& axes = {});
[[nodiscard]] Complex fftshift(const ComplexArgument& x, const Axes& axes = {});
[[nodiscard]] Tensor ifftshift(const Operand& x, const Axes& axes = {});
[[nodiscard]] Complex ifftshift(const ComplexArgument& x, const Axes& axes = {});
/// @}
/// The frequencies of the n elements of fft, and of the n / 2 + 1 of rfft, for samples d apart: k / (n d), with those
/// of the upper half of fft negative. Throws DTypeError unless dtype is a float.
/// @{
[[nodiscard]] Tensor fftfreq(SymInt n, double d = 1, DType dtype = DType::float32, Site site = Site::here());
[[nodiscard]] Tensor rfftfreq(SymInt n, double d = 1, DType dtype = DType::float32, Site site = Site::here());
/// @}
/// The smallest length >= n without prime factors above 5 (scipy.fft.next_fast_len): zeros up to it make an fft fast.
/// Throws ArgumentError below 1, OverflowError above 2^62.
[[nodiscard]] std::int64_t next_fast_len(std::int64_t n);

/// The discrete cosine transforms of types 1 to 4 of a real x along an axis (scipy.fft.dct, idct). Unscaled they are
///   1: x[0] + (-1)^k x[n-1] + 2 sum_{0<j<n-1} x[j] cos(pi j k / (n - 1)), for n >= 2
///   2: 2 sum x[j] cos(pi (2 j + 1) k / (2 n))
///   3: x[0] + 2 sum_{j>0} x[j] cos(pi j (2 k + 1) / (2 n))
///   4: 2 sum x[j] cos(pi (2 j + 1) (2 k + 1) / (4 n))
/// FftNorm::backward divides idct by 2 n (2 (n - 1) for type 1), forward divides dct by it, and ortho makes both
/// orthogonal matrices, as SciPy's norm="ortho" does. Throws ArgumentError for another type, DTypeError for complex x.
/// @{
[[nodiscard]] Tensor dct(const Operand& x, int type = 2, FftLength n = {}, std::int64_t axis = -1,
                         FftNorm norm = FftNorm::backward);
[[nodiscard]] Tensor idct(const Operand& x, int type = 2, FftLength n = {}, std::int64_t axis = -1,
                          FftNorm norm = FftNorm::backward);
/// @}

// clang-format off
#define ORIEL_COMPLEX_CONVOLUTION(name) [[nodiscard]] Complex name(const ComplexArgument& x, const ComplexOperand& w, const ConvOptions& options = {});
/// Convolutions (windows.hpp) of complex numbers, by four of their parts, or two where w is real.
/// @{
ORIEL_COMPLEX_CONVOLUTION(conv1d) ORIEL_COMPLEX_CONVOLUTION(conv2d) ORIEL_COMPLEX_CONVOLUTION(conv3d)
/// @}
#undef ORIEL_COMPLEX_CONVOLUTION
    // clang-format on

    /// The last element of a window: periodic windows of n elements are the first n of symmetric ones of n + 1.
    enum class WindowEnd {
      periodic,
      symmetric
    };
// clang-format off
namespace detail { enum class WindowKind { bartlett, hann, hamming, blackman, kaiser }; Tensor window(WindowKind kind, SymInt n, double beta, DType dtype, WindowEnd end, Site site); }
// clang-format on
/// Windows of n elements, computed in float64, where t goes from 0 to 1: 1 - |2t - 1|; (1 - cos(2 pi t)) / 2;
/// 0.54 - 0.46 cos(2 pi t); 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t). Those for frames of transforms are periodic, as
/// torch's and scipy.signal.get_window's are; NumPy's are symmetric. Throws DTypeError unless dtype is a float,
/// ShapeError for a negative n.
///   stft(x, 512, hann(512));  hann(3, DType::float32, WindowEnd::symmetric);  // the second: {0, 1, 0}
/// @{
// clang-format off
#define ORIEL_WINDOW(name) \
  [[nodiscard]] inline Tensor name(SymInt n, DType dtype = DType::float32, WindowEnd end = WindowEnd::periodic, Site site = Site::here()) { \
    return detail::window(detail::WindowKind::name, n, 0, dtype, end, site); \
  }
ORIEL_WINDOW(bartlett) ORIEL_WINDOW(hann) ORIEL_WINDOW(hamming) ORIEL_WINDOW(blackman)
#undef ORIEL_WINDOW
    // clang-format on
    /// @}
    /// Kaiser's window i0(beta * sqrt(1 - (2t - 1)^2)) / i0(beta), otherwise as hann. A greater beta has a wider peak
    /// and lower side lobes. Throws ArgumentError unless beta is a number in [0, 700].
    // clang-format off
[[nodiscard]] inline Tensor kaiser(SymInt n, double beta = 12, DType dtype = DType::float32, WindowEnd end = WindowEnd::periodic, Site site = Site::here()) { return detail::window(detail::WindowKind::kaiser, n, beta, dtype, end, site); }
// clang-format on

/// How stft and istft cut a signal into frames: the arguments of torch.stft of these names.
struct StftOptions {
  std::int64_t hop = 0;            ///< from frame to frame; 0: a quarter of n
  bool center = true;              ///< is element 0 the middle of the first frame? The signal is padded by n / 2
  PadMode pad = PadMode::reflect;  ///< how it is padded
  bool normalized = false;         ///< are the frames divided by sqrt(n)?
  bool onesided = true;            ///< of a real signal: elements 0 to n / 2 of each transform. A complex one has all n
  FftLength length = {};           ///< istft: the length of the signal; by default the frames say it
};
/// The short-time Fourier transform with the definition of torch.stft, which PyTorch's users and librosa have (not
/// scipy.signal.stft, which scales by the window): the transforms of frames of n elements of x (.., time), times a
/// window. The result is (.., frequencies, frames). A window shorter than n stands in the middle of n; a number is that
/// number everywhere. Throws ArgumentError for a hop or n below 1, ShapeError for a window that is no vector of at most
/// n, and for a signal shorter than a frame.
///   const Complex z = stft(x, 512, hann(512), {.hop = 128});
[[nodiscard]] Complex stft(const ComplexOperand& x, std::int64_t n, const Operand& window = 1,
                           const StftOptions& options = {});
/// The signal whose stft is nearest to z (.., frequencies, frames), by adding the windowed frames and dividing by the
/// sum of the squared windows (torch.istft). Elements that no window reaches are 0. z with n / 2 + 1 frequencies
/// (options.onesided) gives a real signal. Throws as stft, ShapeError for another number of frequencies.
[[nodiscard]] Tensor istft(const ComplexOperand& z, std::int64_t n, const Operand& window = 1,
                           const StftOptions& options = {});

/// The convolution along axes, by default all, as a product of transforms (scipy.signal.fftconvolve). Other axes
/// broadcast. `same` keeps the sizes of a, `valid` the elements where both overlap completely, for which one operand
/// must be at least as long along every axis. Rounding is relative to the largest element. Throws ShapeError for
/// different ranks and for axes without elements.
/// @{
[[nodiscard]] Tensor fftconvolve(const Operand& a, const Operand& b, Overlap overlap = Overlap::full,
                                 const Axes& axes = {});
[[nodiscard]] Complex fftconvolve(const ComplexArgument& a, const ComplexOperand& b, Overlap overlap = Overlap::full,
                                  const Axes& axes = {});
[[nodiscard]] Complex fftconvolve(const Operand& a, const ComplexArgument& b, Overlap overlap = Overlap::full,
                                  const Axes& axes = {});
/// @}

}  // namespace oriel
