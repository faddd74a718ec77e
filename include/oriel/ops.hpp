// Elementwise operations. Operands are tensors or C++ numbers, broadcast as in NumPy (shapes are aligned at the last
// axis; extents of 1 repeat) and promoted to one dtype (dtype.hpp: promote; tensor.hpp: Operand for numbers).
//
// Every function here throws ShapeError where shapes do not broadcast, DTypeError where the dtype is not taken,
// DeviceError for operands of different devices, and ArgumentError for an integer number that the tensor's integer
// dtype cannot hold. "floats" below: integers and bool are first cast to float32. Halves compute in float32 and round.
#pragma once

#include "oriel/tensor.hpp"

namespace oriel {

// ---- Arithmetic. Integers wrap.

Tensor operator+(const Operand& a, const Operand& b);  ///< x + 1; `or` for bool
Tensor operator-(const Operand& a, const Operand& b);  ///< a - b; DTypeError where an operand is bool
Tensor operator*(const Operand& a, const Operand& b);  ///< a * b; `and` for bool
Tensor operator/(const Operand& a, const Operand& b);  ///< the quotient of floats: of<int>({7}) / 2 is {3.5f}
Tensor operator%(const Operand& a, const Operand& b);  ///< remainder(a, b)
Tensor operator-(const Operand& x);                    ///< DTypeError for bool
Tensor operator+(const Operand& x);                    ///< x itself

// The four below are not for bool. An integer divided by 0 gives 0 in each of them, on every device; PyTorch throws
// there. The smallest integer divided by -1 wraps to itself, and leaves 0.

/// The quotient rounded towards minus infinity. Of floats it goes with remainder, as in Python and PyTorch:
/// a == floor_divide(a, b) * b + remainder(a, b) up to rounding, so 5.5 by 0.1 is 54, where 0.1 is a little more than a
/// tenth. A float by 0 gives the infinity or NaN of a / b; an infinity by anything gives NaN, 1 by -inf gives -1.
///   floor_divide(Tensor::of<int>({-7}), 2);  // {-4}
Tensor floor_divide(const Operand& a, const Operand& b);
/// The quotient a / b, which floats round first, rounded towards zero: {-3} above.
Tensor trunc_divide(const Operand& a, const Operand& b);
/// a - b * floor(a / b): has the sign of b. Of floats exact but for one rounding where a and b differ in sign, and NaN
/// by 0; a zero has the sign of a.
///   remainder(Tensor::of<int>({-7}), 3);  // {2}
Tensor remainder(const Operand& a, const Operand& b);
/// a - b * trunc(a / b): has the sign of a. {-1} above. Of floats exact, and NaN by 0.
Tensor fmod(const Operand& a, const Operand& b);
/// a to the power b. Integers wrap; with a negative exponent they give 1 / a^-b towards zero, and 0 for a = 0. Floats:
/// the special cases are C's (ISO/IEC 9899, F.10.4.4): 1 for b = 0 and for a = 1, even beside NaN; NaN for negative a
/// and b that is no whole number. Off by at most 1 unit in the last place on the CPU. Not for bool.
Tensor pow(const Operand& a, const Operand& b);

/// The angle of the point of height y and length x, in radians from -pi to pi, of floats. A zero's sign tells on which
/// side of the axis it stands: atan2(0, -1) is pi and atan2(-0.0, -1) is -pi, atan2(0, 0) is 0 and atan2(0, -0.0) is
/// pi. Infinities are the limit of a point that goes there along a diagonal: atan2(inf, inf) is pi / 4. NaN where
/// either is. On the CPU off by at most 1.5 units in the last place in float32, and 1 in float64 (2 without fused
/// products).
///   atan2(scalar(1), -1);  // 3 pi / 4
Tensor atan2(const Operand& y, const Operand& x);

Tensor minimum(const Operand& a, const Operand& b);  ///< the smaller; NaN where either is
Tensor maximum(const Operand& a, const Operand& b);  ///< the larger; NaN where either is
/// minimum(maximum(x, low), high), in its dtype too.   clamp(x, 0, 1)
Tensor clamp(const Operand& x, const Operand& low, const Operand& high);

// ---- Comparison: bool. A NaN is unequal to everything and neither less nor greater.

Tensor operator==(const Operand& a, const Operand& b);
Tensor operator!=(const Operand& a, const Operand& b);
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);

// ---- Logic: bool, of x != 0. The operators evaluate both sides.

Tensor operator&&(const Operand& a, const Operand& b);
Tensor operator||(const Operand& a, const Operand& b);
Tensor operator!(const Operand& x);
Tensor logical_and(const Operand& a, const Operand& b);
Tensor logical_or(const Operand& a, const Operand& b);
Tensor logical_xor(const Operand& a, const Operand& b);
Tensor logical_not(const Operand& x);

// ---- Bits: integers and bool (logical there).

Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor operator~(const Operand& x);
/// Integers. a * 2^b, wrapping; 0 where b is negative or not below the width.
Tensor operator<<(const Operand& a, const Operand& b);
/// Integers. floor(a / 2^b); where b is negative or not below the width, -1 for negative a and 0 otherwise.
Tensor operator>>(const Operand& a, const Operand& b);

// ---- In place: x.assign(x op y), so that all tensors with x's storage see it. x keeps its dtype and shape: DTypeError
// where x's dtype cannot keep the result (dtype.hpp: can_cast): floats stay out of integers, and all but bool out of
// bool; ShapeError where x op y has another shape; and the errors of assign. The second form is for views:
// x.select(0, 1) += 2.

Tensor& operator+=(Tensor& x, const Operand& y);
Tensor& operator-=(Tensor& x, const Operand& y);
Tensor& operator*=(Tensor& x, const Operand& y);
Tensor& operator/=(Tensor& x, const Operand& y);
Tensor& operator%=(Tensor& x, const Operand& y);
Tensor& operator&=(Tensor& x, const Operand& y);
Tensor& operator|=(Tensor& x, const Operand& y);
Tensor& operator^=(Tensor& x, const Operand& y);
Tensor& operator<<=(Tensor& x, const Operand& y);
Tensor& operator>>=(Tensor& x, const Operand& y);
Tensor operator+=(Tensor&& x, const Operand& y);
Tensor operator-=(Tensor&& x, const Operand& y);
Tensor operator*=(Tensor&& x, const Operand& y);
Tensor operator/=(Tensor&& x, const Operand& y);
Tensor operator%=(Tensor&& x, const Operand& y);
Tensor operator&=(Tensor&& x, const Operand& y);
Tensor operator|=(Tensor&& x, const Operand& y);
Tensor operator^=(Tensor&& x, const Operand& y);
Tensor operator<<=(Tensor&& x, const Operand& y);
Tensor operator>>=(Tensor&& x, const Operand& y);

/// x where c holds (is not 0), else y. All three broadcast; x and y promote.
///   where(x > 0, x, 0)
Tensor where(const Operand& c, const Operand& x, const Operand& y);
/// x on and below a diagonal (tril), on and above it (triu), 0 elsewhere; of the last two axes, for each index of the
/// others. Element (i, j) is kept where j - i <= diagonal (tril), j - i >= diagonal (triu). Throws ShapeError for x
/// with fewer than two axes.
///   tril(Tensor::of<int>({{1, 2}, {3, 4}}));     // {{1, 0}, {3, 4}}
///   triu(Tensor::of<int>({{1, 2}, {3, 4}}), 1);  // {{0, 2}, {0, 0}}
Tensor tril(const Operand& x, std::int64_t diagonal = 0);
Tensor triu(const Operand& x, std::int64_t diagonal = 0);

// ---- Of floats. On the CPU a float32 result of exp to erf is at most 2 units of the last place from the exact one,
// for every argument, subnormal and huge ones included (engine/backend/eigen/README.md has the error of each).

Tensor exp(const Operand& x);
Tensor exp2(const Operand& x);
Tensor log(const Operand& x);  ///< natural; -inf for 0, NaN below
Tensor log2(const Operand& x);
Tensor sqrt(const Operand& x);   ///< NaN below 0
Tensor rsqrt(const Operand& x);  ///< 1 / sqrt(x)
Tensor reciprocal(const Operand& x);
Tensor sin(const Operand& x);  ///< radians
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor tanh(const Operand& x);
Tensor erf(const Operand& x);
Tensor sigmoid(const Operand& x);  ///< 1 / (1 + exp(-x))
Tensor gelu(const Operand& x);     ///< x * (1 + erf(x / sqrt(2))) / 2, the exact form
Tensor silu(const Operand& x);     ///< x * sigmoid(x)

// ---- Of any dtype; the result has it.

Tensor relu(const Operand& x);  ///< maximum(x, 0); DTypeError for bool
Tensor abs(const Operand& x);   ///< the smallest signed integer stays itself
Tensor sign(const Operand& x);  ///< -1, 0 or 1; NaN for NaN
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor round(const Operand& x);  ///< to nearest, halves to even: 2.5 gives 2
Tensor trunc(const Operand& x);
Tensor square(const Operand& x);  ///< x * x; int64 for bool

// ---- To bool.

Tensor isnan(const Operand& x);
Tensor isinf(const Operand& x);
Tensor isfinite(const Operand& x);

/// x.to(dtype).
Tensor cast(const Operand& x, DType dtype);
/// x.bitcast(dtype).
Tensor bitcast(const Operand& x, DType dtype);

}  // namespace oriel
