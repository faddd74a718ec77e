// What is built on Fourier transforms: cosine transforms, frames of signals, convolutions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/parts.hpp"
#include "formula/complex_value.hpp"
#include "host/fft_plan.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/fft.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"
#include "oriel/shaping.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::ComplexValue;
using api::Value;

namespace {

/// Entries of the last axis at positions that are computed.
Tensor entries_at(const Tensor& x, const Tensor& index) { return take(x, index, -1, Bounds::zero); }

/// exp(i pi k / n), of an int64 tensor k and a size.
Complex turn(const Tensor& k, SymInt n, DType dtype) {
  const Tensor angle = k.to(DType::float64) / scalar(n, DType::float64) * std::numbers::pi;
  return Complex(cos(angle).to(dtype), sin(angle).to(dtype));
}

/// dct of the last axis, unscaled.
Tensor cosine(const Tensor& x, int type) {
  const SymInt n = x.size(-1);
  const Tensor k = iota({n}).to(x.device());
  switch (type) {
    case 1: {
      // The transform of the numbers followed by the inner ones in reverse.
      const Tensor twice = entries_at(x, [&] {
        const Tensor j = iota({(n - 1) * 2}).to(x.device());
        return where(j < n, j, (n - 1) * 2 - j);
      }());
      return rfft(twice).real();
    }
    case 2: {
      const Tensor order = where(k * 2 < n, k * 2, n * 2 - 1 - k * 2);
      return real(fft(entries_at(x, order)) * conj(turn(k, n * 2, x.dtype()))) * 2;
    }
    case 3: {
      const Tensor m = iota({n / 2 + 1}).to(x.device());
      const Tensor last = where(m == 0, 0, entries_at(x, (n - m) % n));
      const Complex half(entries_at(x, m % n), -where(m == n, 0, last));
      const Tensor v = irfft(half * turn(m, n * 2, x.dtype()), n, -1, FftNorm::forward);
      return entries_at(v, where(k % 2 == 0, trunc_divide(k, 2), n - 1 - trunc_divide(k, 2)));
    }
    default: {
      const Complex z = fft(x * conj(turn(k, n * 2, x.dtype())), n * 2);
      return real(z.shrink({{0, n}}, -1) * conj(turn(k * 2 + 1, n * 4, x.dtype()))) * 2;
    }
  }
}

/// x with the first entry of the last axis times `first`, and the last one times `last`.
Tensor with_ends_times(const Tensor& x, double first, double last) {
  const SymInt n = x.size(-1);
  const Tensor k = iota({n}).to(x.device());
  return where(k == 0, x * first, where(k == n - 1, x * last, x));
}

Tensor cosine_transform(const char* name, const Operand& given, int type, FftLength length, std::int64_t axis,
                        FftNorm norm, bool inverse) {
  base::need<base::kLinalg>(name);
  const Call call(name, given);
  if (type < 1 || type > 4) throw ArgumentError(name, fmt::format("type {}; give 1, 2, 3 or 4", type));
  return api::renamed(call, [&] {
    const DType dtype = api::floating_dtype(api::common_dtype({&given}));
    const Value value(call, call.node(given, api::wide_dtype(dtype), {}, default_device()));
    if (value.shape().empty()) throw ShapeError(name, "a number has no axis; give a tensor with one");
    const auto d = static_cast<std::int64_t>(call.axis(axis, value.shape().size()));
    Tensor x = movedim(value.tensor(), {d}, {-1});
    if (length.has_value()) {
      const SymInt have = x.size(-1);
      Ranges around(x.rank(), Range{0, 0});
      around.back() = {0, *length < have ? SymInt(0) : *length - have};
      x = pad(x, around).shrink({{0, *length}}, -1);
    }
    const SymInt n = x.size(-1);
    if (!sym::required(n >= (type == 1 ? 2 : 1), name)) {
      throw ShapeError(name, fmt::format("{} elements along the axis; type {} takes at least {}", to_string(n), type,
                                         type == 1 ? 2 : 1));
    }
    const int kind = inverse && type == 2 ? 3 : inverse && type == 3 ? 2 : type;
    const SymInt period = type == 1 ? (n - 1) * 2 : n * 2;
    if (norm == FftNorm::ortho) {
      constexpr double kRoot = std::numbers::sqrt2;
      if (kind == 1) x = with_ends_times(x, kRoot, kRoot);
      if (kind == 3) x = with_ends_times(x, kRoot, 1);
    }
    Tensor y = cosine(x, kind);
    const Tensor count = scalar(period, y.dtype()).to(y.device());
    if (norm == FftNorm::ortho) {
      y = y / sqrt(count);
      constexpr double kRoot = std::numbers::sqrt2 / 2;
      if (kind == 1) y = with_ends_times(y, kRoot, kRoot);
      if (kind == 2) y = with_ends_times(y, kRoot, 1);
    } else if ((norm == FftNorm::backward) == inverse) {
      y = y / count;
    }
    return movedim(y, {-1}, {d}).to(dtype);
  });
}

/// The frames' window, of n elements, in the dtype and on the device of the signal.
Tensor frame_window(const char* name, const Operand& window, std::int64_t n, const Tensor& like) {
  const Tensor* const given = Access::tensor(window);
  if (given == nullptr) return full({n}, window, like.dtype()).to(like.device());
  if (given->rank() != 1 || given->size(0) > n) {
    throw ShapeError(name, fmt::format("window {}; give a vector of at most {} elements, or a number",
                                       to_string(given->shape()), n));
  }
  const SymInt before = (n - given->size(0)) / 2;
  return pad(given->to(like.dtype()).to(like.device()), {{before, n - given->size(0) - before}});
}

std::int64_t checked_hop(const char* name, std::int64_t n, const StftOptions& options) {
  const std::int64_t hop = options.hop == 0 ? std::max<std::int64_t>(n / 4, 1) : options.hop;
  if (n < 1 || hop < 1) throw ArgumentError(name, fmt::format("frames of {} every {}; give at least 1", n, hop));
  return hop;
}

/// x with two axes (batches, time) in place of (.., time).
Tensor signals(const Tensor& x) {
  return x.reshape({numel(Shape(x.shape().begin(), x.shape().end() - 1)), x.size(-1)});
}

Shape with_ends(const Shape& shape, std::size_t cut, std::initializer_list<SymInt> ends) {
  Shape out(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(cut));
  for (const SymInt n : ends) out.push_back(n);
  return out;
}

Tensor frames_of(const char* name, const Tensor& x, std::int64_t n, std::int64_t hop, const Tensor& window,
                 const StftOptions& options) {
  Tensor rows = signals(x);
  if (options.center) rows = pad(rows, {{0, 0}, {n / 2, n / 2}}, options.pad);
  if (!sym::required(rows.size(1) >= n, name)) {
    throw ShapeError(name, fmt::format("a signal of {} elements has no frame of {}", to_string(rows.size(1)), n));
  }
  return unfold(rows, 1, n, hop) * window;
}

/// The sum of overlapping frames (batches, frames, n).
Tensor overlapped(const Tensor& frames, std::int64_t n, std::int64_t hop) {
  const SymInt length = (frames.size(1) - 1) * hop + n;
  return col2im(frames.transpose(), {1, length}, {1, n}, {.stride = {1, hop}}).reshape({frames.size(0), length});
}

/// The sizes of a convolution along each axis.
struct ConvolutionExtents {
  Ints axes, whole, fast;
  Ranges kept;  // of the whole
};

ConvolutionExtents convolution_sizes(const Call& call, const Shape& a, const Shape& b, Overlap overlap,
                                     const Axes& axes) {
  if (a.size() != b.size() || a.empty()) {
    throw ShapeError("fftconvolve", fmt::format("{} and {}; give both the same number of axes, at least one",
                                                to_string(a), to_string(b)));
  }
  ConvolutionExtents out;
  bool first = true, second = true;  // is it as long along every axis?
  for (const SymInt axis : call.axes(axes, a.size())) {
    const auto d = static_cast<std::size_t>(axis);
    if (!sym::required(a[d] >= 1 && b[d] >= 1, "fftconvolve")) {
      throw ShapeError("fftconvolve",
                       fmt::format("{} and {} have no elements along axis {}", to_string(a), to_string(b), d));
    }
    const SymInt n = a[d] + b[d] - 1;
    out.axes.push_back(axis);
    out.whole.push_back(n);
    out.fast.push_back(n.is_symbolic() ? n : SymInt(next_fast_len(n.value())));
    if (overlap == Overlap::valid) {
      first = first && a[d] >= b[d];
      second = second && b[d] >= a[d];
    }
    const SymInt size = overlap == Overlap::same ? a[d] : n;
    out.kept.push_back({(n - size) / 2, (n - size) / 2 + size});
  }
  if (overlap == Overlap::valid) {
    if (!first && !second) {
      throw ShapeError("fftconvolve",
                       fmt::format("{} and {}: for the valid part one must be as long as the other along every axis",
                                   to_string(a), to_string(b)));
    }
    for (std::size_t k = 0; k < out.axes.size(); ++k) {
      const auto d = static_cast<std::size_t>(out.axes[k]);
      const SymInt shorter = first ? b[d] : a[d];
      out.kept[k] = {shorter - 1, out.whole[k] - shorter + 1};
    }
  }
  return out;
}

Complex complex_convolution(const ComplexOperand& a, const ComplexOperand& b, Overlap overlap, const Axes& axes) {
  base::need<base::kLinalg>("fftconvolve");
  const Call call("fftconvolve", Access::site(ComplexAccess::real(a)));
  const auto shape = [](const ComplexOperand& z) {
    const Tensor* const x = Access::tensor(ComplexAccess::real(z));
    return x == nullptr ? Shape() : x->shape();
  };
  const ConvolutionExtents sizes = convolution_sizes(call, shape(a), shape(b), overlap, axes);
  return api::renamed(call, [&] {
    const Complex product = fftn(a, sizes.fast, sizes.axes) * fftn(b, sizes.fast, sizes.axes);
    return ifftn(product, sizes.fast, sizes.axes).shrink(sizes.kept, sizes.axes);
  });
}

}  // namespace

Tensor dct(const Operand& x, int type, FftLength n, std::int64_t axis, FftNorm norm) {
  return cosine_transform("dct", x, type, n, axis, norm, false);
}
Tensor idct(const Operand& x, int type, FftLength n, std::int64_t axis, FftNorm norm) {
  return cosine_transform("idct", x, type, n, axis, norm, true);
}

Complex stft(const ComplexOperand& x, std::int64_t n, const Operand& window, const StftOptions& options) {
  base::need<base::kLinalg>("stft");
  const Call call("stft", Access::site(ComplexAccess::real(x)));
  const std::int64_t hop = checked_hop("stft", n, options);
  const Complex signal = api::composed_complex(
      "stft",
      [&](const api::ComplexTerm& term) {
        if (term.re.shape().empty()) throw ShapeError("stft", "a number has no axis; give (.., time)");
        return ComplexValue{term.re, term.im.broadcast(term.re.shape())}.complex();
      },
      x);
  return api::renamed(call, [&] {
    const Tensor w = frame_window("stft", window, n, signal.real());
    const auto frames = [&](const Tensor& part) { return frames_of("stft", part, n, hop, w, options); };
    const FftNorm norm = options.normalized ? FftNorm::ortho : FftNorm::backward;
    const Complex z = !ComplexAccess::is_real(x) ? fft(signal.each_part(frames), {}, -1, norm)
                      : options.onesided         ? rfft(frames(signal.real()), {}, -1, norm)
                                                 : fft(frames(signal.real()), {}, -1, norm);
    const Complex turned = z.transpose();
    return turned.reshape(with_ends(signal.shape(), 1, {turned.size(1), turned.size(2)}));
  });
}

Tensor istft(const ComplexOperand& x, std::int64_t n, const Operand& window, const StftOptions& options) {
  base::need<base::kLinalg>("istft");
  const Call call("istft", Access::site(ComplexAccess::real(x)));
  const std::int64_t hop = checked_hop("istft", n, options);
  const Complex z = api::composed_complex(
      "istft",
      [&](const api::ComplexTerm& term) {
        return ComplexValue{term.re, term.im.broadcast(term.re.shape())}.complex();
      },
      x);
  const SymInt wanted = options.onesided ? n / 2 + 1 : n;
  if (z.rank() < 2 || !sym::required(z.size(-2) == wanted, "istft")) {
    throw ShapeError(
        "istft", fmt::format("{} for frames of {}; give (.., {}, frames)", to_string(z.shape()), n, to_string(wanted)));
  }
  return api::renamed(call, [&] {
    const Tensor w = frame_window("istft", window, n, z.real());
    const Shape batch(z.shape().begin(), z.shape().end() - 2);
    const Complex rows = z.reshape({numel(batch), z.size(-2), z.size(-1)}).transpose();
    const FftNorm norm = options.normalized ? FftNorm::ortho : FftNorm::backward;
    const Tensor frames = options.onesided ? irfft(rows, n, -1, norm) : ifft(rows, n, -1, norm).real();
    const Tensor sums = overlapped(frames * w, n, hop);
    const Tensor weights = overlapped((w * w).expand({1, frames.size(1), n}), n, hop);
    // Where no window reaches nothing is divided by 0, in derivatives either.
    const Tensor reached = weights > 1e-11;
    const Tensor whole = where(reached, sums / where(reached, weights, 1), 0);
    const SymInt first = options.center ? n / 2 : 0;
    const SymInt have = whole.size(1) - first;
    const SymInt length = options.length.value_or(options.center ? have - n / 2 : have);
    Tensor signal = whole.shrink({{first, whole.size(1)}}, 1);
    if (length > have) signal = pad(signal, {{0, 0}, {0, length - have}});
    return signal.shrink({{0, length}}, 1).reshape(with_ends(z.shape(), 2, {length}));
  });
}

Tensor fftconvolve(const Operand& a, const Operand& b, Overlap overlap, const Axes& axes) {
  base::need<base::kLinalg>("fftconvolve");
  const Call call("fftconvolve", a);
  const auto shape = [](const Operand& x) {
    return Access::tensor(x) == nullptr ? Shape() : Access::tensor(x)->shape();
  };
  const ConvolutionExtents sizes = convolution_sizes(call, shape(a), shape(b), overlap, axes);
  return api::renamed(call, [&] {
    const Complex product = rfftn(a, sizes.fast, sizes.axes) * rfftn(b, sizes.fast, sizes.axes);
    return irfftn(product, sizes.fast, sizes.axes).shrink(sizes.kept, sizes.axes);
  });
}
Complex fftconvolve(const ComplexArgument& a, const ComplexOperand& b, Overlap overlap, const Axes& axes) {
  return complex_convolution(ComplexAccess::operand(a), b, overlap, axes);
}
Complex fftconvolve(const Operand& a, const ComplexArgument& b, Overlap overlap, const Axes& axes) {
  return complex_convolution(a, ComplexAccess::operand(b), overlap, axes);
}

}  // namespace oriel
