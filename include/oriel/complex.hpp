// Complex numbers: a value of two tensors, the real and the imaginary parts. Every function is a composition of the
// functions of tensors on the parts, so complex work is lazy, fuses with other work, runs on every device, goes into
// and out of captured functions (function.hpp) and files of them, and is exported.
//
// The parts are float32 (complex64) or float64 (complex128). Other operands are promoted as in ops.hpp: a float64
// tensor with axes makes complex128 of complex64, a C++ number does not. Halves, integers and bool count as float32. A
// real operand is taken as real, not as a complex number with the imaginary part 0: z * x multiplies both parts by x,
// so that no infinity turns into NaN on the way.
//
// std::complex<float> and std::complex<double> are taken and given wherever the program includes <complex>. Errors are
// those of the functions of tensors: ShapeError for shapes that do not fit, DeviceError for several devices.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/axes.hpp"
#include "oriel/print_options.hpp"
#include "oriel/settings.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// How NumPy and PyTorch call the dtypes: pairs of float32 and of float64.
enum class ComplexDType : std::uint8_t { complex64, complex128 };
/// "complex64" or "complex128".
std::string to_string(ComplexDType dtype);
std::ostream& operator<<(std::ostream& out, ComplexDType dtype);
/// The dtype of a part: float32 or float64.
constexpr DType part_dtype(ComplexDType dtype) noexcept {
  return dtype == ComplexDType::complex64 ? DType::float32 : DType::float64;
}

namespace detail {
/// std::complex<float> and std::complex<double>, which lie in memory as two numbers.
template <class T>
concept ComplexValue = requires(const T& z) {
  typename T::value_type;
  { z.real() } -> std::same_as<typename T::value_type>;
  { z.imag() } -> std::same_as<typename T::value_type>;
}
&&(std::same_as<typename T::value_type, float> || std::same_as<typename T::value_type, double>)&&sizeof(T) ==
    2 * sizeof(typename T::value_type);
}  // namespace detail

class ComplexArgument;
class ComplexOperand;

/// An array of complex numbers. Like a Tensor it names its elements: copies and views of it name the same, and so do
/// real() and imag(), so that a write through them is seen by all. The results of functions have elements of their own.
/// The parts lie in memory one behind the other, or alternately if the elements were given as pairs (from,
/// view_as_complex, read_npy_complex). Thread safety: as for a Tensor.
///
///   const auto z = Complex::of<std::complex<float>>({{1, 2}, {0, -1}});  // 1+2j, -1j
///   (z * conj(z)).real().to_vector<float>();                             // {5, 1}
class Complex {
 public:
  /// complex64 of shape (0).
  Complex() = default;
  /// The numbers re + im i, promoted and broadcast (torch.complex). Their elements are their own.
  explicit Complex(const Operand& re, const Operand& im = 0);

  /// A copy of the elements, row-major. Throws ArgumentError unless their number is the shape's.
  ///   auto z = Complex::from(std::vector<std::complex<float>>{1, {0, 1}}, {2});
  /// @{
  template <detail::ComplexValue T>
  [[nodiscard]] static Complex from(std::span<const T> data, const Shape& shape, Site site = Site::here()) {
    return of_numbers<typename T::value_type>(data.data(), data.size(), shape, site);
  }
  template <detail::ComplexValue T>
  [[nodiscard]] static Complex from(const std::vector<T>& data, const Shape& shape, Site site = Site::here()) {
    return from(std::span<const T>(data), shape, site);
  }
  template <detail::ComplexValue T>
  [[nodiscard]] static Complex from(const std::vector<T>& data, Site site = Site::here()) {
    return from(data, Shape{data.size()}, site);
  }
  template <detail::ComplexValue T>
  [[nodiscard]] static Complex of(std::initializer_list<T> data, Site site = Site::here()) {
    return from(std::span<const T>(std::data(data), data.size()), Shape{data.size()}, site);
  }
  /// @}

  /// The real and the imaginary parts, float32 or float64: z.real().assign(0) writes them.
  /// @{
  Tensor real() const noexcept { return real_; }
  Tensor imag() const noexcept { return imag_; }
  /// @}

  /// As of a Tensor, with the dtype of pairs.
  /// @{
  const Shape& shape() const noexcept { return real_.shape(); }
  ComplexDType dtype() const noexcept {
    return real_.dtype() == DType::float64 ? ComplexDType::complex128 : ComplexDType::complex64;
  }
  Device device() const noexcept { return real_.device(); }
  std::size_t rank() const noexcept { return real_.rank(); }
  SymInt numel() const { return real_.numel(); }
  SymInt size(std::int64_t axis) const { return real_.size(axis); }
  /// @}
  /// "complex64 (2, 3) on eigen". Prints no elements and runs no work.
  std::string str() const;

  /// A copy of the elements, row-major. Throws DTypeError unless T is the complex number of the dtype.
  ///   z.to_vector<std::complex<float>>();
  template <detail::ComplexValue T>
  [[nodiscard]] std::vector<T> to_vector(Site site = Site::here()) const {
    const detail::CallSite call(site);
    check_readable(dtype_of<typename T::value_type>, "to_vector");
    std::vector<T> out(real_.count());
    read(out.data(), "to_vector");
    return out;
  }
  /// The only element. Throws ShapeError unless there is exactly one, DTypeError as to_vector.
  template <detail::ComplexValue T>
  [[nodiscard]] T item(Site site = Site::here()) const {
    const detail::CallSite call(site);
    check_readable(dtype_of<typename T::value_type>, "item");
    check_one();
    T out{};
    read(&out, "item");
    return out;
  }
  /// Runs the pending work of both parts together, and keeps the elements. Parts that are views of one value, as those
  /// of a transform, stay views of it.
  const Complex& realize(Site site = Site::here()) const;

  /// The same numbers in the other precision, or on another device.
  /// @{
  [[nodiscard]] Complex to(ComplexDType dtype, Site site = Site::here()) const;
  [[nodiscard]] Complex to(Device device, Site site = Site::here()) const;
  /// @}

  /// Writes the numbers of `value`, broadcast to this shape, into the elements that this names, as Tensor::assign.
  const Complex& assign(const ComplexOperand& value) const;

  // clang-format off
#define ORIEL_COMPLEX_VIEW(result, name, parameters, ...) [[nodiscard]] Complex name parameters const { return Complex(Parts(), real_.name(__VA_ARGS__, site), imag_.name(__VA_ARGS__, site)); }
#define ORIEL_OR(value) = value
  /// As of a Tensor: views of both parts, which can be written through.
  /// @{
  ORIEL_VIEW_METHODS(ORIEL_COMPLEX_VIEW) ORIEL_COMPLEX_VIEW(Complex, at, (const Ints& index, Site site = Site::here()), index)
  [[nodiscard]] Complex operator[](const detail::Position& position) const { return Complex(Parts(), real_[position], imag_[position]); }
  /// @}
#undef ORIEL_OR
#undef ORIEL_COMPLEX_VIEW
  // clang-format on

  /// f of the real and of the imaginary parts: any movement, and every function f with f(x + y) = f(x) + f(y), can be
  /// applied in this way. Both results must have one shape, and a dtype that a part may have; else ArgumentError.
  ///   z.each_part([](const Tensor& x) { return rot90(x); });
  template <std::invocable<const Tensor&> F>
  [[nodiscard]] Complex each_part(F&& f) const {
    return of_parts(f(real_), f(imag_));
  }

  /// Captured functions take and give the parts (function.hpp).
  /// @{
  friend auto oriel_members(Complex& z) { return std::pair<Tensor&, Tensor&>(z.real_, z.imag_); }
  friend auto oriel_members(const Complex& z) { return std::pair<const Tensor&, const Tensor&>(z.real_, z.imag_); }
  /// @}

 private:
  friend struct ComplexAccess;
  friend class ComplexOperand;
  struct Parts {};
  Complex(Parts /*tag*/, Tensor re, Tensor im) noexcept : real_(std::move(re)), imag_(std::move(im)) {}
  /// Checks them.
  static Complex of_parts(const Tensor& re, const Tensor& im);
  static Complex of_pairs(const Tensor& pairs, const char* operation, Site site);
  template <class T>
  static Complex of_numbers(const void* data, std::size_t count, const Shape& shape, Site site) {
    check_count(count, shape, site);
    Shape pairs = shape;
    pairs.push_back(2);
    return of_pairs(Tensor::from(std::span(static_cast<const T*>(data), 2 * count), pairs, site), "from", site);
  }
  static void check_count(std::size_t count, const Shape& shape, Site site);
  void check_readable(DType part, const char* operation) const;
  void check_one() const;
  void read(void* out, const char* operation) const;

  Tensor real_;
  Tensor imag_;
};

/// A Complex, and the line of the call. It must not outlive the call.
class ComplexArgument {
 public:
  /// The numbers themselves.
  ComplexArgument(const Complex& z, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : z_(&z), site_(site) {}

 private:
  friend struct ComplexAccess;
  const Complex* z_;
  Site site_;
};

/// What functions take beside a Complex: a Complex, a tensor or a number, real or complex. It must not outlive the
/// call.
class ComplexOperand {
 public:
  /// Complex numbers, or real ones.
  /// @{
  ComplexOperand(const Complex& z, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : real_(z.real_, site), imag_(z.imag_, site), is_real_(false) {}
  ComplexOperand(const Tensor& x, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : real_(x, site), imag_(0, site) {}
  template <class T>
  requires std::is_arithmetic_v<T> ComplexOperand(T x, Site site = Site::here())  // NOLINT(google-explicit-constructor)
  noexcept : real_(x, site), imag_(0, site) {}
  template <detail::ComplexValue T>
  ComplexOperand(const T& z, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : real_(z.real(), site), imag_(z.imag(), site), is_real_(false) {}
  ComplexOperand(const Operand& x) noexcept  // NOLINT(google-explicit-constructor)
      : real_(x), imag_(0, Site::unknown()) {}
  /// @}

 private:
  friend struct ComplexAccess;
  Operand real_;
  Operand imag_;
  bool is_real_ = true;
};

/// A complex number on the left of an operator.
class ComplexNumber {
 public:
  /// std::complex<float> or std::complex<double>.
  template <detail::ComplexValue T>
  ComplexNumber(const T& z, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : operand_(z, site) {}
  const ComplexOperand& operand() const noexcept { return operand_; }  ///< the same as an operand

 private:
  ComplexOperand operand_;
};

/// The numbers whose parts alternate along the last axis of x (.., 2), float32 or float64: a view of x
/// (torch.view_as_complex). Throws ShapeError for another last axis, DTypeError for another dtype.
[[nodiscard]] Complex view_as_complex(const Tensor& x, Site site = Site::here());
/// The parts along a new last axis (.., 2), in a new tensor (torch.view_as_real, which is a view).
[[nodiscard]] Tensor as_pairs(const ComplexArgument& z);
/// magnitude * (cos(angle) + sin(angle) i).
[[nodiscard]] Complex polar(const Operand& magnitude, const Operand& angle);

// NOLINTBEGIN(bugprone-macro-parentheses): types and operators
#define ORIEL_COMPLEX_OPERATOR(Result, op)                                             \
  [[nodiscard]] Result operator op(const ComplexArgument& a, const ComplexOperand& b); \
  [[nodiscard]] Result operator op(const Operand& a, const ComplexArgument& b);        \
  [[nodiscard]] Result operator op(const ComplexNumber& a, const ComplexArgument& b);
/// Arithmetic, and bool tensors that say whether both parts are equal. Division is Smith's: neither the square of the
/// magnitude nor its quotients overflow. z / 0 has the infinities and NaN of the parts divided by 0, as in NumPy.
/// @{
ORIEL_COMPLEX_OPERATOR(Complex, +)
ORIEL_COMPLEX_OPERATOR(Complex, -)
ORIEL_COMPLEX_OPERATOR(Complex, *)
ORIEL_COMPLEX_OPERATOR(Complex, /)
ORIEL_COMPLEX_OPERATOR(Tensor, ==)
ORIEL_COMPLEX_OPERATOR(Tensor, !=)
/// @}
#undef ORIEL_COMPLEX_OPERATOR
// NOLINTEND(bugprone-macro-parentheses)
[[nodiscard]] Complex operator-(const ComplexArgument& z);
[[nodiscard]] Complex operator+(const ComplexArgument& z);  ///< z itself, with elements of its own

/// z.assign(z op w).
/// @{
Complex& operator+=(Complex& z, const ComplexOperand& w);
Complex& operator-=(Complex& z, const ComplexOperand& w);
Complex& operator*=(Complex& z, const ComplexOperand& w);
Complex& operator/=(Complex& z, const ComplexOperand& w);
/// @}

// clang-format off
/// Of a tensor: itself, and zeros.
/// @{
[[nodiscard]] inline Tensor real(const Tensor& x) { return x; }
[[nodiscard]] inline Tensor conj(const Tensor& x) { return x; }
[[nodiscard]] Tensor imag(const Tensor& x, Site site = Site::here());
/// @}
// clang-format on
[[nodiscard]] Tensor real(const ComplexArgument& z);   ///< z.real(): a view
[[nodiscard]] Tensor imag(const ComplexArgument& z);   ///< z.imag(): a view
[[nodiscard]] Complex conj(const ComplexArgument& z);  ///< real - imag i
/// hypot(real, imag), without overflow on the way.
[[nodiscard]] Tensor abs(const ComplexArgument& z);
/// atan2(imag, real), in [-pi, pi].
[[nodiscard]] Tensor angle(const ComplexArgument& z);

#define ORIEL_COMPLEX_UNARY(name) [[nodiscard]] Complex name(const ComplexArgument& z);
// Functions with the principal branches and the special cases of C (ISO/IEC 9899, Annex G), but for the signs of zeros
// and NaN that it leaves open.

/// exp(real) * (cos(imag) + sin(imag) i). It overflows where exp(real) does.
[[nodiscard]] Complex exp(const ComplexArgument& z);
/// log(abs(z)) + angle(z) i: the branch cut is the negative real axis. Without overflow of abs(z). Where abs(z) is near
/// 1 the real part is log1p(abs(z)^2 - 1) / 2, which keeps the digits of the difference. -inf for 0.
[[nodiscard]] Complex log(const ComplexArgument& z);
/// The root with a real part >= 0, without overflow on the way.
[[nodiscard]] Complex sqrt(const ComplexArgument& z);
/// exp(b * log(a)). 1 where b is 0; 0 where a is 0 and b has a positive real part, else NaN there. An integer number b
/// of at most 64 in magnitude multiplies instead.
/// @{
[[nodiscard]] Complex pow(const ComplexArgument& a, const ComplexOperand& b);
[[nodiscard]] Complex pow(const Operand& a, const ComplexArgument& b);
/// @}
/// log(z) / log(2) and log(z) / log(10).
/// @{
// clang-format off
ORIEL_COMPLEX_UNARY(log2) ORIEL_COMPLEX_UNARY(log10)
    // clang-format on
    /// @}
    /// exp(z) - 1 and log(1 + z), without the loss of digits near 0.
    /// @{
    // clang-format off
ORIEL_COMPLEX_UNARY(expm1) ORIEL_COMPLEX_UNARY(log1p)
    // clang-format on
    /// @}
    /// Circular and hyperbolic functions. They overflow where the real ones do.
    /// @{
    // clang-format off
ORIEL_COMPLEX_UNARY(sin) ORIEL_COMPLEX_UNARY(cos) ORIEL_COMPLEX_UNARY(tan) ORIEL_COMPLEX_UNARY(sinh) ORIEL_COMPLEX_UNARY(cosh) ORIEL_COMPLEX_UNARY(tanh)
    // clang-format on
    /// @}
    /// Their inverses. The cuts of asin, acos and atanh are the real numbers beyond -1 and 1, those of asinh and atan
    /// the imaginary ones beyond -i and i, that of acosh the real numbers below 1. On a cut the sign of the zero
    /// chooses the side.
    /// @{
    // clang-format off
ORIEL_COMPLEX_UNARY(asin) ORIEL_COMPLEX_UNARY(acos) ORIEL_COMPLEX_UNARY(atan) ORIEL_COMPLEX_UNARY(asinh) ORIEL_COMPLEX_UNARY(acosh) ORIEL_COMPLEX_UNARY(atanh)
    // clang-format on
    /// @}
    /// z / abs(z), and 0 for 0; NaN for infinities (numpy.sign, torch.sgn).
    [[nodiscard]] Complex sign(const ComplexArgument& z);
/// Both parts to the nearest integer, ties to even.
[[nodiscard]] Complex round(const ComplexArgument& z);
/// z * z.
[[nodiscard]] Complex square(const ComplexArgument& z);
/// 1 / z.
[[nodiscard]] Complex reciprocal(const ComplexArgument& z);

[[nodiscard]] Tensor isnan(const ComplexArgument& z);     ///< bool: is a part NaN?
[[nodiscard]] Tensor isinf(const ComplexArgument& z);     ///< bool: is a part infinite?
[[nodiscard]] Tensor isfinite(const ComplexArgument& z);  ///< bool: are both parts finite?
/// bool: |a - b| <= atol + rtol * |b|, or equal parts, as isclose of tensors (close.hpp). allclose: of all elements.
[[nodiscard]] Tensor isclose(const ComplexArgument& a, const ComplexArgument& b, double rtol = 1e-5,
                             double atol = 1e-8);
bool allclose(const ComplexArgument& a, const ComplexArgument& b, double rtol = 1e-5, double atol = 1e-8);

/// Numbers of a where c is not 0, numbers of b elsewhere. At least one of them is a Complex.
/// @{
[[nodiscard]] Complex where(const Operand& c, const ComplexArgument& a, const ComplexOperand& b);
[[nodiscard]] Complex where(const Operand& c, const Operand& a, const ComplexArgument& b);
/// @}

/// As of tensors (reduce.hpp).
/// @{
[[nodiscard]] Complex sum(const ComplexArgument& z, const Axes& axes = {}, KeepDim keepdim = false);
[[nodiscard]] Complex mean(const ComplexArgument& z, const Axes& axes = {}, KeepDim keepdim = false);
/// @}
/// The product, and the sums and products along an axis. A captured function makes an entry for each extent that prod
/// and cumprod reduce or run along.
/// @{
[[nodiscard]] Complex prod(const ComplexArgument& z, const Axes& axes = {}, KeepDim keepdim = false);
[[nodiscard]] Complex cumsum(const ComplexArgument& z, std::int64_t axis);
[[nodiscard]] Complex cumprod(const ComplexArgument& z, std::int64_t axis);
/// @}
/// As matmul of tensors (reduce.hpp), by four products of real matrices, or two if one operand is real.
/// @{
[[nodiscard]] Complex matmul(const ComplexArgument& a, const ComplexOperand& b);
[[nodiscard]] Complex matmul(const Operand& a, const ComplexArgument& b);
/// @}
/// As of tensors (products.hpp), by as many products of real tensors. vdot conjugates x.
/// @{
[[nodiscard]] Complex tensordot(const ComplexArgument& a, const ComplexOperand& b, std::int64_t count = 2);
[[nodiscard]] Complex tensordot(const ComplexArgument& a, const ComplexOperand& b, const Ints& axes_a,
                                const Ints& axes_b);
[[nodiscard]] Complex outer(const ComplexArgument& x, const ComplexOperand& y);
[[nodiscard]] Complex vdot(const ComplexArgument& x, const ComplexOperand& y);
/// @}

/// As of tensors (movement.hpp).
/// @{
#define ORIEL_PARAMETERS(...) __VA_ARGS__
// clang-format off
#define ORIEL_COMPLEX_VIEW(result, name, parameters, ...) [[nodiscard]] inline Complex name(const Complex& z, ORIEL_PARAMETERS parameters) { return z.name(__VA_ARGS__, site); }
#define ORIEL_OR(value) = value
/// The functions of tensors of these names: views of both parts; reads and writes at positions (movement.hpp,
/// scatter.hpp), of both parts; dot without a conjugate.
/// @{
ORIEL_VIEW_METHODS(ORIEL_COMPLEX_VIEW)
[[nodiscard]] inline Complex broadcast_to(const Complex& z, const Shape& shape, Site site = Site::here()) { return z.expand(shape, site); }
[[nodiscard]] Complex take(const ComplexArgument& z, const Tensor& index, std::int64_t axis = 0, Bounds bounds = default_bounds()); [[nodiscard]] Complex gather(const ComplexArgument& z, const Tensor& index, std::int64_t axis, Bounds bounds = default_bounds());
[[nodiscard]] Complex put(const ComplexArgument& z, const Tensor& index, const ComplexOperand& values, std::int64_t axis = 0, Bounds bounds = default_bounds());
[[nodiscard]] Complex put_add(const ComplexArgument& z, const Tensor& index, const ComplexOperand& values, std::int64_t axis = 0, Bounds bounds = default_bounds());
[[nodiscard]] Complex scatter(const ComplexArgument& z, const Tensor& index, const ComplexOperand& values, std::int64_t axis, Bounds bounds = default_bounds());
[[nodiscard]] Complex scatter_add(const ComplexArgument& z, const Tensor& index, const ComplexOperand& values, std::int64_t axis, Bounds bounds = default_bounds());
[[nodiscard]] Complex dot(const ComplexArgument& x, const ComplexOperand& y);
/// @}
#undef ORIEL_OR
#undef ORIEL_COMPLEX_VIEW
#undef ORIEL_PARAMETERS
/// Ordered by the real parts, and where these are equal by the imaginary ones: sorted along an axis, and the distinct
/// numbers, as one axis. NaN come last.
/// @{
[[nodiscard]] Complex sort(const ComplexArgument& z, std::int64_t axis = -1);
ORIEL_COMPLEX_UNARY(unique)
/// @}
/// Linear algebra (linalg.hpp) on the real matrices of twice the size that do the same: solve, inverse; the eigenvalues
/// of Hermitian matrices, of which the lower triangle is read, and singular values.
/// @{
[[nodiscard]] Complex solve(const ComplexArgument& x, const ComplexOperand& b); [[nodiscard]] Complex solve(const Operand& x, const ComplexArgument& b);
ORIEL_COMPLEX_UNARY(inverse)
[[nodiscard]] Tensor eigvalsh(const ComplexArgument& x); [[nodiscard]] Tensor svdvals(const ComplexArgument& x);
/// @}
// clang-format on

// Templates, so that an empty list, or one of tensors, is one of tensors.
template <std::same_as<Complex> T = Complex>
[[nodiscard]] Complex concat(std::type_identity_t<ListOf<T>> numbers, std::int64_t axis = 0, Site site = Site::here());
template <std::same_as<Complex> T = Complex>
[[nodiscard]] Complex stack(std::type_identity_t<ListOf<T>> numbers, std::int64_t axis = 0, Site site = Site::here());
// clang-format off
/// einsum (products.hpp) of at most 6 operands, as sums of those of their parts. ArgumentError for more.
template <std::same_as<Complex> T = Complex> [[nodiscard]] Complex einsum(std::string_view equation, std::type_identity_t<ListOf<T>> numbers, Site site = Site::here());
// clang-format on
[[nodiscard]] Complex pad(const ComplexArgument& z, const Ranges& before_after);
[[nodiscard]] Complex roll(const ComplexArgument& z, std::int64_t shift, std::int64_t axis);
/// @}

/// The elements as NumPy prints them, "[1.+2.j 0.-1.j]"; see to_string of tensors (print.hpp).
std::string to_string(const Complex& z, const PrintOptions& options);
std::string to_string(const Complex& z);
std::ostream& operator<<(std::ostream& out, const Complex& z);

/// The array in a .npy file of dtype complex64 or complex128, as a view of the pairs that the file holds. Errors as
/// read_npy (npy.hpp), which reads files of real numbers.
[[nodiscard]] Complex read_npy_complex(const std::string& path, Site site = Site::here());
/// As write_npy of tensors.
void write_npy(const std::string& path, const Complex& array, Site site = Site::here());

}  // namespace oriel
