// Linear algebra on matrices, which are the last two axes; the axes in front of them are batches and broadcast. Eigen
// computes it on the CPU, by host calls (host_call.hpp): operands on other devices are copied there and results back,
// and batches are shared among threads. explain() shows the calls. They work in captured functions with symbolic sizes
// and in files of these; an export refuses them.
//
// Results are in floats: integers and bool are taken as float32, halves are computed in float32 and rounded once. Every
// function throws ShapeError if shapes do not fit.
//
// What can only be seen when the work runs is an ArgumentError then, which names the first such matrix of the batch: a
// singular matrix in solve and inverse, one that is not positive definite in cholesky, and a NaN or infinity in svd,
// eigh, eig, lstsq and pinv. Signs of singular vectors and eigenvectors are any.
//
// All but ranks have derivatives (grad.hpp) of any order, by formulas over the functions of this header. These throw as
// they do: the derivative of slogdet at a singular matrix, and that of det's gradient there. Derivatives of cholesky,
// eigh and eigvalsh are those by symmetric matrices, and symmetric themselves, as in PyTorch. Those of singular vectors
// and eigenvectors are infinite or NaN where two values are equal, and of a rectangular matrix where one is 0; the
// values alone have one everywhere. A loss of such vectors has a gradient if it does not depend on their signs and
// phases. pinv and lstsq have that of matrices whose rank stays the same: what counts as 0 is taken for 0.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The lower triangular l with l l^T = x, for symmetric positive definite x (.., n, n), of which the lower triangle is
/// read. With `upper` the transpose of l.
[[nodiscard]] Tensor cholesky(const Operand& x, bool upper = false);

/// The factors of qr.
struct Qr {
  Tensor q;  ///< orthonormal columns
  Tensor r;  ///< upper triangular
};
/// q r = x by Householder reflections, of x (.., m, n): q (.., m, k) and r (.., k, n) with k = min(m, n); with
/// `complete` k = m. A complete q of more rows than columns has no derivative, which is an ArgumentError: its last
/// columns are any basis. Where the first k columns of x depend on each other it is infinite or NaN.
[[nodiscard]] Qr qr(const Operand& x, bool complete = false);

/// The factors of lu.
struct Lu {
  Tensor p;  ///< a permutation (.., m, m)
  Tensor l;  ///< (.., m, k), lower triangular with ones on the diagonal
  Tensor u;  ///< (.., k, n), upper triangular
};
/// p l u = x with partial pivoting, of x (.., m, n); k = min(m, n). A singular x has zeros on the diagonal of u. The
/// derivative is that of a fixed p.
[[nodiscard]] Lu lu(const Operand& x);

/// The y with x y = b, of x (.., n, n) and b (.., n, m), or b (n), for which the result lacks the last axis. By lu.
///   solve(Tensor::of<float>({{2, 0}, {0, 4}}), Tensor::of<float>({2, 8}));  // {1, 2}
[[nodiscard]] Tensor solve(const Operand& x, const Operand& b);
/// The same for triangular x, of which the other triangle is not read. With `unit` its diagonal is taken as ones. Zeros
/// on the diagonal give infinities and NaN.
[[nodiscard]] Tensor triangular_solve(const Operand& x, const Operand& b, bool upper = false, bool unit = false);
/// The inverse of x (.., n, n).
[[nodiscard]] Tensor inverse(const Operand& x);

/// The determinant of x (.., n, n); 1 for n = 0. Its gradient holds the cofactors, of singular matrices too.
[[nodiscard]] Tensor det(const Operand& x);
/// What slogdet returns.
struct SlogDet {
  Tensor sign;       ///< -1, 0 or 1
  Tensor logabsdet;  ///< -inf for a determinant of 0
};
/// The sign and the logarithm of the magnitude of the determinant, without overflow. No derivative goes through the
/// sign.
[[nodiscard]] SlogDet slogdet(const Operand& x);

/// The factors of svd.
struct Svd {
  Tensor u;   ///< (.., m, k), orthonormal columns
  Tensor s;   ///< (.., k), descending, >= 0
  Tensor vh;  ///< (.., k, n), orthonormal rows
};
/// u diag(s) vh = x, of x (.., m, n); k = min(m, n). With `full` u is (.., m, m) and vh (.., n, n), and no derivative
/// goes through their vectors beyond k, which are any basis.
[[nodiscard]] Svd svd(const Operand& x, bool full = false);
/// The singular values alone.
[[nodiscard]] Tensor svdvals(const Operand& x);

/// What eigh returns.
struct Eigh {
  Tensor values;   ///< (.., n), ascending
  Tensor vectors;  ///< (.., n, n), orthonormal columns
};
/// The eigenvalues and eigenvectors of symmetric x (.., n, n), of which the lower triangle is read.
[[nodiscard]] Eigh eigh(const Operand& x);
/// The eigenvalues alone.
[[nodiscard]] Tensor eigvalsh(const Operand& x);

/// Real and imaginary parts, of which Complex(values_real, values_imag) makes complex numbers (complex.hpp).
struct Eig {
  Tensor values_real;   ///< (.., n), in any order
  Tensor values_imag;   ///< (.., n)
  Tensor vectors_real;  ///< (.., n, n), columns of length 1
  Tensor vectors_imag;  ///< (.., n, n)
};
/// The eigenvalues and eigenvectors of any x (.., n, n). Complex ones come in conjugate pairs.
[[nodiscard]] Eig eig(const Operand& x);

/// The Moore-Penrose inverse of x (.., m, n), by svd. Singular values up to rcond times the largest count as 0. rcond
/// is a number, or a tensor with one for each matrix, which broadcasts to the batches. A negative number stands for
/// max(m, n) times the distance from 1 to the next number of the dtype. No derivative goes through rcond.
[[nodiscard]] Tensor pinv(const Operand& x, const Operand& rcond = -1);
/// The y of least length among those that make the length of x y - b least, of x (.., m, n) and b (.., m, k), or b (m),
/// for which the result lacks the last axis. Any rank; by a complete orthogonal decomposition.
[[nodiscard]] Tensor lstsq(const Operand& x, const Operand& b);
/// The number of singular values above `tolerance`, as int64: a number, or a tensor with one for each matrix, which
/// broadcasts to the batches. A negative number stands for the largest singular value times max(m, n) times the
/// distance from 1 to the next number of the dtype.
///   matrix_rank(x, 1e-3 * max(svdvals(x), -1))  // numpy.linalg.matrix_rank(x, rtol=1e-3)
[[nodiscard]] Tensor matrix_rank(const Operand& x, const Operand& tolerance = -1);
/// The n-th power of x (.., n, n) by repeated squaring; of the inverse if n is negative, the unit matrix for 0.
[[nodiscard]] Tensor matrix_power(const Operand& x, std::int64_t n);

/// Norms of matrices: the root of the sum of squares; the sum of singular values; the largest and the least of them;
/// the largest and the least sum of magnitudes of a column (one) or a row (infinity).
enum class MatrixNorm { frobenius, nuclear, two, minus_two, one, minus_one, infinity, minus_infinity };
/// The norm of each matrix; 0 for matrices without elements. Throws ShapeError for a least sum or singular value of
/// none.
[[nodiscard]] Tensor matrix_norm(const Operand& x, MatrixNorm norm = MatrixNorm::frobenius);
/// The same of the matrices whose rows lie along axes[0] and columns along axes[1]. Throws ShapeError unless these are
/// two axes.
///   matrix_norm(x, MatrixNorm::nuclear, {0, 1})
[[nodiscard]] Tensor matrix_norm(const Operand& x, MatrixNorm norm, const Ints& axes, KeepDim keepdim = false);
/// matrix_norm(x) * matrix_norm(inverse(x)); for `two` the quotient of the largest and the least singular value.
/// Throws ShapeError for matrices without elements.
[[nodiscard]] Tensor cond(const Operand& x, MatrixNorm norm = MatrixNorm::two);

/// @cond
#define ORIEL_OR(value)
ORIEL_LINEAR_ALGEBRA_METHODS(ORIEL_METHOD_BODY)
#undef ORIEL_OR
/// @endcond

}  // namespace oriel
