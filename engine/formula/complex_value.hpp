// Formulas of complex numbers over nodes, as value.hpp has them of real numbers.
#pragma once

#include <utility>

#include "base/parts.hpp"
#include "formula/value.hpp"
#include "oriel/complex.hpp"
#include "oriel/ops.hpp"

namespace oriel {

/// Access to the private parts of complex numbers and operands.
struct ComplexAccess {
  static Complex made(Tensor re, Tensor im) { return {Complex::Parts(), std::move(re), std::move(im)}; }
  static Complex of_pairs(const Tensor& pairs, const char* operation, Site site) {
    return Complex::of_pairs(pairs, operation, site);
  }
  static const Complex& of(const ComplexArgument& z) noexcept { return *z.z_; }
  static Site site(const ComplexArgument& z) noexcept { return z.site_; }
  static Operand real(const ComplexArgument& z) { return {z.z_->real_, z.site_}; }
  static Operand imag(const ComplexArgument& z) { return {z.z_->imag_, z.site_}; }
  static ComplexOperand operand(const ComplexArgument& z) { return {*z.z_, z.site_}; }
  static const Operand& real(const ComplexOperand& z) noexcept { return z.real_; }
  static const Operand& imag(const ComplexOperand& z) noexcept { return z.imag_; }
  static bool is_real(const ComplexOperand& z) noexcept { return z.is_real_; }
};

namespace api {

struct ComplexValue {
  Value re;
  Value im;

  Complex complex() const { return ComplexAccess::made(re.tensor(), im.tensor()); }
};

/// Of an operand: its parts, or only the real one.
struct ComplexTerm {
  Value re;
  Value im;
  bool real = false;
};

inline ComplexValue operator*(const ComplexValue& a, const ComplexValue& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// f of the operands in their common part dtype, for one call.
template <class F, class... More>
auto composed_complex(std::string_view name, F&& f, const ComplexOperand& first, const More&... more) {
  base::need<base::kComplex>(name);
  const auto real = [](const ComplexOperand& z) { return &ComplexAccess::real(z); };
  const Call call(name, *real(first));
  const DType dtype = wide_dtype(floating_dtype(common_dtype({real(first), real(more)...})));
  const Device device = device_of({real(first), real(more)...});
  const auto term = [&](const ComplexOperand& z) {
    const auto value = [&](const Operand& x) { return Value(call, call.node(x, dtype, {}, device)); };
    return ComplexTerm{value(ComplexAccess::real(z)), value(ComplexAccess::imag(z)), ComplexAccess::is_real(z)};
  };
  return std::forward<F>(f)(term(first), term(more)...);
}

/// f of the parts of one operand.
template <class F>
auto of_one(const char* name, const ComplexArgument& z, F&& f) {
  return composed_complex(
      name,
      [&](const ComplexTerm& x) {
        return f(ComplexValue{x.re, x.im});
      },
      ComplexAccess::operand(z));
}

/// A product that is linear in both operands, by `times` of their parts.
template <class F>
Complex bilinear(const ComplexOperand& a, const ComplexOperand& b, F&& times) {
  const Operand &ar = ComplexAccess::real(a), &ai = ComplexAccess::imag(a);
  const Operand &br = ComplexAccess::real(b), &bi = ComplexAccess::imag(b);
  const Tensor re = times(ar, br);
  if (ComplexAccess::is_real(b)) return ComplexAccess::made(re, times(ai, br));
  if (ComplexAccess::is_real(a)) return ComplexAccess::made(re, times(ar, bi));
  return ComplexAccess::made(re - times(ai, bi), times(ar, bi) + times(ai, br));
}

/// The formulas of log and exp (complex.hpp).
/// @{
ComplexValue logarithm(const ComplexValue& z);
ComplexValue exponential(const ComplexValue& z);
/// @}

}  // namespace api
}  // namespace oriel
