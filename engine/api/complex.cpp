// The class Complex: construction, reading, movement.
#include "oriel/complex.hpp"

#include <fmt/format.h>

#include <ostream>

#include "formula/complex_value.hpp"
#include "graph/movements.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::Value;

namespace {

const char* complex_name(DType part) { return part == DType::float64 ? "complex128" : "complex64"; }

template <class F>
Complex of_each(std::span<const Complex> numbers, F&& f) {
  std::vector<Tensor> re, im;
  for (const Complex& z : numbers) {
    re.push_back(z.real());
    im.push_back(z.imag());
  }
  return ComplexAccess::made(f(re), f(im));
}

}  // namespace

std::string to_string(ComplexDType dtype) { return complex_name(part_dtype(dtype)); }
std::ostream& operator<<(std::ostream& out, ComplexDType dtype) { return out << to_string(dtype); }

Complex::Complex(const Operand& re, const Operand& im) {
  const Call call("complex", re);
  const DType dtype = api::wide_dtype(api::floating_dtype(api::common_dtype({&re, &im})));
  const Device device = api::device_of({&re, &im});
  const auto value = [&](const Operand& x) { return Value(call, call.node(x, dtype, {}, device)); };
  const Value a = value(re), b = value(im);
  const Shape shape = graph::broadcast_shapes(a.shape(), b.shape(), call.origin());
  real_ = a.broadcast(shape).tensor();
  imag_ = b.broadcast(shape).tensor();
}

Complex Complex::of_parts(const Tensor& re, const Tensor& im) {
  if (re.shape() != im.shape() || re.dtype() != im.dtype() ||
      (re.dtype() != DType::float32 && re.dtype() != DType::float64)) {
    throw ArgumentError(
        "each_part",
        fmt::format("the function gave {} and {}; it must give float32 or float64 of one shape", re.str(), im.str()));
  }
  return {Parts(), re, im};
}

Complex Complex::of_pairs(const Tensor& pairs, const char* operation, Site site) {
  const detail::CallSite call(site);
  if (pairs.dtype() != DType::float32 && pairs.dtype() != DType::float64) {
    throw DTypeError(operation,
                     fmt::format("{} holds no pairs of float32 or float64; convert it with to(DType)", pairs.str()));
  }
  if (pairs.rank() == 0 || pairs.size(-1) != 2) {
    throw ShapeError(operation, fmt::format("{} has no last axis of 2 (real and imaginary part); give (.., 2)",
                                            to_string(pairs.shape())));
  }
  return {Parts(), pairs.select(-1, 0, site), pairs.select(-1, 1, site)};
}

void Complex::check_count(std::size_t count, const Shape& shape, Site site) {
  const detail::CallSite call(site);
  if (oriel::numel(shape, "from") != count) {
    throw ArgumentError("from", fmt::format("{} numbers for shape {}, which has {} elements", count, to_string(shape),
                                            to_string(oriel::numel(shape))));
  }
}

std::string Complex::str() const {
  return fmt::format("{} {} on {}", complex_name(real_.dtype()), to_string(shape()), device().str());
}

void Complex::check_readable(DType part, const char* operation) const {
  if (part == real_.dtype()) return;
  throw DTypeError(operation, fmt::format("{} is not read as {}; read std::complex<{}>, or convert it with "
                                          "to(ComplexDType::{})",
                                          str(), complex_name(part),
                                          real_.dtype() == DType::float64 ? "double" : "float", complex_name(part)));
}

void Complex::check_one() const {
  if (real_.numel() != 1)
    throw ShapeError("item", fmt::format("{} has not one element; select one", to_string(shape())));
}

void Complex::read(void* out, const char* /*operation*/) const {
  if (real_.numel() == 0) return;
  const Tensor pairs = stack({real_, imag_}, -1, Site::unknown());
  if (pairs.dtype() == DType::float64)
    pairs.copy_to(static_cast<double*>(out), Site::unknown());
  else
    pairs.copy_to(static_cast<float*>(out), Site::unknown());
}

const Complex& Complex::realize(Site site) const {
  // The parts of a transform are views of one value, which is computed without a copy of each part.
  const graph::NodePtr whole = graph::below_movements(Access::node(real_));
  if (whole == graph::below_movements(Access::node(imag_)) &&
      sym::or_false(oriel::numel(whole->shape) == real_.numel() * 2))
    Access::tensor(whole).realize(site);
  else
    oriel::realize({real_, imag_}, site);
  return *this;
}

Complex Complex::to(ComplexDType dtype, Site site) const {
  return {Parts(), real_.to(part_dtype(dtype), site), imag_.to(part_dtype(dtype), site)};
}
Complex Complex::to(Device device, Site site) const {
  return {Parts(), real_.to(device, site), imag_.to(device, site)};
}

Complex view_as_complex(const Tensor& x, Site site) { return ComplexAccess::of_pairs(x, "view_as_complex", site); }

Tensor as_pairs(const ComplexArgument& z) {
  const Complex& numbers = ComplexAccess::of(z);
  return stack({numbers.real(), numbers.imag()}, -1, ComplexAccess::site(z));
}

Tensor real(const ComplexArgument& z) { return ComplexAccess::of(z).real(); }
Tensor imag(const ComplexArgument& z) { return ComplexAccess::of(z).imag(); }

template <std::same_as<Complex> T>
Complex concat(std::type_identity_t<ListOf<T>> numbers, std::int64_t axis, Site site) {
  return of_each(numbers, [&](std::span<const Tensor> parts) { return concat(parts, axis, site); });
}
template Complex concat<Complex>(ListOf<Complex>, std::int64_t, Site);
template <std::same_as<Complex> T>
Complex stack(std::type_identity_t<ListOf<T>> numbers, std::int64_t axis, Site site) {
  return of_each(numbers, [&](std::span<const Tensor> parts) { return stack(parts, axis, site); });
}
template Complex stack<Complex>(ListOf<Complex>, std::int64_t, Site);
Complex pad(const ComplexArgument& z, const Ranges& before_after) {
  return ComplexAccess::made(pad(ComplexAccess::real(z), before_after), pad(ComplexAccess::imag(z), before_after));
}
Complex roll(const ComplexArgument& z, std::int64_t shift, std::int64_t axis) {
  return ComplexAccess::made(roll(ComplexAccess::real(z), shift, axis), roll(ComplexAccess::imag(z), shift, axis));
}

}  // namespace oriel
