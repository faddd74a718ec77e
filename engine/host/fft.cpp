// Fourier transforms: axes, lengths and norms here, the numbers by functions of host memory (linalg_functions.hpp).
#include "oriel/fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/parts.hpp"
#include "formula/complex_value.hpp"
#include "formula/host_call.hpp"
#include "host/fft_plan.hpp"
#include "host/linalg_functions.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::ComplexTerm;
using api::ComplexValue;
using api::Value;

namespace {

bool inverse_transform(const char* function) { return function[0] == 'i'; }

/// What the function's name in a graph says of the scale.
std::string scaled_name(const char* function, FftNorm norm) {
  if (norm == FftNorm::ortho) return std::string(function) + ":root";
  const bool divides = (norm == FftNorm::backward) == inverse_transform(function);
  return std::string(function) + (divides ? ":length" : "");
}

/// x with axis d cut or padded at its end.
Value resized(const Value& x, std::size_t d, SymInt n) {
  const SymInt have = x.shape()[d];
  if (sym::known(have == n).value_or(false)) return x;
  if (n < have) return x.shrink(d, 0, n);
  if (n == have) return x;
  Ranges around(x.shape().size(), Range{0, 0});
  around[d] = {0, n - have};
  return {x.call(), x.call().pad(x.node(), around, graph::Scalar::of_float(x.dtype(), 0))};
}

Ints to_last(std::size_t rank, std::size_t d) {
  Ints order;
  for (std::size_t k = 0; k < rank; ++k)
    if (k != d) order.push_back(k);
  order.push_back(d);
  return order;
}

Ints from_last(std::size_t rank, std::size_t d) {
  Ints order;
  for (std::size_t k = 0; k < rank; ++k) order.push_back(k < d ? k : k == d ? rank - 1 : k - 1);
  return order;
}

/// The rows of one axis, in front of a transform, and where its results go.
class Axis {
 public:
  Axis(const Value& x, std::int64_t axis) {
    if (x.shape().empty()) throw ShapeError(x.call().operation(), "a number has no axis; give a tensor with one");
    d_ = x.call().axis(axis, x.shape().size());
    length_ = x.shape()[d_];
    for (std::size_t k = 0; k < x.shape().size(); ++k)
      if (k != d_) batch_.push_back(x.shape()[k]);
  }

  SymInt length() const noexcept { return length_; }
  SymInt batches() const { return numel(batch_); }

  void check(const Call& call, SymInt n) const {
    if (!sym::required(n >= 1, call.operation()))
      throw ShapeError(call.operation(), fmt::format("a transform of {} elements; give at least one", to_string(n)));
  }
  /// (batches, n).
  api::NodePtr rows(const Value& x, SymInt n) const {
    return resized(x, d_, n).permute(to_last(x.shape().size(), d_)).reshape({batches(), n}).node();
  }
  /// Of results (batches, m), or part `which` of results (batches, 2, m).
  Value back(const Value& results, SymInt m) const {
    Shape shape = batch_;
    shape.push_back(m);
    return results.reshape(shape).permute(from_last(shape.size(), d_));
  }
  Value back(const Value& results, std::int64_t which, SymInt m) const {
    return back(results.shrink(1, which, which + 1), m);
  }

 private:
  std::size_t d_ = 0;
  SymInt length_;
  Shape batch_;
};

Value on_host(const Call& call, std::string function, std::vector<api::NodePtr> operands, const Shape& shape) {
  const DType dtype = operands[0]->dtype;
  if (sym::known(shape[0] == 1).value_or(false)) function += ":row";
  return {call, api::called_on_host(call, api::linalg_function(function), std::move(operands), shape, dtype)};
}

ComplexValue to_complex(const ComplexTerm& x, const char* function, FftLength n, std::int64_t axis, FftNorm norm) {
  const Call& call = x.re.call();
  const Axis along(x.re, axis);
  const SymInt length = n.value_or(along.length());
  along.check(call, length);
  const bool half = function == std::string_view("rfft");
  if (half && !x.real)
    throw DTypeError(call.operation(), "takes real numbers; the transform of complex ones is fft, or give real(x)");
  const SymInt m = half ? length / 2 + 1 : length;
  std::vector<api::NodePtr> operands{along.rows(x.re, length)};
  if (!x.real) operands.push_back(along.rows(x.im, length));
  const Value all = on_host(call, scaled_name(function, norm), std::move(operands), {along.batches(), 2, m});
  return {along.back(all, 0, m), along.back(all, 1, m)};
}

Value to_reals(const ComplexTerm& x, FftLength n, std::int64_t axis, FftNorm norm) {
  const Call& call = x.re.call();
  const Axis along(x.re, axis);
  const SymInt length = n.has_value() ? *n : (along.length() - 1) * 2;
  along.check(call, length);
  const SymInt m = length / 2 + 1;
  const Value im = x.real ? x.re.like(0) : x.im;
  const Value all =
      on_host(call, scaled_name("irfft", norm), {along.rows(x.re, m), along.rows(im, m)}, {along.batches(), length});
  return along.back(all, length);
}

FftNorm exchanged(FftNorm norm) {
  if (norm == FftNorm::ortho) return norm;
  return norm == FftNorm::backward ? FftNorm::forward : FftNorm::backward;
}

/// The axes of a transform of several, and the length of each.
struct Several {
  std::vector<std::int64_t> axes;
  std::vector<FftLength> lengths;

  Several(const Call& call, std::size_t rank, const Ints& sizes, const Axes& given) {
    if (given.list() != nullptr) {
      for (const SymInt axis : *given.list()) axes.push_back(static_cast<std::int64_t>(call.axis(axis, rank)));
    } else {
      if (sizes.size() > rank) {
        throw ShapeError(call.operation(),
                         fmt::format("{} sizes for {} axes; give at most one for each", sizes.size(), rank));
      }
      for (std::size_t d = sizes.empty() ? 0 : rank - sizes.size(); d < rank; ++d)
        axes.push_back(static_cast<std::int64_t>(d));
    }
    call.axes(Axes(axes), rank);  // throws if one is named twice
    if (axes.empty()) throw ShapeError(call.operation(), "no axis to transform along; give at least one");
    if (!sizes.empty() && sizes.size() != axes.size()) {
      throw ShapeError(call.operation(),
                       fmt::format("{} sizes for {} axes; give one for each", sizes.size(), axes.size()));
    }
    for (const SymInt n : sizes) lengths.push_back(!n.is_symbolic() && n == -1 ? FftLength() : FftLength(n));
    lengths.resize(axes.size());
  }
};

Complex over_axes(const char* name, const char* function, const ComplexOperand& x, const Ints& sizes, const Axes& axes,
                  FftNorm norm) {
  base::need<base::kLinalg>(name);
  return api::composed_complex(
      name,
      [&](const ComplexTerm& term) {
        const Several all(term.re.call(), term.re.shape().size(), sizes, axes);
        ComplexTerm now = term;
        for (std::size_t k = all.axes.size(); k-- > 0;) {
          const char* kind = function[0] == 'r' && k + 1 < all.axes.size() ? "fft" : function;
          const ComplexValue z = to_complex(now, kind, all.lengths[k], all.axes[k], norm);
          now = {z.re, z.im, false};
        }
        return ComplexValue{now.re, now.im}.complex();
      },
      x);
}

Tensor reals_over_axes(const char* name, const ComplexOperand& x, const Ints& sizes, const Axes& axes, FftNorm norm) {
  base::need<base::kLinalg>(name);
  return api::composed_complex(
      name,
      [&](const ComplexTerm& term) {
        const Several all(term.re.call(), term.re.shape().size(), sizes, axes);
        ComplexTerm now = term;
        for (std::size_t k = 0; k + 1 < all.axes.size(); ++k) {
          const ComplexValue z = to_complex(now, "ifft", all.lengths[k], all.axes[k], norm);
          now = {z.re, z.im, false};
        }
        return to_reals(now, all.lengths.back(), all.axes.back(), norm).tensor();
      },
      x);
}

Complex along_one(const char* name, const ComplexOperand& x, FftLength n, std::int64_t axis, FftNorm norm) {
  base::need<base::kLinalg>(name);
  return api::composed_complex(
      name, [&](const ComplexTerm& term) { return to_complex(term, name, n, axis, norm).complex(); }, x);
}

Tensor shifted(const char* name, const Operand& x, const Axes& axes, bool back) {
  const Call call(name, x);
  const Tensor* const tensor = Access::tensor(x);
  if (tensor == nullptr) throw ShapeError(name, "a number has no axis; give a tensor");
  Ints shifts, named;
  for (const SymInt d : call.axes(axes, tensor->rank())) {
    const SymInt half = tensor->shape()[static_cast<std::size_t>(d)] / 2;
    named.push_back(d);
    shifts.push_back(back ? -half : half);
  }
  return roll(x, shifts, named);
}

Tensor frequencies(const char* name, SymInt n, SymInt count, double d, DType dtype, Site site) {
  const Call call(name, site);
  if (!is_floating(dtype))
    throw DTypeError(name, fmt::format("frequencies are floats, not {}; give a float dtype", oriel::name(dtype)));
  if (!sym::required(n >= 1, name))
    throw ShapeError(name, fmt::format("{} frequencies; give at least one", to_string(n)));
  const Value k = api::positions(call, {count}, 0, default_device());
  const Value above = k.binary(api::Op::Sub, n);
  const Value whole = where(k.binary(api::Op::Lt, (n + 1) / 2), k, above);
  const Value most = Value(call, call.number(Operand(n, site), DType::float64, {count}, default_device()));
  return (whole.to(DType::float64) / (most * d)).to(dtype).tensor();
}

}  // namespace

#define ORIEL_TRANSFORM(name)                                                           \
  Complex name(const ComplexOperand& x, FftLength n, std::int64_t axis, FftNorm norm) { \
    return along_one(#name, x, n, axis, norm);                                          \
  }
ORIEL_TRANSFORM(fft)
ORIEL_TRANSFORM(ifft)
ORIEL_TRANSFORM(rfft)
#undef ORIEL_TRANSFORM

Tensor irfft(const ComplexOperand& x, FftLength n, std::int64_t axis, FftNorm norm) {
  base::need<base::kLinalg>("irfft");
  return api::composed_complex(
      "irfft", [&](const ComplexTerm& term) { return to_reals(term, n, axis, norm).tensor(); }, x);
}
Tensor hfft(const ComplexOperand& x, FftLength n, std::int64_t axis, FftNorm norm) {
  base::need<base::kLinalg>("hfft");
  return api::composed_complex(
      "hfft",
      [&](const ComplexTerm& term) {
        const ComplexTerm conjugate{term.re, -term.im, term.real};
        return to_reals(conjugate, n, axis, exchanged(norm)).tensor();
      },
      x);
}
Complex ihfft(const ComplexOperand& x, FftLength n, std::int64_t axis, FftNorm norm) {
  base::need<base::kLinalg>("ihfft");
  return api::composed_complex(
      "ihfft",
      [&](const ComplexTerm& term) {
        const ComplexValue z = to_complex(term, "rfft", n, axis, exchanged(norm));
        return ComplexValue{z.re, -z.im}.complex();
      },
      x);
}

#define ORIEL_TRANSFORMS(axes_of)                                                                     \
  Complex fft##axes_of(const ComplexOperand& x, const Ints& sizes, const Axes& axes, FftNorm norm) {  \
    return over_axes("fft" #axes_of, "fft", x, sizes, axes, norm);                                    \
  }                                                                                                   \
  Complex ifft##axes_of(const ComplexOperand& x, const Ints& sizes, const Axes& axes, FftNorm norm) { \
    return over_axes("ifft" #axes_of, "ifft", x, sizes, axes, norm);                                  \
  }                                                                                                   \
  Complex rfft##axes_of(const ComplexOperand& x, const Ints& sizes, const Axes& axes, FftNorm norm) { \
    return over_axes("rfft" #axes_of, "rfft", x, sizes, axes, norm);                                  \
  }                                                                                                   \
  Tensor irfft##axes_of(const ComplexOperand& x, const Ints& sizes, const Axes& axes, FftNorm norm) { \
    return reals_over_axes("irfft" #axes_of, x, sizes, axes, norm);                                   \
  }
ORIEL_TRANSFORMS(n)
ORIEL_TRANSFORMS(2)
#undef ORIEL_TRANSFORMS

Tensor fftshift(const Operand& x, const Axes& axes) { return shifted("fftshift", x, axes, false); }
Tensor ifftshift(const Operand& x, const Axes& axes) { return shifted("ifftshift", x, axes, true); }
Complex fftshift(const ComplexArgument& x, const Axes& axes) {
  return ComplexAccess::made(fftshift(ComplexAccess::real(x), axes), fftshift(ComplexAccess::imag(x), axes));
}
Complex ifftshift(const ComplexArgument& x, const Axes& axes) {
  return ComplexAccess::made(ifftshift(ComplexAccess::real(x), axes), ifftshift(ComplexAccess::imag(x), axes));
}

Tensor fftfreq(SymInt n, double d, DType dtype, Site site) { return frequencies("fftfreq", n, n, d, dtype, site); }
Tensor rfftfreq(SymInt n, double d, DType dtype, Site site) {
  return abs(Operand(frequencies("rfftfreq", n, n / 2 + 1, d, dtype, site), site));
}

std::int64_t next_fast_len(std::int64_t n) {
  if (n < 1) throw ArgumentError("next_fast_len", fmt::format("a length of {}; give at least 1", n));
  if (n > std::int64_t{1} << 62) throw OverflowError("next_fast_len", fmt::format("a length of {} passes 2^62", n));
  return static_cast<std::int64_t>(api::fft::smooth_length(static_cast<std::size_t>(n)));
}

}  // namespace oriel
