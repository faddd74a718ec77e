// Writing elements: assign, the in-place operators, and = of a view.
#include <fmt/format.h>

#include <utility>

#include "formula/call.hpp"
#include "formula/complex_value.hpp"
#include "functions/scatter_parts.hpp"
#include "oriel/complex.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;

namespace {

// Writes the result into x. The result is released before the write, so that what it reads can be overwritten in place.
void write_result(Tensor& x, Tensor&& result, const graph::Origin& origin) {
  NodePtr value;
  {
    const Tensor gone = std::move(result);
    value = Access::node(gone);
  }
  Access::write(x, std::move(value), origin);
}

// x.assign(result), if x may store its dtype.
Tensor& in_place(std::string_view name, Tensor& x, Tensor&& result, const Operand& y) {
  const Call call(name, y);
  (void)api::in_place_dtype(x.dtype(), result.dtype(), name);  // throws if x cannot store the result
  if (result.shape() != x.shape()) {
    throw ShapeError(name,
                     fmt::format("the result has shape {} and is put into {}; only the other operand is broadcast",
                                 to_string(result.shape()), to_string(x.shape())));
  }
  write_result(x, std::move(result), {name, Access::site(y)});
  return x;
}

// The value of an expression that is about to be written.
Tensor& shown(std::string_view name, Tensor& x, const Operand& y) {
  const Call call(name, y);
  Access::check_shows_writes(x, name);
  return x;
}

}  // namespace

Tensor& Tensor::assign(const Operand& value) & {
  const Call call("assign", value);
  NodePtr node = api::written_value(call, value, dtype(), device());
  Access::write(*this, std::move(node), call.origin());
  return *this;
}

Tensor& Tensor::assign_where(const Operand& mask, const Operand& value) & {
  const Call call("assign_where", value);
  write_result(*this, oriel::masked_fill(Operand(*this, call.origin().site), mask, value), call.origin());
  return *this;
}

Tensor& Tensor::assign_at(const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) & {
  const Call call("assign_at", values);
  const Operand self(*this, call.origin().site);
  write_result(*this, api::put_at(call, self, index, values, axis, bounds), call.origin());
  return *this;
}

Tensor& Tensor::add_at(const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) & {
  const Call call("add_at", values);
  const Operand self(*this, call.origin().site);
  write_result(*this, api::added_at(call, self, index, values, axis, bounds), call.origin());
  return *this;
}

Tensor Tensor::assign(const Operand& value) && { return shown("assign", *this, value).assign(value); }
// NOLINTNEXTLINE(misc-unconventional-assign-operator): the tensor written, which may be a part of a view
Tensor Tensor::operator=(const Operand& value) && { return shown("assign", *this, value).assign(value); }
Tensor Tensor::assign_where(const Operand& mask, const Operand& value) && {
  return shown("assign_where", *this, value).assign_where(mask, value);
}
Tensor Tensor::assign_at(const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) && {
  return shown("assign_at", *this, values).assign_at(index, values, axis, bounds);
}
Tensor Tensor::add_at(const Tensor& index, const Operand& values, std::int64_t axis, Bounds bounds) && {
  return shown("add_at", *this, values).add_at(index, values, axis, bounds);
}

#define ORIEL_IN_PLACE(op, name)                                   \
  Tensor& operator op##=(Tensor& x, const Operand& y) {            \
    return in_place(name, x, Operand(x, Access::site(y)) op y, y); \
  }                                                                \
  Tensor operator op##=(Tensor&& x, const Operand& y) { return shown(name, x, y) op## = y; }
ORIEL_IN_PLACE(+, "add")
ORIEL_IN_PLACE(-, "sub")
ORIEL_IN_PLACE(*, "mul")
ORIEL_IN_PLACE(/, "div")
ORIEL_IN_PLACE(%, "remainder")
ORIEL_IN_PLACE(&, "bitwise_and")
ORIEL_IN_PLACE(|, "bitwise_or")
ORIEL_IN_PLACE(^, "bitwise_xor")
ORIEL_IN_PLACE(<<, "left_shift")
ORIEL_IN_PLACE(>>, "right_shift")
#undef ORIEL_IN_PLACE

const Complex& Complex::assign(const ComplexOperand& value) const {
  // Both parts of the value are taken before the first write, which may change what the second one reads.
  const Operand &re = ComplexAccess::real(value), &im = ComplexAccess::imag(value);
  const Site site = Access::site(re);
  const Call call("assign", site);
  const auto taken = [&](const Operand& x) { return Access::tensor(call.node(x, real_.dtype(), {}, device())); };
  const Tensor a = taken(re), b = taken(im);
  Tensor to_real = real_, to_imag = imag_;
  to_real.assign(Operand(a, site));
  to_imag.assign(Operand(b, site));
  return *this;
}

}  // namespace oriel
