#include "oriel/close.hpp"

#include "formula/call.hpp"
#include "oriel/ops.hpp"
#include "oriel/reduce.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;

namespace {

NodePtr compare_close(const Call& call, const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  const DType common = api::common_dtype({&a, &b});
  const DType dtype = is_floating(common) ? api::wide_dtype(common) : DType::float64;
  const Device device = Access::tensor(a) != nullptr   ? Access::tensor(a)->device()
                        : Access::tensor(b) != nullptr ? Access::tensor(b)->device()
                                                       : default_device();
  const NodePtr x = call.node(a, dtype, {}, device);
  const NodePtr y = call.node(b, dtype, {}, device);
  const NodePtr size = call.unary(Op::Abs, y);
  const NodePtr bound = call.binary(Op::Add, call.binary(Op::Mul, size, rtol), atol);
  const NodePtr near = call.binary(Op::Le, call.unary(Op::Abs, call.binary(Op::Sub, x, y)), bound);
  // With an infinite y the tolerance is infinite, so everything would be close.
  const NodePtr infinite = call.unary(Op::IsInf, y);
  NodePtr out = call.binary(Op::And, near, call.unary(Op::Not, infinite));
  out = call.binary(Op::Or, std::move(out), call.binary(Op::Eq, x, y));
  if (!equal_nan) return out;
  return call.binary(Op::Or, std::move(out), call.binary(Op::And, call.unary(Op::IsNan, x), call.unary(Op::IsNan, y)));
}

}  // namespace

Tensor isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return Access::tensor(compare_close(Call("isclose", a), a, b, rtol, atol, equal_nan));
}

bool allclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return all(Access::tensor(compare_close(Call("allclose", a), a, b, rtol, atol, equal_nan))).item<bool>();
}

}  // namespace oriel
