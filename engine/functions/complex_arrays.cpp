// Reads, writes, orders, products and linear algebra of complex numbers, by the functions of their parts.
#include <fmt/format.h>

#include <bit>
#include <vector>

#include "formula/complex_value.hpp"
#include "oriel/complex.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/fft.hpp"
#include "oriel/linalg.hpp"
#include "oriel/movement.hpp"
#include "oriel/nonzero.hpp"
#include "oriel/products.hpp"
#include "oriel/scatter.hpp"

namespace oriel {

using api::Call;

namespace {

/// f of the real and of the imaginary parts of a number and of what is written into it.
template <class F>
Complex written(const char* name, const ComplexArgument& z, const ComplexOperand& values, F&& f) {
  base::need<base::kComplex>(name);
  return ComplexAccess::made(f(ComplexAccess::real(z), ComplexAccess::real(values)),
                             f(ComplexAccess::imag(z), ComplexAccess::imag(values)));
}

/// The real matrix that makes of (re, im), one below the other, what the complex one makes of re + im i.
Tensor as_real_matrix(const Tensor& re, const Tensor& im) {
  return concat({concat({re, -im}, -1), concat({im, re}, -1)}, -2);
}

/// The halves of an axis, which were joined.
Complex from_halves(const Tensor& joined, std::int64_t axis) {
  const SymInt n = joined.size(axis) / 2;
  return ComplexAccess::made(joined.shrink({{0, n}}, axis) + 0, joined.shrink({{n, n * 2}}, axis) + 0);
}

/// Each of n numbers comes twice.
Tensor every_second(const Tensor& x) {
  Ints steps(x.rank(), SymInt(1));
  steps.back() = 2;
  return every(x, steps) + 0;
}

}  // namespace

Tensor imag(const Tensor& x, Site site) { return zeros_like(Operand(x, site)); }

Complex take(const ComplexArgument& z, const Tensor& index, std::int64_t axis, Bounds bounds) {
  base::need<base::kComplex>("take");
  return ComplexAccess::made(take(ComplexAccess::real(z), index, axis, bounds),
                             take(ComplexAccess::imag(z), index, axis, bounds));
}
Complex gather(const ComplexArgument& z, const Tensor& index, std::int64_t axis, Bounds bounds) {
  base::need<base::kComplex>("gather");
  return ComplexAccess::made(gather(ComplexAccess::real(z), index, axis, bounds),
                             gather(ComplexAccess::imag(z), index, axis, bounds));
}

#define ORIEL_COMPLEX_WRITE(name)                                                                                    \
  Complex name(const ComplexArgument& z, const Tensor& index, const ComplexOperand& values, std::int64_t axis,       \
               Bounds bounds) {                                                                                      \
    return written(#name, z, values,                                                                                 \
                   [&](const Operand& into, const Operand& part) { return name(into, index, part, axis, bounds); }); \
  }
ORIEL_COMPLEX_WRITE(put)
ORIEL_COMPLEX_WRITE(put_add)
ORIEL_COMPLEX_WRITE(scatter)
ORIEL_COMPLEX_WRITE(scatter_add)
#undef ORIEL_COMPLEX_WRITE

Complex dot(const ComplexArgument& x, const ComplexOperand& y) {
  base::need<base::kComplex>("dot");
  return api::bilinear(ComplexAccess::operand(x), y, [](const Operand& u, const Operand& v) { return dot(u, v); });
}

#define ORIEL_COMPLEX_CONVOLUTION(name)                                                         \
  Complex name(const ComplexArgument& x, const ComplexOperand& w, const ConvOptions& options) { \
    base::need<base::kComplex>(#name);                                                          \
    const auto parts = [&](const Operand& u, const Operand& v) { return name(u, v, options); }; \
    return api::bilinear(ComplexAccess::operand(x), w, parts);                                  \
  }
ORIEL_COMPLEX_CONVOLUTION(conv1d)
ORIEL_COMPLEX_CONVOLUTION(conv2d)
ORIEL_COMPLEX_CONVOLUTION(conv3d)
#undef ORIEL_COMPLEX_CONVOLUTION

template <std::same_as<Complex> T>
Complex einsum(std::string_view equation, std::type_identity_t<ListOf<T>> numbers, Site site) {
  base::need<base::kComplex>("einsum");
  const Call call("einsum", site);
  const std::size_t count = numbers.size();
  if (count == 0 || count > 6)
    throw ArgumentError("einsum", fmt::format("{} complex operands; it takes 1 to 6", count));
  // Of the operands in a set the imaginary parts: i to the power of their number.
  Tensor sums[2];
  for (unsigned set = 0; set < 1U << count; ++set) {
    std::vector<Tensor> parts;
    for (std::size_t k = 0; k < count; ++k)
      parts.push_back((set >> k & 1) != 0 ? numbers[k].imag() : numbers[k].real());
    const int power = std::popcount(set);
    const Tensor term = einsum(equation, ListOf<Tensor>(parts), site);
    Tensor& sum = sums[power % 2];
    if (power < 2)
      sum = set < 2 ? term : sum + term;  // the first of each
    else
      sum = power % 4 < 2 ? sum + term : sum - term;
  }
  return ComplexAccess::made(sums[0], sums[1]);
}
template Complex einsum<Complex>(std::string_view, ListOf<Complex>, Site);

Complex sort(const ComplexArgument& z, std::int64_t axis) {
  base::need<base::kComplex>("sort");
  const Complex& numbers = ComplexAccess::of(z);
  const Call call("sort", ComplexAccess::site(z));
  if (numbers.rank() == 0) return +numbers;
  const Tensor order = lexsort({numbers.imag(), numbers.real()}, axis, ComplexAccess::site(z));
  return gather(z, order, axis, Bounds::zero);
}

Complex unique(const ComplexArgument& z) {
  base::need<base::kComplex>("unique");
  const Tensor pairs = as_pairs(z).reshape({-1, 2}, ComplexAccess::site(z));
  const Tensor distinct = unique(Operand(pairs, ComplexAccess::site(z)), 0);
  return ComplexAccess::made(distinct.select(1, 0) + 0, distinct.select(1, 1) + 0);
}

Complex solve(const ComplexArgument& x, const ComplexOperand& b) {
  base::need<base::kComplex>("solve");
  const Call call("solve", ComplexAccess::site(x));
  const Complex &a = ComplexAccess::of(x), right(ComplexAccess::real(b), ComplexAccess::imag(b));
  const std::int64_t axis = right.rank() == 1 ? -1 : -2;
  const Tensor matrix = as_real_matrix(a.real(), a.imag());
  return from_halves(solve(matrix, concat({right.real(), right.imag()}, axis)), axis);
}
Complex solve(const Operand& x, const ComplexArgument& b) {
  base::need<base::kComplex>("solve");
  return ComplexAccess::made(solve(x, ComplexAccess::real(b)), solve(x, ComplexAccess::imag(b)));
}

Complex inverse(const ComplexArgument& z) {
  base::need<base::kComplex>("inverse");
  const Call call("inverse", ComplexAccess::site(z));
  const Complex& a = ComplexAccess::of(z);
  const Tensor both = inverse(as_real_matrix(a.real(), a.imag()));
  const SymInt n = both.size(-1) / 2;
  return from_halves(both.shrink({{0, n}}, -1), -2);
}

Tensor eigvalsh(const ComplexArgument& x) {
  base::need<base::kComplex>("eigvalsh");
  const Call call("eigvalsh", ComplexAccess::site(x));
  const Complex& a = ComplexAccess::of(x);
  const Tensor below = tril(a.imag(), -1);
  return every_second(eigvalsh(as_real_matrix(a.real(), below - below.transpose())));
}

Tensor svdvals(const ComplexArgument& x) {
  base::need<base::kComplex>("svdvals");
  const Call call("svdvals", ComplexAccess::site(x));
  const Complex& a = ComplexAccess::of(x);
  return every_second(svdvals(as_real_matrix(a.real(), a.imag())));
}

}  // namespace oriel
