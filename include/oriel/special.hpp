// Special functions, the parts of floats, and whole numbers: more elementwise functions, as compositions of those in
// ops.hpp, with which they fuse. Operands broadcast and are promoted as there, and its errors hold here. "Floats" means
// that integers and bool are first cast to float32.
//
// lgamma, digamma, erfinv and i0 are computed in float64 and rounded once to the dtype, so they need a device that
// computes with float64.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The logarithm of the magnitude of the gamma function, in floats; infinity at 0, -1, -2, ... and at both infinities.
/// In float64 the error is below 1e-14 times the larger of 1 and the result: near the zeros at 1 and 2 it is absolute.
/// torch.lgamma, scipy.special.gammaln.
[[nodiscard]] Tensor lgamma(const Operand& x);
/// The derivative of lgamma, in floats: -infinity at 0, infinity at -0, NaN at -1, -2, ... and at -infinity. Errors as
/// lgamma. torch.digamma.
[[nodiscard]] Tensor digamma(const Operand& x);
/// The inverse of erf, in floats: infinities at -1 and 1, NaN beyond. torch.erfinv.
[[nodiscard]] Tensor erfinv(const Operand& x);
/// The modified Bessel function of the first kind of order 0, in floats: infinite from 714 on in float64. torch.i0.
[[nodiscard]] Tensor i0(const Operand& x);

/// The parts of floats: x = mantissa * 2^exponent.
struct Parts {
  Tensor mantissa;  ///< of a magnitude in [0.5, 1), in the dtype of x; 0, infinities and NaN stay as they are
  Tensor exponent;  ///< int32; 0 for 0, infinities and NaN
};
/// Both parts, exactly, in floats. numpy.frexp.
///   frexp(12.0F)  // {0.75, 4}
[[nodiscard]] Parts frexp(const Operand& x);
/// x * 2^exponent, rounded once to the float dtype of x. `exponent` holds integers; DTypeError else. numpy.ldexp.
///   ldexp(0.75F, 4)  // 12
[[nodiscard]] Tensor ldexp(const Operand& x, const Operand& exponent);

/// The greatest common divisor of the magnitudes, 0 of two zeros. Euclid's algorithm with as many steps as the worst
/// numbers of the dtype need, 13 for 8 bits and 93 for 64. The smallest signed number wraps to itself, as in abs.
/// Throws DTypeError for floats and bool. numpy.gcd, torch.gcd.
///   gcd(Tensor::of<int>({12, -8}), 18);  // {6, 2}
[[nodiscard]] Tensor gcd(const Operand& a, const Operand& b);
/// The least common multiple of the magnitudes, wrapping; 0 if either is 0. Otherwise as gcd.
[[nodiscard]] Tensor lcm(const Operand& a, const Operand& b);
/// How many bits of the magnitude are 1, as uint8. Throws DTypeError for floats. numpy.bitwise_count.
///   bitwise_count(Tensor::of<int>({7, -8}));  // {3, 1}
[[nodiscard]] Tensor bitwise_count(const Operand& x);

}  // namespace oriel
