// Formulas over nodes, so that a composition reads as what it computes.
#pragma once

#include <span>
#include <utility>

#include "formula/call.hpp"
#include "oriel/error.hpp"

namespace oriel::api {

/// A node, and the call for which operators build on it. Values of one dtype broadcast. A number takes the dtype of the
/// value beside it. The call must outlive the value.
class Value {
 public:
  Value(const Call& call, NodePtr node) : call_(&call), node_(std::move(node)) {}

  const Call& call() const noexcept { return *call_; }
  const NodePtr& node() const noexcept { return node_; }
  const Shape& shape() const noexcept { return node_->shape; }
  DType dtype() const noexcept { return node_->dtype; }
  Device device() const noexcept { return node_->device; }

  /// `number` in the dtype and shape of this value.
  Value like(double number) const { return {*call_, call_->like(node_, number)}; }
  Value to(DType dtype) const { return {*call_, call_->cast(node_, dtype)}; }
  Value unary(graph::UsedOp op) const { return {*call_, call_->unary(op, node_)}; }
  Value binary(graph::UsedOp op, const Value& other) const { return {*call_, call_->binary(op, node_, other.node_)}; }
  Value binary(graph::UsedOp op, double number) const { return {*call_, call_->binary(op, node_, number)}; }
  Value binary(graph::UsedOp op, SymInt size) const { return {*call_, call_->binary(op, node_, size)}; }

  Value reshape(const Shape& shape) const { return {*call_, call_->reshape(node_, shape)}; }
  Value permute(const Ints& order) const { return {*call_, call_->permute(node_, order)}; }
  Value broadcast(const Shape& shape) const { return {*call_, call_->broadcast(node_, shape)}; }
  Value shrink(const Ranges& ranges) const { return {*call_, call_->shrink(node_, ranges)}; }
  /// One axis cut to [lo, hi).
  Value shrink(std::size_t axis, SymInt lo, SymInt hi) const {
    Ranges ranges = whole(shape());
    ranges[axis] = {lo, hi};
    return shrink(ranges);
  }
  /// Reduced over `axes` (ascending), which keep extent 1.
  Value reduce(graph::UsedOp op, const Ints& axes) const { return {*call_, call_->reduce(op, node_, axes)}; }
  Value drop(const Ints& axes) const { return {*call_, call_->drop(node_, axes)}; }
  Tensor tensor() const { return Access::tensor(node_); }

 private:
  const Call* call_;
  NodePtr node_;
};

// clang-format off
inline Value operator+(const Value& a, const Value& b) { return a.binary(Op::Add, b); }
inline Value operator-(const Value& a, const Value& b) { return a.binary(Op::Sub, b); }
inline Value operator*(const Value& a, const Value& b) { return a.binary(Op::Mul, b); }
inline Value operator/(const Value& a, const Value& b) { return a.binary(Op::Div, b); }
inline Value operator+(const Value& a, double b) { return a.binary(Op::Add, b); }
inline Value operator-(const Value& a, double b) { return a.binary(Op::Sub, b); }
inline Value operator*(const Value& a, double b) { return a.binary(Op::Mul, b); }
inline Value operator/(const Value& a, double b) { return a.binary(Op::Div, b); }
inline Value operator-(double a, const Value& b) { return b.like(a).binary(Op::Sub, b); }
inline Value operator/(double a, const Value& b) { return b.like(a).binary(Op::Div, b); }
inline Value operator-(const Value& a) { return a.unary(Op::Neg); }
inline Value operator==(const Value& a, const Value& b) { return a.binary(Op::Eq, b); }
inline Value operator<(const Value& a, const Value& b) { return a.binary(Op::Lt, b); }
inline Value operator<=(const Value& a, const Value& b) { return a.binary(Op::Le, b); }
inline Value operator==(const Value& a, double b) { return a.binary(Op::Eq, b); }
inline Value operator<(const Value& a, double b) { return a.binary(Op::Lt, b); }
inline Value operator<=(const Value& a, double b) { return a.binary(Op::Le, b); }
inline Value operator>(const Value& a, double b) { return a.like(b).binary(Op::Lt, a); }
inline Value operator>=(const Value& a, double b) { return a.like(b).binary(Op::Le, a); }
inline Value operator&(const Value& a, const Value& b) { return a.binary(Op::And, b); }
inline Value operator|(const Value& a, const Value& b) { return a.binary(Op::Or, b); }
inline Value operator!(const Value& a) { return a.unary(Op::Not); }
inline Value min(const Value& a, const Value& b) { return a.binary(Op::Min, b); }
inline Value max(const Value& a, const Value& b) { return a.binary(Op::Max, b); }
inline Value min(const Value& a, double b) { return a.binary(Op::Min, b); }
inline Value max(const Value& a, double b) { return a.binary(Op::Max, b); }
inline Value abs(const Value& a) { return a.unary(Op::Abs); }
inline Value exp(const Value& a) { return a.unary(Op::Exp); }
inline Value exp2(const Value& a) { return a.unary(Op::Exp2); }
inline Value expm1(const Value& a) { return a.unary(Op::Expm1); }
inline Value log(const Value& a) { return a.unary(Op::Log); }
inline Value log1p(const Value& a) { return a.unary(Op::Log1p); }
inline Value sqrt(const Value& a) { return a.unary(Op::Sqrt); }
inline Value rsqrt(const Value& a) { return a.unary(Op::Rsqrt); }
inline Value sin(const Value& a) { return a.unary(Op::Sin); }
inline Value cos(const Value& a) { return a.unary(Op::Cos); }
inline Value sinh(const Value& a) { return a.unary(Op::Sinh); }
inline Value cosh(const Value& a) { return a.unary(Op::Cosh); }
inline Value sign(const Value& a) { return a.unary(Op::Sign); }
inline Value floor(const Value& a) { return a.unary(Op::Floor); }
inline Value pow(const Value& a, const Value& b) { return a.binary(Op::Pow, b); }
inline Value tanh(const Value& a) { return a.unary(Op::Tanh); }
inline Value trunc(const Value& a) { return a.unary(Op::Trunc); }
inline Value round(const Value& a) { return a.unary(Op::Round); }
inline Value isnan(const Value& a) { return a.unary(Op::IsNan); }
inline Value isinf(const Value& a) { return a.unary(Op::IsInf); }
// clang-format on
inline Value where(const Value& c, const Value& x, const Value& y) {
  return {c.call(), c.call().where(c.node(), x.node(), y.node())};
}
inline Value where(const Value& c, double x, const Value& y) { return where(c, y.like(x), y); }
inline Value where(const Value& c, const Value& x, double y) { return where(c, x, x.like(y)); }

/// The device of the first operand that is a tensor; the default device if none is.
inline Device device_of(std::initializer_list<const Operand*> operands) {
  for (const Operand* x : operands)
    if (const Tensor* const tensor = Access::tensor(*x)) return tensor->device();
  return default_device();
}

/// f of the operands promoted to one float dtype, computed in float32 or float64 and rounded once to that dtype.
/// Integers and bool are taken as float32.
template <class F, class... More>
Tensor composed(std::string_view name, F&& f, const Operand& first, const More&... more) {
  const Call call(name, first);
  const DType dtype = floating_dtype(common_dtype({&first, &more...}));
  const Device device = device_of({&first, &more...});
  const auto value = [&](const Operand& x) { return Value(call, call.node(x, wide_dtype(dtype), {}, device)); };
  return std::forward<F>(f)(value(first), value(more)...).to(dtype).tensor();
}

/// f(), which calls another public function. What that one throws begins with the name of this call.
template <class F>
auto renamed(const Call& call, F&& f) {
  try {
    return std::forward<F>(f)();
  } catch (const ShapeError& error) {
    throw ShapeError(call.operation(), error.reason());
  } catch (const DTypeError& error) {
    throw DTypeError(call.operation(), error.reason());
  } catch (const IndexError& error) {
    throw IndexError(call.operation(), error.reason());
  } catch (const OverflowError& error) {
    throw OverflowError(call.operation(), error.reason());
  } catch (const ArgumentError& error) {
    throw ArgumentError(call.operation(), error.reason());
  }
}

/// The axes [first, end).
inline Ints axes_from(std::size_t first, std::size_t end) {
  Ints axes;
  for (std::size_t d = first; d < end; ++d) axes.push_back(d);
  return axes;
}

/// Positions along axis d of `shape`, as int64, with extent 1 on all other axes.
inline Value positions(const Call& call, const Shape& shape, std::size_t d, Device device) {
  Shape along(shape.size(), SymInt(1));
  along[d] = shape[d];
  return {call, graph::iota(along, device, call.origin())};
}

}  // namespace oriel::api
