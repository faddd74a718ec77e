#include "graph/build.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/by_use.hpp"
#include "graph/layout.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

constexpr std::string_view accepted(DTypeRule rule) noexcept {
  switch (rule) {
    case DTypeRule::Numeric:
      return "integers and floats";
    case DTypeRule::Floating:
      return "floats";
    case DTypeRule::Integral:
      return "bool and integers";
    case DTypeRule::Integer:
      return "integers";
    case DTypeRule::Word:
      return "uint64";
    default:
      return "every dtype";
  }
}

void check_dtype(Op op, DType dtype, const Origin& origin) {
  if (ops::takes(op, dtype)) return;
  throw DTypeError(called(origin, op), fmt::format("takes {}, not {}", accepted(row(op).rule), oriel::name(dtype)));
}

DType result_dtype(Op op, DType operand) noexcept { return ops::gives_bool(op) ? DType::bool_ : operand; }

bool same_shape(const Shape& a, const Shape& b, std::string_view operation) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!sym::required(a[d] == b[d], operation)) return false;
  return true;
}

void check_same_shape(Op op, const Node& a, const Node& b, const Origin& origin) {
  if (known_same(a.shape, b.shape) || same_shape(a.shape, b.shape, stating(origin, op))) return;
  throw ShapeError(called(origin, op), fmt::format("shapes {} and {} differ; broadcast them first", to_string(a.shape),
                                                   to_string(b.shape)));
}

void check_same_dtype(Op op, const Node& a, const Node& b, const Origin& origin) {
  if (a.dtype == b.dtype) return;
  throw DTypeError(called(origin, op), fmt::format("dtypes {} and {} differ; cast them to one first",
                                                   oriel::name(a.dtype), oriel::name(b.dtype)));
}

void check_class(Op op, int arity, OpClass op_class) {
  if (row(op).arity == arity && row(op).op_class == op_class) return;
  throw InternalError("graph", fmt::format("{} is not an op of {} operands of this kind", name(op), arity));
}

// Refuses negative extents and counts beyond 2^63-1 where a shape first appears.
void check_shape(Op op, const Shape& shape, const Origin& origin) {
  check_extents(op, shape, origin);
  checked_numel(shape, called(origin, op).c_str());
}

}  // namespace

NodePtr constant(const Scalar& value, const Shape& shape, Device device, const Origin& origin) {
  check_shape(Op::Const, shape, origin);
  return make_leaf(Op::Const, value.dtype, shape, value, device, origin);
}

NodePtr size_constant(SymInt n, DType dtype, const Shape& shape, Device device, const Origin& origin) {
  if (!n.is_symbolic()) return constant(Scalar::of_size(dtype, n.value()), shape, device, origin);
  check_shape(Op::Const, shape, origin);
  return make_leaf(Op::Const, dtype, shape, Ints{n}, device, origin);
}

bool is_zero(const Node& constant) noexcept {
  const auto* const number = std::get_if<Scalar>(&constant.arg);
  return number != nullptr && number->is_zero();
}

bool known_same(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!identical(a[d], b[d]) && !sym::known(a[d] == b[d]).value_or(false)) return false;
  return true;
}

NodePtr laid_out_constant(NodePtr node, Layout layout) {
  auto* fresh = const_cast<Node*>(node.get());
  fresh->layout_class = layout.strides == contiguous_strides(layout.shape) ? LayoutClass::RowMajor : LayoutClass::Any;
  fresh->found.replace(found_layout(std::move(layout)));
  return node;
}

NodePtr iota(const Shape& shape, Device device, const Origin& origin) {
  check_shape(Op::Iota, shape, origin);
  return make_leaf(Op::Iota, DType::int64, shape, {}, device, origin);
}

NodePtr leaf(mem::BufferPtr buffer, DType dtype, const Shape& shape, const Origin& origin) {
  check_shape(Op::Buffer, shape, origin);
  if (!buffer) throw ArgumentError(called(origin, Op::Buffer), "the buffer is null");
  const SymInt bytes = numel(shape) * static_cast<std::int64_t>(itemsize(dtype));
  if (bytes > static_cast<std::int64_t>(buffer->bytes())) {
    throw ArgumentError(called(origin, Op::Buffer),
                        fmt::format("{} of {} takes {} bytes and the buffer holds {}", to_string(shape),
                                    oriel::name(dtype), bytes.value(), buffer->bytes()));
  }
  const Device device = buffer->device();
  return make_leaf(Op::Buffer, dtype, shape, std::move(buffer), device, origin);
}

NodePtr unary(UsedOp op, NodePtr x, const Origin& origin) {
  check_class(op, 1, OpClass::Elementwise);
  check_dtype(op, x->dtype, origin);
  const Node& node = *x;
  return make_node(op, result_dtype(op, node.dtype), node.shape, {}, {&x, 1}, origin);
}

NodePtr binary(UsedOp op, NodePtr a, NodePtr b, const Origin& origin) {
  check_class(op, 2, OpClass::Elementwise);
  check_same_dtype(op, *a, *b, origin);
  check_same_shape(op, *a, *b, origin);
  check_dtype(op, a->dtype, origin);
  const Node& node = *a;
  std::array<NodePtr, 2> sources{std::move(a), std::move(b)};
  return make_node(op, result_dtype(op, node.dtype), node.shape, {}, sources, origin);
}

NodePtr where(NodePtr c, NodePtr x, NodePtr y, const Origin& origin) {
  if (c->dtype != DType::bool_) {
    throw DTypeError(called(origin, Op::Where),
                     fmt::format("the condition is {}; it must be bool", oriel::name(c->dtype)));
  }
  check_same_dtype(Op::Where, *x, *y, origin);
  check_same_shape(Op::Where, *c, *x, origin);
  check_same_shape(Op::Where, *x, *y, origin);
  const Node& node = *x;
  std::array<NodePtr, 3> sources{std::move(c), std::move(x), std::move(y)};
  return make_node(Op::Where, node.dtype, node.shape, {}, sources, origin);
}

NodePtr cast(NodePtr x, DType dtype, const Origin& origin) {
  if (x->dtype == dtype) return x;
  const Node& node = *x;
  return make_node(Op::Cast, dtype, node.shape, {}, {&x, 1}, origin);
}

NodePtr bitcast(NodePtr x, DType dtype, const Origin& origin) {
  const Node& node = *x;
  if (node.dtype == dtype) return x;
  if (itemsize(node.dtype) != itemsize(dtype) || dtype == DType::bool_) {
    throw DTypeError(called(origin, Op::Bitcast),
                     fmt::format("{} to {}; give a dtype of {} bytes{}", oriel::name(node.dtype), oriel::name(dtype),
                                 itemsize(node.dtype), dtype == DType::bool_ ? " other than bool" : ""));
  }
  return make_node(Op::Bitcast, dtype, node.shape, {}, {&x, 1}, origin);
}

NodePtr mirrored(NodePtr comparison) {
  const_cast<Node*>(comparison.get())->mirrored = true;
  return comparison;
}

NodePtr tied(NodePtr extreme, Tie tie) {
  if (extreme->op == Op::Max || extreme->op == Op::Min) const_cast<Node*>(extreme.get())->tie = tie;
  return extreme;
}

NodePtr assign(NodePtr target, NodePtr value, std::shared_ptr<const ShapeTracker> where, const Origin& origin) {
  check_same_dtype(Op::Assign, *target, *value, origin);
  const Shape& written = where ? where->shape() : target->shape;
  if (!same_shape(value->shape, written, stating(origin, Op::Assign))) {
    throw ShapeError(called(origin, Op::Assign), fmt::format("{} does not fit {}; broadcast it first",
                                                             to_string(value->shape), to_string(written)));
  }
  if (sym::or_false(numel(written) == 0)) return target;
  if (where && known_same(where->shape(), target->shape) && where->is_contiguous()) where = nullptr;
  if (!where && target->op == Op::Assign && !target->realized() &&
      std::holds_alternative<std::monostate>(target->arg)) {
    // If a write of all follows another write of all, only the memory below that one matters.
    auto sources = target->lazy_sources();
    if (!sources.empty()) target = std::move(sources[0]);
  }
  const bool over_memory = target->realized() || (target->op == Op::Assign && target->over_memory);
  // Without memory to reuse, a write of all is its value. But the value must have the target's layout.
  if (!where && !over_memory && target->layout_class == LayoutClass::RowMajor) {
    // A number without a layout is no tensor: its views would have the strides of new tensors.
    if (value->op == Op::Const && !value->realized() && !value->found)
      return laid_out_constant(make_leaf(Op::Const, value->dtype, value->shape, value->arg, value->device, origin),
                               Layout::contiguous(value->shape));
    return value->layout_class == LayoutClass::RowMajor ? value
                                                        : format(std::move(value), MemoryFormat::contiguous, origin);
  }
  const DType dtype = target->dtype;
  const Shape shape = target->shape;
  std::array<NodePtr, 2> sources{std::move(target), std::move(value)};
  NodePtr write = make_node(Op::Assign, dtype, shape, where ? Arg(std::move(where)) : Arg(), sources, origin);
  const_cast<Node*>(write.get())->over_memory = over_memory;  // no other thread knows the node yet
  return write;
}

NodePtr gather(NodePtr x, NodePtr index, const Origin& origin) {
  if (index->dtype != DType::int64) {
    throw DTypeError(called(origin, Op::Gather),
                     fmt::format("positions are int64, not {}; cast them", oriel::name(index->dtype)));
  }
  const DType dtype = x->dtype;
  const Shape shape = index->shape;
  if (sym::or_false(numel(x->shape) == 0)) return constant(Scalar::of_int(dtype, 0), shape, index->device, origin);
  // A reshape keeps row-major positions, so the gather can read what is below it.
  for (;;) {
    if (x->op != Op::Reshape || x->realized()) break;
    auto sources = x->lazy_sources();
    if (sources.empty()) break;
    x = std::move(sources[0]);
  }
  std::array<NodePtr, 2> sources{std::move(x), std::move(index)};
  return make_node(Op::Gather, dtype, shape, {}, sources, origin);
}

NodePtr copy(NodePtr x, Device device, const Origin& origin) {
  if (x->device == device) return x;
  if (movable(*x)) return moved_to(device, *x, origin);
  if (x->op == Op::Copy && !x->realized()) {
    // A copy back to the original device is the original, if that has the layout of a copy.
    auto sources = x->lazy_sources();
    if (!sources.empty() && (sources[0]->device != device || sources[0]->layout_class == LayoutClass::RowMajor))
      return copy(std::move(sources[0]), device, origin);
  }
  const DType dtype = x->dtype;
  const Shape shape = x->shape;
  return make_node(Op::Copy, dtype, shape, {}, {&x, 1}, device, origin);
}

NodePtr sort(Op op, NodePtr x, bool descending, const Origin& origin) {
  by_use::sorts();
  check_class(op, 1, OpClass::Sort);
  const DType dtype = op == Op::ArgSort ? DType::int64 : x->dtype;
  const Shape shape = x->shape;
  return make_node(op, dtype, shape, Ints{descending ? 1 : 0}, {&x, 1}, origin);
}

NodePtr host_call(HostFunctionPtr function, std::span<NodePtr> sources, const Shape& shape, DType dtype,
                  const Origin& origin) {
  by_use::host_calls();
  const auto op = static_cast<Op>(static_cast<std::size_t>(Op::HostCall) + sources.size() - 1);
  check_class(op, static_cast<int>(sources.size()), OpClass::Host);
  check_shape(op, shape, origin);
  return make_node(op, dtype, shape, std::move(function), sources, origin);
}

DType scanned(DType dtype) noexcept {
  if (is_half(dtype)) return DType::float32;
  return is_floating(dtype) || dtype == DType::uint64 ? dtype : DType::int64;
}

NodePtr scan(Op op, NodePtr x, std::size_t axis, const Origin& origin) {
  by_use::scans();
  check_class(op, 1, OpClass::Scan);
  const DType dtype = scanned(x->dtype);
  const Shape shape = x->shape;
  if (axis >= shape.size())
    throw ShapeError(called(origin, op), fmt::format("axis {} of a tensor with {} axes", axis, shape.size()));
  return make_node(op, dtype, shape, Ints{static_cast<std::int64_t>(axis)}, {&x, 1}, origin);
}

NodePtr recurrence(NodePtr a, NodePtr b, std::size_t axis, const Origin& origin, bool restarts) {
  by_use::scans();
  const bool number = a->shape.empty();
  check_same_dtype(Op::Recurrence, *a, *b, origin);
  if (!number) check_same_shape(Op::Recurrence, *a, *b, origin);
  const DType dtype = b->dtype;
  const Shape shape = b->shape;
  if (axis >= shape.size() || scanned(dtype) != dtype || (number && restarts))
    throw InternalError("graph",
                        fmt::format("a recurrence along axis {} of {} {}", axis, oriel::name(dtype), to_string(shape)));
  NodePtr sources[] = {std::move(a), std::move(b)};
  const Recursion kind = number ? Recursion::number : restarts ? Recursion::restarts : Recursion::factors;
  const Ints argument{static_cast<std::int64_t>(axis), static_cast<std::int64_t>(kind)};
  return make_node(Op::Recurrence, dtype, shape, argument, sources, origin);
}

NodePtr scatter(Op op, NodePtr positions, NodePtr values, const Shape& like, std::size_t axis, SymInt extent,
                const Origin& origin) {
  by_use::scatters();
  check_class(op, values ? 2 : 1, OpClass::Scatter);
  if (values) check_dtype(op, values->dtype, origin);
  if (values && is_half(values->dtype))
    throw DTypeError(called(origin, op), "halves are combined in float32; cast them before");
  const DType dtype = values ? values->dtype : DType::int64;
  Shape shape = like;
  shape[axis] = extent;
  const bool each = shape.size() > 1 && positions->shape.size() > 1, number = values && values->shape.empty();
  const Ints arg{static_cast<std::int64_t>(axis), each ? 1 : 0, number ? 1 : 0};
  const std::size_t number_of_sources = values ? 2 : 1;
  NodePtr sources[] = {std::move(positions), std::move(values)};
  return make_node(op, dtype, shape, arg, std::span(sources).first(number_of_sources), origin);
}

NodePtr reduce(UsedOp op, NodePtr x, const Ints& axes, const Origin& origin) {
  check_class(op, 1, OpClass::Reduce);
  check_dtype(op, x->dtype, origin);
  if (axes.empty()) return x;
  Shape shape = x->shape;
  SymInt last = -1;
  for (const SymInt axis : axes) {
    if (axis <= last || axis >= shape.size()) {
      throw ShapeError(called(origin, op), fmt::format("axes {} of {} must ascend and lie in [0, {})", to_string(axes),
                                                       to_string(shape), shape.size()));
    }
    shape[static_cast<std::size_t>(axis.value())] = 1;
    last = axis;
  }
  const DType dtype = x->dtype;
  return make_node(op, dtype, shape, axes, {&x, 1}, origin);
}

}  // namespace oriel::graph
