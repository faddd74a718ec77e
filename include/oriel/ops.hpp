// Elementwise operations. Operands are tensors or C++ numbers, broadcast as in NumPy (shapes are aligned at the last
// axis; extents of 1 repeat) and promoted to one dtype (dtype.hpp: promote; tensor.hpp: Operand for numbers).
//
// Every function here throws ShapeError if shapes do not broadcast, DTypeError if it does not support the dtype,
// DeviceError for operands of different devices, and ArgumentError for an integer number that the tensor's integer
// dtype cannot hold. "Floats" below means that integers and bool are first cast to float32. Halves are computed in
// float32 and rounded.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

// ---- Arithmetic. Integers wrap.

[[nodiscard]] Tensor operator+(const Operand& a, const Operand& b);  ///< x + 1; `or` for bool
[[nodiscard]] Tensor operator-(const Operand& a, const Operand& b);  ///< a - b; DTypeError if an operand is bool
[[nodiscard]] Tensor operator*(const Operand& a, const Operand& b);  ///< a * b; `and` for bool
[[nodiscard]] Tensor operator/(const Operand& a,
                               const Operand& b);  ///< true division, in floats: of<int>({7}) / 2 is {3.5f}
[[nodiscard]] Tensor operator%(const Operand& a, const Operand& b);  ///< remainder(a, b)
[[nodiscard]] Tensor operator-(const Operand& x);                    ///< DTypeError for bool
[[nodiscard]] Tensor operator+(const Operand& x);                    ///< x itself

// The next four functions throw DTypeError for bool. An integer divided by 0 gives 0 in each of them, on every device;
// PyTorch throws an error. The smallest integer divided by -1 wraps to itself, with remainder 0.

/// The quotient rounded towards minus infinity. For floats it is consistent with remainder, as in Python and PyTorch: a
/// == floor_divide(a, b) * b + remainder(a, b) up to rounding. So 5.5 by 0.1 is 54, because the float 0.1 is a little
/// more than a tenth. A float divided by 0 gives the infinity or NaN of a / b. An infinity divided by anything gives
/// NaN. 1 divided by -inf gives -1.
///   floor_divide(Tensor::of<int>({-7}), 2);  // {-4}
[[nodiscard]] Tensor floor_divide(const Operand& a, const Operand& b);
/// The quotient a / b rounded towards zero; {-3} for the example above. For floats, a / b is rounded to the dtype
/// first.
[[nodiscard]] Tensor trunc_divide(const Operand& a, const Operand& b);
/// a - b * floor(a / b), which has the sign of b. For floats the result is exact, except for one rounding if a and b
/// differ in sign. It is NaN if b is 0. A result of zero has the sign of a, as in PyTorch: remainder(-0.0, 3) is -0.0,
/// where Python and NumPy have 0.0, with the sign of b.
///   remainder(Tensor::of<int>({-7}), 3);  // {2}
[[nodiscard]] Tensor remainder(const Operand& a, const Operand& b);
/// a - b * trunc(a / b), which has the sign of a; {-1} for the example above. For floats the result is exact. It is NaN
/// if b is 0.
[[nodiscard]] Tensor fmod(const Operand& a, const Operand& b);
/// a to the power b. Integers wrap. For a negative exponent, an integer result is 1 / a^-b rounded towards zero, and 0
/// if a is 0. For floats the special cases are C's (ISO/IEC 9899, F.10.4.4): the result is 1 if b is 0 or a is 1, even
/// if the other operand is NaN, and NaN if a is negative and b is not an integer. The error on the CPU is at most 1
/// unit in the last place. Throws DTypeError for bool.
[[nodiscard]] Tensor pow(const Operand& a, const Operand& b);

/// The angle of the point (x, y) in radians, from -pi to pi, in floats. The special cases are C's (ISO/IEC 9899,
/// F.10.1.4). The sign of a zero matters: atan2(0, -1) is pi and atan2(-0.0, -1) is -pi; atan2(0, 0) is 0 and atan2(0,
/// -0.0) is pi. Two infinities give the angle of a diagonal: atan2(inf, inf) is pi / 4. The result is NaN if an operand
/// is. The error on the CPU is at most 1.5 units in the last place in float32 and 1 in float64 (2 without fused
/// multiply-add).
///   atan2(scalar(1), -1);  // 3 pi / 4
[[nodiscard]] Tensor atan2(const Operand& y, const Operand& x);
/// sqrt(x^2 + y^2) without overflow on the way; infinite if either is, even beside NaN. Floats, as atan2.
[[nodiscard]] Tensor hypot(const Operand& x, const Operand& y);
/// The magnitude of x with the sign of y, that of a zero or NaN included. Floats, as atan2.
///   copysign(3, -0.0)  // -3
[[nodiscard]] Tensor copysign(const Operand& x, const Operand& y);
/// The next number of the dtype after x in the direction of y; y if they are equal, NaN if either is. Floats, as atan2;
/// halves step in their own dtype. The definition is C's (ISO/IEC 9899, F.10.8.3).
///   nextafter(1.0F, 2)  // 1 + 2^-23
[[nodiscard]] Tensor nextafter(const Operand& x, const Operand& y);

[[nodiscard]] Tensor minimum(const Operand& a, const Operand& b);  ///< the smaller; NaN where either is
[[nodiscard]] Tensor maximum(const Operand& a, const Operand& b);  ///< the larger; NaN where either is
/// minimum(maximum(x, low), high), with the dtype of that expression.
///  clamp(x, 0, 1)
[[nodiscard]] Tensor clamp(const Operand& x, const Operand& low, const Operand& high);
/// clamp with one end: maximum(x, low) and minimum(x, high), by their names in PyTorch.
/// @{
[[nodiscard]] inline Tensor clamp_min(const Operand& x, const Operand& low) { return maximum(x, low); }
[[nodiscard]] inline Tensor clamp_max(const Operand& x, const Operand& high) { return minimum(x, high); }
/// @}

// ---- Comparison. The result is bool. A NaN is unequal to everything, and neither less nor greater than anything.
// Integers are compared by value, whatever their dtypes and axes: uint64 with negative numbers too, and
// scalar(256, DType::int16) > Tensor::of<std::uint8_t>({1}) is true. (PyTorch wraps a tensor without axes to the dtype
// of the other and gives false.)

[[nodiscard]] Tensor operator==(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator!=(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator<(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator<=(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator>(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator>=(const Operand& a, const Operand& b);

// A size with a float is a tensor without axes, as any operand: x * (1.0 / x.size(0)). Preferred to conversions of the
// size to a number, which do not compile.
#define ORIEL_WITH_SIZE(op)                          \
  template <std::floating_point T>                   \
  [[nodiscard]] Tensor operator op(SymInt a, T b) {  \
    return detail::unsited(a) op detail::unsited(b); \
  }                                                  \
  template <std::floating_point T>                   \
  [[nodiscard]] Tensor operator op(T a, SymInt b) {  \
    return detail::unsited(a) op detail::unsited(b); \
  }
namespace detail {
template <class T>
Operand unsited(T number) {
  return {number, Site::unknown()};
}
}  // namespace detail
// clang-format off
ORIEL_WITH_SIZE(+) ORIEL_WITH_SIZE(-) ORIEL_WITH_SIZE(*) ORIEL_WITH_SIZE(/) ORIEL_WITH_SIZE(%)
ORIEL_WITH_SIZE(==) ORIEL_WITH_SIZE(!=) ORIEL_WITH_SIZE(<) ORIEL_WITH_SIZE(<=) ORIEL_WITH_SIZE(>) ORIEL_WITH_SIZE(>=)
// clang-format on
#undef ORIEL_WITH_SIZE

    // ---- Logic. Operands count as true if they are not 0. The result is bool. && and || always evaluate both sides.

    [[nodiscard]] Tensor
    operator&&(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator||(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator!(const Operand& x);
namespace detail {
[[nodiscard]] Tensor both(const Operand& a, const Operand& b);
[[nodiscard]] Tensor either(const Operand& a, const Operand& b);
template <class A, class B>
concept TensorBeside = (std::same_as<A, Tensor> && (std::is_arithmetic_v<B> || std::same_as<B, Tensor>)) ||
                       (std::is_arithmetic_v<A> && std::same_as<B, Tensor>);
}  // namespace detail
/// Of tensors these are preferred to C++'s operators, which take the bool of each side. They do not know the line of
/// the call: errors name that of the operand which was built last.
/// @{
[[nodiscard]] Tensor operator!(const Tensor& x);
template <class A, detail::TensorBeside<A> B>
[[nodiscard]] Tensor operator&&(const A& a, const B& b) {
  return detail::both(a, b);
}
template <class A, detail::TensorBeside<A> B>
[[nodiscard]] Tensor operator||(const A& a, const B& b) {
  return detail::either(a, b);
}
/// @}
[[nodiscard]] Tensor logical_and(const Operand& a, const Operand& b);
[[nodiscard]] Tensor logical_or(const Operand& a, const Operand& b);
[[nodiscard]] Tensor logical_xor(const Operand& a, const Operand& b);
[[nodiscard]] Tensor logical_not(const Operand& x);

// ---- Bits. For integers, and for bool, where they are the logical operations. Other dtypes are a DTypeError.

[[nodiscard]] Tensor operator&(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator|(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator^(const Operand& a, const Operand& b);
[[nodiscard]] Tensor operator~(const Operand& x);
/// a * 2^b for integers, wrapping. 0 if b is negative or at least the width in bits.
[[nodiscard]] Tensor operator<<(const Operand& a, const Operand& b);
/// floor(a / 2^b) for integers. If b is negative or at least the width in bits: -1 for negative a, else 0.
[[nodiscard]] Tensor operator>>(const Operand& a, const Operand& b);

// ---- In place: x.assign(x op y). All tensors that share the storage of x see the change. x keeps its dtype and shape.
// Throws DTypeError if can_cast (dtype.hpp) refuses the dtype of x op y for x: floats in integers, anything but bool in
// bool. Throws ShapeError if x op y has another shape, and the errors of assign. The overloads for Tensor&& are for
// views: x[1] += 2. Of a value that nothing else names, as in x.to(DType::int8) += 2, they throw ArgumentError.

#define ORIEL_IN_PLACE(op)                          \
  Tensor& operator op(Tensor& x, const Operand& y); \
  Tensor operator op(Tensor&& x, const Operand& y);
// clang-format off
ORIEL_IN_PLACE(+=) ORIEL_IN_PLACE(-=) ORIEL_IN_PLACE(*=) ORIEL_IN_PLACE(/=) ORIEL_IN_PLACE(%=)
ORIEL_IN_PLACE(&=) ORIEL_IN_PLACE(|=) ORIEL_IN_PLACE(^=) ORIEL_IN_PLACE(<<=) ORIEL_IN_PLACE(>>=)
// clang-format on
#undef ORIEL_IN_PLACE

    /// Elements of x where c is not 0, elements of y elsewhere. All three broadcast; the dtype is that of x and y
    /// promoted.
    ///   where(x > 0, x, 0)
    [[nodiscard]] Tensor where(const Operand& c, const Operand& x, const Operand& y);
/// `value` where `mask` is true, x elsewhere, in the dtype of x: where(mask, value, x), for what x may store (see
/// Tensor::assign). `mask` and `value` are broadcast to the shape of x. Throws DTypeError unless the mask is bool.
/// NumPy's x[mask] = value is x.assign_where(mask, value).
///   masked_fill(x, x < 0, 0);
[[nodiscard]] Tensor masked_fill(const Operand& x, const Operand& mask, const Operand& value);
/// The lower (tril) or upper (triu) triangle of each matrix of the last two axes, with 0 elsewhere. Element (i, j) is
/// kept if j - i <= diagonal (tril) or j - i >= diagonal (triu). The order of x in memory is kept; PyTorch's results
/// are row-major. Throws ShapeError if x has fewer than two axes.
///   tril(Tensor::of<int>({{1, 2}, {3, 4}}));     // {{1, 0}, {3, 4}}
///   triu(Tensor::of<int>({{1, 2}, {3, 4}}), 1);  // {{0, 2}, {0, 0}}
[[nodiscard]] Tensor tril(const Operand& x, std::int64_t diagonal = 0);
[[nodiscard]] Tensor triu(const Operand& x, std::int64_t diagonal = 0);

// ---- Functions of floats, with the special cases of C (ISO/IEC 9899, Annex F). Integers and bool are taken as
// float32. On the CPU the float32 results of exp to erfc are within 3 units in the last place of the exact result (tan;
// the others within 2), for every argument, subnormal and huge ones included. engine/backend/eigen/README.md lists the
// error of each.

[[nodiscard]] Tensor exp(const Operand& x);
[[nodiscard]] Tensor exp2(const Operand& x);
[[nodiscard]] Tensor log(const Operand& x);  ///< natural logarithm; -inf for 0, NaN for negative x
[[nodiscard]] Tensor log2(const Operand& x);
[[nodiscard]] Tensor expm1(const Operand& x);  ///< exp(x) - 1, without the loss of digits near 0
[[nodiscard]] Tensor log1p(
    const Operand& x);  ///< log(1 + x), without the loss of digits near 0; -inf for -1, NaN below
[[nodiscard]] Tensor log10(const Operand& x);
[[nodiscard]] Tensor sqrt(const Operand& x);   ///< NaN for negative x
[[nodiscard]] Tensor rsqrt(const Operand& x);  ///< 1 / sqrt(x)
[[nodiscard]] Tensor reciprocal(const Operand& x);
[[nodiscard]] Tensor sin(const Operand& x);  ///< radians
[[nodiscard]] Tensor cos(const Operand& x);
[[nodiscard]] Tensor tan(const Operand& x);
[[nodiscard]] Tensor asin(const Operand& x);  ///< in [-pi/2, pi/2]; NaN outside of [-1, 1]
[[nodiscard]] Tensor acos(const Operand& x);  ///< in [0, pi]; NaN outside of [-1, 1]
[[nodiscard]] Tensor atan(const Operand& x);  ///< in [-pi/2, pi/2]
[[nodiscard]] Tensor sinh(const Operand& x);
[[nodiscard]] Tensor cosh(const Operand& x);
[[nodiscard]] Tensor tanh(const Operand& x);
[[nodiscard]] Tensor asinh(const Operand& x);
[[nodiscard]] Tensor acosh(const Operand& x);  ///< NaN below 1
[[nodiscard]] Tensor atanh(const Operand& x);  ///< infinite at -1 and 1, NaN beyond
[[nodiscard]] Tensor erf(const Operand& x);
[[nodiscard]] Tensor erfc(const Operand& x);     ///< 1 - erf(x), without the loss of digits for large x
[[nodiscard]] Tensor sigmoid(const Operand& x);  ///< 1 / (1 + exp(-x))
[[nodiscard]] Tensor gelu(const Operand& x);     ///< x * (1 + erf(x / sqrt(2))) / 2, the exact form
[[nodiscard]] Tensor silu(const Operand& x);     ///< x * sigmoid(x)

// ---- The result has the dtype of x.

[[nodiscard]] Tensor relu(const Operand& x);  ///< maximum(x, 0); DTypeError for bool
[[nodiscard]] Tensor abs(const Operand& x);   ///< the smallest signed integer wraps to itself
[[nodiscard]] Tensor sign(const Operand& x);  ///< -1, 0 or 1; NaN for NaN
[[nodiscard]] Tensor floor(const Operand& x);
[[nodiscard]] Tensor ceil(const Operand& x);
[[nodiscard]] Tensor round(const Operand& x);  ///< to the nearest integer, ties to even: 2.5 gives 2
[[nodiscard]] Tensor trunc(const Operand& x);
[[nodiscard]] Tensor square(const Operand& x);  ///< x * x; int64 for bool

// ---- The result is bool.

[[nodiscard]] Tensor isnan(const Operand& x);
[[nodiscard]] Tensor isinf(const Operand& x);
[[nodiscard]] Tensor isfinite(const Operand& x);

/// x.to(dtype).
[[nodiscard]] Tensor cast(const Operand& x, DType dtype);
/// x.bitcast(dtype).
[[nodiscard]] Tensor bitcast(const Operand& x, DType dtype);

}  // namespace oriel
