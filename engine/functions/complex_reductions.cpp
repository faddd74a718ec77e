// Sums and products of complex numbers over axes, along an axis, and of two tensors.
#include <span>
#include <vector>

#include "formula/complex_value.hpp"
#include "oriel/complex.hpp"
#include "oriel/products.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scan.hpp"

namespace oriel {

using api::Call;
using api::ComplexValue;
using api::Op;
using api::Value;

namespace {

/// The products along the last axis, which has `n` numbers, as an axis of one. Halves are multiplied, so that the error
/// grows with the logarithm of n.
ComplexValue product_along_last(ComplexValue z, std::int64_t n) {
  const std::size_t last = z.re.shape().size() - 1;
  if (n == 0) return {z.re.reduce(Op::Prod, {last}), z.im.reduce(Op::Sum, {last})};
  const auto part = [last](const ComplexValue& v, std::int64_t from, std::int64_t to) {
    return ComplexValue{v.re.shrink(last, from, to), v.im.shrink(last, from, to)};
  };
  std::vector<ComplexValue> single;
  for (; n > 1; n /= 2) {
    if (n % 2 != 0) single.push_back(part(z, n - 1, n));
    z = part(z, 0, n / 2) * part(z, n / 2, n / 2 * 2);
  }
  for (const ComplexValue& one : single) z = z * one;
  return z;
}

}  // namespace

Complex sum(const ComplexArgument& z, const Axes& axes, KeepDim keepdim) {
  base::need<base::kComplex>("sum");
  return ComplexAccess::made(sum(ComplexAccess::real(z), axes, keepdim), sum(ComplexAccess::imag(z), axes, keepdim));
}
Complex mean(const ComplexArgument& z, const Axes& axes, KeepDim keepdim) {
  base::need<base::kComplex>("mean");
  return ComplexAccess::made(mean(ComplexAccess::real(z), axes, keepdim), mean(ComplexAccess::imag(z), axes, keepdim));
}

Complex prod(const ComplexArgument& z, const Axes& axes, KeepDim keepdim) {
  base::need<base::kComplex>("prod");
  return api::of_one("prod", z, [&](const ComplexValue& v) {
    const Shape& shape = v.re.shape();
    const Ints reduced = v.re.call().axes(axes, shape.size());
    Ints order;
    Shape rows, out;
    std::size_t next = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool gone = next < reduced.size() && reduced[next] == SymInt(d);
      if (gone) {
        ++next;
        if (keepdim) out.push_back(1);
      } else {
        order.push_back(d);
        rows.push_back(shape[d]);
        out.push_back(shape[d]);
      }
    }
    order.insert(order.end(), reduced.begin(), reduced.end());
    const SymInt n = v.re.call().count(shape, reduced);
    rows.push_back(n);
    const auto flat = [&](const Value& part) { return part.permute(order).reshape(rows); };
    const ComplexValue all = product_along_last({flat(v.re), flat(v.im)}, n.value());
    return ComplexValue{all.re.reshape(out), all.im.reshape(out)}.complex();
  });
}

Complex cumsum(const ComplexArgument& z, std::int64_t axis) {
  base::need<base::kComplex>("cumsum");
  return ComplexAccess::made(cumsum(ComplexAccess::real(z), axis), cumsum(ComplexAccess::imag(z), axis));
}

Complex cumprod(const ComplexArgument& z, std::int64_t axis) {
  base::need<base::kComplex>("cumprod");
  const Call call("cumprod", ComplexAccess::real(z));
  const Complex& numbers = ComplexAccess::of(z);
  const Ints along = call.axes(axis, numbers.rank());
  if (along.empty()) return +z;  // without axes
  const Combination product = [](std::span<const Tensor> a, std::span<const Tensor> b) {
    return std::vector<Tensor>{a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
  };
  const std::vector<Tensor> parts = associative_scan(product, {numbers.real(), numbers.imag()}, along[0].value());
  return ComplexAccess::made(parts[0], parts[1]);
}

#define ORIEL_COMPLEX_PRODUCT(name, a, b, ...) \
  api::bilinear(a, b, [&](const Operand& u, const Operand& v) { return name(u, v __VA_OPT__(, ) __VA_ARGS__); })

Complex matmul(const ComplexArgument& a, const ComplexOperand& b) {
  return ORIEL_COMPLEX_PRODUCT(matmul, ComplexAccess::operand(a), b);
}
Complex matmul(const Operand& a, const ComplexArgument& b) {
  return ORIEL_COMPLEX_PRODUCT(matmul, a, ComplexAccess::operand(b));
}
Complex tensordot(const ComplexArgument& a, const ComplexOperand& b, std::int64_t count) {
  return ORIEL_COMPLEX_PRODUCT(tensordot, ComplexAccess::operand(a), b, count);
}
Complex tensordot(const ComplexArgument& a, const ComplexOperand& b, const Ints& axes_a, const Ints& axes_b) {
  return ORIEL_COMPLEX_PRODUCT(tensordot, ComplexAccess::operand(a), b, axes_a, axes_b);
}
Complex outer(const ComplexArgument& x, const ComplexOperand& y) {
  return ORIEL_COMPLEX_PRODUCT(outer, ComplexAccess::operand(x), y);
}
Complex vdot(const ComplexArgument& x, const ComplexOperand& y) {
  const Complex conjugate = conj(x);
  return ORIEL_COMPLEX_PRODUCT(dot, ComplexOperand(conjugate, ComplexAccess::site(x)), y);
}
#undef ORIEL_COMPLEX_PRODUCT

}  // namespace oriel
