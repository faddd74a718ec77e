#include "formula/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backend/backend.hpp"
#include "base/context.hpp"
#include "graph/layout.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/executor.hpp"
#include "runtime/tape.hpp"
#include "sym/decide.hpp"

namespace oriel {

namespace {

// Realises the node if its pending work exceeds the lazy limits. In a trace nothing is realised.
void bound(const graph::NodePtr& node) {
  if (runtime::tracing() || runtime::StandIns::current()) return;
  base::ContextState* const context = base::find_context(node->device.context);
  if (context == nullptr) return;  // it has ended
  const LazyLimits limits = base::lazy_limits(*context);
  if (node->realized() || !backend::computes(node->device)) return;
  const bool deep = limits.nodes != 0 && static_cast<std::int64_t>(node->depth) > limits.nodes;
  if (deep || graph::holds_more_than(node, limits.bytes)) runtime::realize({&node, 1});
}

}  // namespace

namespace detail {

Tensor Access::tensor(graph::NodePtr node) {
  bound(node);
  return Tensor(Cell::make_storage(std::move(node)).detach());
}

Tensor Access::view(const Operand& x, graph::NodePtr number, Path path) {
  if (x.tensor_ == nullptr) return tensor(path(std::move(number)));
  if (runtime::tracing()) x.tensor_->cell_->check_traced("function");
  CellPtr cell = Cell::make_view(CellPtr(x.tensor_->cell_), std::move(path), x.temporary_);
  bound(cell->node());
  return Tensor(cell.detach());
}

void Access::write(Tensor& tensor, graph::NodePtr value, const graph::Origin& origin) {
  Cell& cell = *tensor.cell_;
  if (runtime::tracing()) cell.check_traced(origin.operation);
  if (value->device != cell.device()) {
    if (!graph::movable(*value)) {
      if (value->device.context != cell.device().context) {
        throw DeviceError(
            origin.operation,
            fmt::format(
                "operands belong to two contexts: the value lives on {} and is written to {}; copy it across with "
                "to(device of the other context)",
                value->device.str(), tensor.str()));
      }
      throw DeviceError(origin.operation,
                        fmt::format("the value lives on {} and is written to {}; copy it with to(Device)",
                                    value->device.str(), tensor.str()));
    }
    value = graph::moved_to(cell.device(), *value, origin);
  }
  value = graph::broadcast_to(graph::cast(std::move(value), cell.dtype(), origin), cell.shape(), origin);
  bound(cell.write(value, origin));
}

void Access::check_shows_writes(const Tensor& tensor, std::string_view operation) {
  if (tensor.cell_->shows_writes()) return;
  throw ArgumentError(
      operation,
      fmt::format("nothing else names the value {} {} on the left side, so the write would be lost; give it a name "
                  "first, or write to the tensor that is meant: x.assign_where(mask, value) for masked_select and "
                  "where, x.assign_at(index, values) and x.add_at(index, values) for take, x[i] = value and "
                  "x.slice(..) = value for views",
                  name(tensor.dtype()), to_string(tensor.shape())));
}

Layout Access::layout(const graph::Node& node) {
  if (node.layout_class == graph::LayoutClass::RowMajor) return Layout::contiguous(node.shape);
  return graph::layout_of(node);
}

graph::Scalar Access::number(const Operand& x, DType dtype, std::string_view operation) {
  using graph::Scalar;
  using Kind = Operand::Kind;
  if (x.kind_ == Kind::Float) return Scalar::of_float(dtype, x.float_);
  if (x.kind_ == Kind::Size) return number(SymInt(SymInt(x.size_).value()), dtype, operation);
  const bool above = x.kind_ == Kind::Unsigned && x.int_ < 0;  // 2^63 and more
  Scalar whole = Scalar::of_int(x.kind_ == Kind::Unsigned ? DType::uint64 : DType::int64, x.int_);
  const Scalar out = whole.cast(dtype);
  if (is_integer(dtype) && (out.i != x.int_ || (above != (dtype == DType::uint64 && x.int_ < 0)))) {
    throw ArgumentError(operation, fmt::format("{} does not fit {}; cast the tensor to a wider dtype first",
                                               whole.str(), oriel::name(dtype)));
  }
  return out;
}

SymInt Access::size(const Operand& x, std::string_view operation) {
  return x.kind_ == Operand::Kind::Size ? SymInt(x.size_) : SymInt(number(x, DType::int64, operation).i);
}

double Access::value(const Operand& x) noexcept {
  using Kind = Operand::Kind;
  switch (x.kind_) {
    case Kind::Tensor:
      return std::numeric_limits<double>::quiet_NaN();
    case Kind::Float:
      return x.float_;
    case Kind::Size:
      return static_cast<double>(sym::hint(SymInt(x.size_)).value_or(0));
    case Kind::Unsigned:
      return static_cast<double>(static_cast<std::uint64_t>(x.int_));
    default:
      return static_cast<double>(x.int_);
  }
}

DType Access::default_dtype(const Operand& x) noexcept {
  using Kind = Operand::Kind;
  if (x.tensor_ != nullptr) return x.tensor_->dtype();
  return x.kind_ == Kind::Bool ? DType::bool_ : x.kind_ == Kind::Float ? DType::float32 : DType::int64;
}

std::string Access::text(const Operand& x) {
  using Kind = Operand::Kind;
  if (x.kind_ == Kind::Tensor) return x.tensor_->str();
  if (x.kind_ == Kind::Bool) return x.int_ != 0 ? "true" : "false";
  if (x.kind_ == Kind::Float) return fmt::format("{}", x.float_);
  if (x.kind_ == Kind::Size) return to_string(SymInt(x.size_));
  return x.kind_ == Kind::Unsigned ? fmt::format("{}", static_cast<std::uint64_t>(x.int_)) : fmt::format("{}", x.int_);
}

}  // namespace detail

namespace api {

int category(DType dtype) noexcept { return dtype == DType::bool_ ? 0 : is_integer(dtype) ? 1 : 2; }

DType common_dtype(std::initializer_list<const Operand*> operands) {
  // In order of precedence: tensors with axes, tensors without axes, numbers.
  std::array<std::optional<DType>, 3> kinds;
  for (const Operand* x : operands) {
    const Tensor* tensor = Access::tensor(*x);
    std::optional<DType>& kind = kinds[tensor == nullptr ? 2 : tensor->rank() == 0 ? 1 : 0];
    const DType dtype = Access::default_dtype(*x);
    kind = kind ? promote(*kind, dtype) : dtype;
  }
  // A kind of lower precedence counts only if its category is higher. The two dtypes are then promoted.
  std::optional<DType> common;
  for (std::size_t k = kinds.size(); k-- > 0;) {
    if (!kinds[k]) continue;
    common = !common || category(*common) <= category(*kinds[k]) ? *kinds[k] : promote(*kinds[k], *common);
  }
  return *common;
}

DType in_place_dtype(DType target, DType result, std::string_view operation) {
  if (can_cast(result, target)) return target;
  throw DTypeError(operation, fmt::format("the result is {} and cannot be kept in {}; write x = x op y, or cast first",
                                          name(result), name(target)));
}

namespace {

// Is the number an element of this dtype as it is? Floats hold every number, rounded.
bool holds_number(DType dtype, double value) {
  if (is_floating(dtype)) return true;
  if (dtype == DType::bool_) return value == 0 || value == 1;
  const double beyond = dtype == DType::uint64 ? 0x1p64 : 0x1p63;
  const graph::Scalar cast = graph::Scalar::of_float(DType::float64, value).cast(dtype);
  return value < beyond && cast.cast(DType::float64).f == value;
}

}  // namespace

NodePtr written_value(const Call& call, const Operand& value, DType dtype, Device device) {
  if (const Tensor* const tensor = Access::tensor(value)) {
    if (!can_cast(tensor->dtype(), dtype)) {
      throw DTypeError(call.operation(),
                       fmt::format("the value is {} and is not kept in {}; convert it first, with to(DType::{})",
                                   name(tensor->dtype()), name(dtype), dtype == DType::bool_ ? "bool_" : name(dtype)));
    }
    return call.cast(Access::node(*tensor), dtype);
  }
  const bool checked = Access::default_dtype(value) == DType::float32 || dtype == DType::bool_;
  if (checked && !holds_number(dtype, Access::value(value))) {
    throw ArgumentError(call.operation(), fmt::format("{} does not fit {}; give a number that it holds",
                                                      Access::text(value), name(dtype)));
  }
  if (Access::default_dtype(value) == DType::float32) {
    return graph::constant(Access::number(value, DType::float64, call.operation()).cast(dtype), {}, device,
                           call.origin());
  }
  return graph::constant(Access::number(value, dtype, call.operation()), {}, device, call.origin());
}

DType floating_dtype(DType dtype) noexcept { return is_floating(dtype) ? dtype : DType::float32; }

DType wide_dtype(DType dtype) noexcept { return dtype == DType::float64 ? dtype : DType::float32; }

std::size_t new_axis(const Call& call, std::int64_t axis, std::size_t rank) {
  const auto last = static_cast<std::int64_t>(rank);
  if (axis < -last - 1 || axis > last) {
    throw ShapeError(call.operation(), fmt::format("a new axis at {} of a tensor with {} {}; give a place of {} to {}",
                                                   axis, rank, rank == 1 ? "axis" : "axes", -last - 1, last));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + last + 1 : axis);
}

Ranges whole(const Shape& shape) {
  Ranges ranges(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) ranges[d] = {0, shape[d]};
  return ranges;
}

NodePtr Call::node(const Operand& x) const {
  if (const Tensor* t = Access::tensor(x)) return Access::node(*t);
  const DType dtype = Access::default_dtype(x);
  return number(x, dtype, {}, default_device());
}

NodePtr Call::node(const Operand& x, DType dtype, const Shape& shape, Device device) const {
  if (const Tensor* t = Access::tensor(x)) return cast(Access::node(*t), dtype);
  return number(x, dtype, shape, device);
}

NodePtr Call::number(const Operand& x, DType dtype, const Shape& shape, Device device) const {
  if (Access::is_symbolic(x) && (is_floating(dtype) || dtype == DType::int64))
    return graph::size_constant(Access::size(x, operation()), dtype, shape, device, origin_);
  return graph::constant(Access::number(x, dtype, operation()), shape, device, origin_);
}

std::pair<NodePtr, NodePtr> Call::meet(const Operand& a, const Operand& b, bool floats) const {
  DType dtype = common_dtype({&a, &b});
  if (floats) dtype = floating_dtype(dtype);
  const Tensor* ta = Access::tensor(a);
  const Tensor* tb = Access::tensor(b);
  if (ta != nullptr && tb != nullptr) {
    NodePtr x = cast(Access::node(*ta), dtype);
    NodePtr y = cast(Access::node(*tb), dtype);
    if (!graph::known_same(x->shape, y->shape)) {
      const Shape shape = graph::broadcast_shapes(x->shape, y->shape, origin_);
      x = graph::broadcast_operand(std::move(x), shape, origin_);
      y = graph::broadcast_operand(std::move(y), shape, origin_);
    }
    return {std::move(x), std::move(y)};
  }
  const Shape none;
  const Shape& shape = ta != nullptr ? ta->shape() : tb != nullptr ? tb->shape() : none;
  const Device device = ta != nullptr ? ta->device() : tb != nullptr ? tb->device() : default_device();
  return {node(a, dtype, shape, device), node(b, dtype, shape, device)};
}

NodePtr Call::binary(graph::UsedOp op, NodePtr a, NodePtr b) const {
  if (!graph::known_same(a->shape, b->shape)) {
    const Shape shape = graph::broadcast_shapes(a->shape, b->shape, origin_);
    a = graph::broadcast_operand(std::move(a), shape, origin_);
    b = graph::broadcast_operand(std::move(b), shape, origin_);
  }
  return graph::binary(op, std::move(a), std::move(b), origin_);
}

NodePtr Call::binary(graph::UsedOp op, NodePtr x, double value) const {
  NodePtr y = like(x, value);
  return graph::binary(op, std::move(x), std::move(y), origin_);
}

NodePtr Call::binary(graph::UsedOp op, NodePtr x, SymInt size) const {
  NodePtr y = graph::size_constant(size, x->dtype, x->shape, x->device, origin_);
  return graph::binary(op, std::move(x), std::move(y), origin_);
}

NodePtr Call::where(NodePtr c, NodePtr x, NodePtr y) const {
  if (!graph::known_same(c->shape, x->shape) || !graph::known_same(x->shape, y->shape)) {
    const Shape shape =
        graph::broadcast_shapes(c->shape, graph::broadcast_shapes(x->shape, y->shape, origin_), origin_);
    c = graph::broadcast_operand(std::move(c), shape, origin_);
    x = graph::broadcast_operand(std::move(x), shape, origin_);
    y = graph::broadcast_operand(std::move(y), shape, origin_);
  }
  return graph::where(std::move(c), std::move(x), std::move(y), origin_);
}

NodePtr Call::like(const NodePtr& x, double value) const {
  return graph::constant(graph::Scalar::of_float(x->dtype, value), x->shape, x->device, origin_);
}

NodePtr Call::inside(const Shape& shape, Device device, const Ranges& before_after) const {
  NodePtr yes = graph::constant(graph::Scalar::of_int(DType::bool_, 1), shape, device, origin_);
  return graph::pad(std::move(yes), before_after, origin_);
}

NodePtr Call::pad(const NodePtr& x, const Ranges& before_after, const graph::Scalar& value) const {
  NodePtr padded = graph::pad(x, before_after, origin_);
  if (value.is_zero() || padded == x) return padded;
  NodePtr around = graph::constant(value, padded->shape, x->device, origin_);
  return where(inside(x->shape, x->device, before_after), std::move(padded), std::move(around));
}

NodePtr Call::laid_out(NodePtr x, const graph::Node& like) const {
  // Of sizes that depend on data, only the order of the axes is known.
  const bool ordered = like.layout_class == graph::LayoutClass::Ordered && sym::depends_on_data(numel(like.shape));
  if (like.layout_class == graph::LayoutClass::RowMajor || ordered)
    return graph::format(std::move(x), MemoryFormat::contiguous, origin_);
  return graph::format(std::move(x), Access::layout(like).preserved().strides, origin_);
}

Ints Call::axes(const Axes& axes, std::size_t rank) const {
  Ints all;
  if (axes.list()) {
    all = graph::normal_axes(*axes.list(), std::max<std::size_t>(rank, 1), origin_);
    if (rank == 0) all.clear();  // a tensor without axes counts as one of extent 1
  } else {
    for (std::size_t d = 0; d < rank; ++d) all.push_back(d);
  }
  return all;
}

NodePtr Call::drop(NodePtr x, const Ints& axes) const {
  if (axes.empty()) return x;
  Shape shape;
  std::size_t k = 0;
  for (std::size_t d = 0; d < x->shape.size(); ++d) {
    if (k < axes.size() && axes[k] == d) {
      ++k;
    } else {
      shape.push_back(x->shape[d]);
    }
  }
  if (x->layout_class == graph::LayoutClass::RowMajor) return reshape(std::move(x), shape);
  graph::AxisStrides strides;
  k = 0;
  for (std::size_t d = 0; d < x->shape.size(); ++d) {
    if (k < axes.size() && axes[k] == d)
      ++k;
    else
      strides.push_back({0, {{d, 1}}});
  }
  const NodePtr source = x;
  return graph::with_derived_strides(reshape(std::move(x), shape), source, std::move(strides));
}

SymInt Call::count(const Shape& shape, const Ints& axes) const {
  Ints extents;
  for (const SymInt axis : axes) extents.push_back(shape[static_cast<std::size_t>(axis.value())]);
  return numel(extents, std::string(operation()).c_str());
}

}  // namespace api

}  // namespace oriel
