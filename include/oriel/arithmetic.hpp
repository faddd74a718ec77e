// More elementwise functions, as compositions of those in ops.hpp: they fuse with what stands before and behind them.
//
// Operands broadcast and are promoted as in ops.hpp, whose errors hold here. "Floats" means that integers and bool are
// first cast to float32. Results in floats are computed in float32 or float64 and rounded once to the dtype. The
// definitions are PyTorch's, unless a comment names another.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// a + weight * (b - a), in floats. From weight 0.5 on it is computed from b, so that weight 1 gives b exactly. Where
/// b - a is beyond the range, a * (1 - weight) + b * weight, without the one whose weight is 0; equal infinities stay.
///   lerp(a, b, 0.25)
[[nodiscard]] Tensor lerp(const Operand& a, const Operand& b, const Operand& weight);
/// x + value * a * b, in the promoted dtype.
[[nodiscard]] Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, const Operand& value = 1);
/// x + value * a / b, in floats. PyTorch refuses integers here.
[[nodiscard]] Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, const Operand& value = 1);
/// log(exp(a) + exp(b)), in floats, without overflow on the way. Two equal infinities give that infinity.
[[nodiscard]] Tensor logaddexp(const Operand& a, const Operand& b);
/// log2(2^a + 2^b), in floats, as logaddexp.
[[nodiscard]] Tensor logaddexp2(const Operand& a, const Operand& b);
/// x * log(y), in floats; 0 where x is 0, unless y is NaN.
[[nodiscard]] Tensor xlogy(const Operand& x, const Operand& y);
/// 0 for negative x, 1 for positive x, `value` where x is 0. The dtypes are promoted. NaN gives NaN, as in NumPy; in
/// PyTorch it gives 0.
[[nodiscard]] Tensor heaviside(const Operand& x, const Operand& value);
/// The larger (smaller) of both numbers. Where one is NaN the result is the other; maximum and minimum give NaN there.
/// @{
[[nodiscard]] Tensor fmax(const Operand& a, const Operand& b);
[[nodiscard]] Tensor fmin(const Operand& a, const Operand& b);
/// @}

/// x with other numbers in place of NaN, infinity and minus infinity, in the dtype of x. By default the infinities
/// become the largest and the lowest finite number of the dtype. Integers are returned as they are.
///   nan_to_num(x, 0, 1e6, -1e6)
/// @{
[[nodiscard]] Tensor nan_to_num(const Operand& x, double nan = 0);
[[nodiscard]] Tensor nan_to_num(const Operand& x, double nan, double positive_infinity, double negative_infinity);
/// @}
/// x - trunc(x), in floats: the fraction with the sign of x. NaN for infinities.
[[nodiscard]] Tensor frac(const Operand& x);
/// x rounded to `decimals` digits behind the point, ties to even: round(x * 10^decimals) / 10^decimals, computed in the
/// dtype (halves in float32). Negative decimals round to tens, hundreds, ... An integer is returned as it is if
/// decimals
/// >= 0; for negative decimals it is a DTypeError.
///   round(Tensor::of<float>({1.234f}), 2);  // {1.23}
[[nodiscard]] Tensor round(const Operand& x, int decimals);
/// sin(pi * x) / (pi * x), in floats; 1 at 0.
[[nodiscard]] Tensor sinc(const Operand& x);
/// log(x / (1 - x)), in floats: the inverse of sigmoid. NaN outside of [0, 1]. With `eps`, x is first clamped to [eps,
/// 1 - eps]; a NaN stays.
/// @{
[[nodiscard]] Tensor logit(const Operand& x);
[[nodiscard]] Tensor logit(const Operand& x, double eps);
/// @}
[[nodiscard]] Tensor deg2rad(const Operand& x);  ///< x * pi / 180, in floats
[[nodiscard]] Tensor rad2deg(const Operand& x);  ///< x * 180 / pi, in floats
/// True where the sign bit is set, as bool: negative numbers, -0.0 and NaNs whose sign bit is set. False for unsigned
/// integers and bool.
[[nodiscard]] Tensor signbit(const Operand& x);
[[nodiscard]] Tensor isposinf(const Operand& x);  ///< true for infinity, as bool
[[nodiscard]] Tensor isneginf(const Operand& x);  ///< true for minus infinity, as bool

/// Differences of neighbours along an axis, n times: x[1..] - x[..-1]. The axis is shorter by n, or empty. For bool it
/// is
/// `!=`. Throws ArgumentError for negative n, ShapeError for a tensor without axes.
///   diff(Tensor::of<int>({1, 4, 9}));  // {3, 5}
[[nodiscard]] Tensor diff(const Operand& x, std::int64_t n = 1, std::int64_t axis = -1);
/// The integral of y along an axis by the trapezoidal rule, in floats, with `dx` between neighbours. 0 for fewer than
/// two elements.
///   trapezoid(Tensor::of<float>({1, 2, 3}));  // 4
[[nodiscard]] Tensor trapezoid(const Operand& y, double dx = 1, std::int64_t axis = -1);
/// The same for points at `x`, which has the shape of y, or one axis as long as that of y.
[[nodiscard]] Tensor trapezoid(const Operand& y, const Tensor& x, std::int64_t axis = -1);

/// @cond
#define ORIEL_OR(value)
ORIEL_ARITHMETIC_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
