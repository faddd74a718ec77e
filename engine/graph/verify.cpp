#include "graph/verify.hpp"

#include <fmt/format.h>

#include "graph/host_function.hpp"
#include "graph/movements.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "view/positions.hpp"
#include "view/stacks/injective.hpp"

namespace oriel::graph {

namespace {

[[noreturn]] void broken(const Node& node, std::string_view rule) {
  throw InternalError("verify",
                      fmt::format("{} {} {}: {}", name(node.op), oriel::name(node.dtype), to_string(node.shape), rule));
}

void need(bool holds, const Node& node, std::string_view rule) {
  if (!holds) broken(node, rule);
}

void verify_leaf(const Node& node) {
  if (node.op == Op::Const) {
    const auto* value = std::get_if<Scalar>(&node.arg);
    const auto* size = std::get_if<Ints>(&node.arg);
    need(size != nullptr ? size->size() == 1 && (*size)[0].is_symbolic()
                         : value != nullptr && value->dtype == node.dtype,
         node, "a Const holds a number of its dtype, or a symbolic size");
  } else if (node.op == Op::Iota) {
    need(node.dtype == DType::int64, node, "Iota is int64");
  } else {
    need(std::holds_alternative<mem::BufferPtr>(node.arg) && node.realized(), node, "a Buffer holds its buffer");
  }
}

void verify_elementwise(const Node& node) {
  const std::size_t first = node.op == Op::Where ? 1 : 0;
  for (const NodePtr& source : node.sources) need(source->shape == node.shape, node, "sources have the node's shape");
  for (std::size_t k = first; k < node.sources.size(); ++k) {
    need(node.sources[k]->dtype == node.sources[first]->dtype, node, "sources have one dtype");
  }
  const DType operand = node.sources[first]->dtype;
  switch (row(node.op).rule) {
    case DTypeRule::Convert:
      need(node.op != Op::Bitcast || itemsize(operand) == itemsize(node.dtype), node, "Bitcast keeps the width");
      break;
    case DTypeRule::Compare:
    case DTypeRule::FloatTest:
      need(node.dtype == DType::bool_, node, "comparisons are bool");
      break;
    case DTypeRule::Select:
      need(node.sources[0]->dtype == DType::bool_, node, "Where's condition is bool");
      [[fallthrough]];
    default:
      need(node.dtype == operand, node, "the result has the operands' dtype");
  }
  need(ops::takes(node.op, operand), node, "takes the dtype of its operands");
}

// Computes the shape again with the builder, which throws if the argument does not fit the source.
void verify_movement(const Node& node) {
  const NodePtr& x = node.sources[0];
  need(node.dtype == x->dtype, node, "movements keep the dtype");
  const Move move = move_of(node);
  need(complete(move), node, "a movement holds an argument of its kind");
  Shape shape;
  try {
    shape = graph::move(x, move)->shape;
  } catch (const UserError& error) {
    broken(node, error.message());
  }
  need(shape == node.shape, node, "the shape follows from the source and the argument");
}

void verify_write(const Node& node) {
  const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&node.arg);
  const NodePtr& target = node.sources[0];
  const NodePtr& value = node.sources[1];
  need(node.dtype == target->dtype && node.dtype == value->dtype, node, "a write keeps the dtype");
  need(node.shape == target->shape, node, "a write keeps the shape");
  need(value->shape == (where != nullptr ? (*where)->shape() : node.shape), node, "the value has the write's shape");
  if (where == nullptr) return;
  const detail::Distinctness verdict = detail::distinctness(**where);
  need(verdict.kind == detail::Distinctness::Kind::Distinct, node, "a write meets each element once");
  const View& below = (*where)->views().front();
  const auto range = detail::position_range(below);
  need(!(*where)->single() || (range && range->least >= 0 && range->greatest < numel(node.shape)), node,
       "a write stays inside its target");
}

void verify_reduce(const Node& node) {
  const auto* axes = std::get_if<Ints>(&node.arg);
  need(axes != nullptr && !axes->empty(), node, "reductions hold axes");
  need(node.dtype == node.sources[0]->dtype, node, "reductions keep the dtype");
  Shape shape = node.sources[0]->shape;
  SymInt last = -1;
  for (const SymInt axis : *axes) {
    need(axis > last && axis < shape.size(), node, "axes ascend and lie in the source");
    shape[static_cast<std::size_t>(axis.value())] = 1;
    last = axis;
  }
  need(shape == node.shape, node, "reduced axes stay with extent 1");
}

// Sources: positions, and values but for ScatterLast.
void verify_scatter(const Node& node) {
  const auto* arg = std::get_if<Ints>(&node.arg);
  need(arg != nullptr && arg->size() == 3 && (*arg)[0] >= 0 && (*arg)[0] < node.shape.size(), node,
       "a scatter holds its axis, and two answers");
  const auto axis = static_cast<std::size_t>((*arg)[0].value());
  const bool each = (*arg)[1] == 1, number = (*arg)[2] == 1;
  const Node& positions = *node.sources[0];
  need(positions.dtype == DType::int64, node, "a scatter's positions are int64");
  need(positions.shape.size() == (each ? node.shape.size() : 1), node,
       "a scatter's positions have one axis, or those of its values");
  Shape lines = node.shape;
  lines[axis] = positions.shape[each ? axis : 0];
  need(!each || positions.shape == lines, node, "a scatter's positions have its shape but for the axis");
  if (node.op == Op::ScatterLast) return need(node.dtype == DType::int64, node, "numbers of positions are int64");
  need(node.dtype == node.sources[1]->dtype && !is_half(node.dtype), node, "a scatter has its values' dtype, no half");
  need(number ? node.sources[1]->shape.empty() : node.sources[1]->shape == lines, node,
       "a scatter's values are one number, or have its shape but for the axis");
}

}  // namespace

void verify(std::span<const NodePtr> roots) {
  for (const Node* node : post_order(roots)) {
    for (const SymInt n : node->shape) need(n >= 0, *node, "extents are >= 0");
    if (node->realized()) {
      need(node->buffer != nullptr, *node, "a realised node has its buffer");
      need(node->sources.empty(), *node, "a realised node has dropped its sources");
      continue;
    }
    need(node->sources.size() == row(node->op).arity, *node, "as many sources as the op has operands");
    switch (row(node->op).op_class) {
      case OpClass::Leaf:
        verify_leaf(*node);
        break;
      case OpClass::Movement:
        verify_movement(*node);
        break;
      case OpClass::Write:
        verify_write(*node);
        break;
      case OpClass::Gather:
        need(node->dtype == node->sources[0]->dtype, *node, "a gather keeps the dtype");
        need(node->sources[1]->dtype == DType::int64, *node, "a gather's positions are int64");
        need(node->shape == node->sources[1]->shape, *node, "a gather has its positions' shape");
        break;
      case OpClass::Transfer:
        need(node->dtype == node->sources[0]->dtype, *node, "a copy keeps the dtype");
        need(node->shape == node->sources[0]->shape, *node, "a copy keeps the shape");
        need(node->device != node->sources[0]->device, *node, "a copy goes to another device");
        break;
      case OpClass::Sort: {
        const auto* order = std::get_if<Ints>(&node->arg);
        need(order != nullptr && order->size() == 1, *node, "a sort holds its direction");
        need(node->dtype == (node->op == Op::ArgSort ? DType::int64 : node->sources[0]->dtype), *node,
             "a sort keeps the dtype, positions are int64");
        need(node->shape == node->sources[0]->shape && !node->shape.empty(), *node, "a sort keeps the shape");
        break;
      }
      case OpClass::Scan: {
        const auto* axis = std::get_if<Ints>(&node->arg);
        need(axis != nullptr && axis->size() == (node->op == Op::Recurrence ? 2 : 1) && (*axis)[0] >= 0 &&
                 (*axis)[0] < node->shape.size(),
             *node, "a scan holds its axis");
        need(node->op != Op::Recurrence ||
                 ((*axis)[1] >= 0 && (*axis)[1] <= static_cast<std::int64_t>(Recursion::restarts)),
             *node, "a recurrence says what its factors are");
        for (const NodePtr& source : node->sources) {
          need(node->dtype == scanned(source->dtype), *node, "a scan has the dtype of its sums");
          const bool number = node->op == Op::Recurrence && source == node->sources[0] &&
                              (*axis)[1] == static_cast<std::int64_t>(Recursion::number);
          need(number ? source->shape.empty() : node->shape == source->shape, *node, "a scan keeps the shape");
          need(node->op != Op::Recurrence || source->dtype == node->dtype, *node, "a recurrence keeps the dtype");
        }
        break;
      }
      case OpClass::Scatter:
        verify_scatter(*node);
        break;
      case OpClass::Host: {
        const auto* function = std::get_if<HostFunctionPtr>(&node->arg);
        need(function != nullptr && *function != nullptr, *node, "a call of the host holds its function");
        if (!(*function)->options.batched) break;
        for (const NodePtr& source : node->sources)
          need(!node->shape.empty() && !source->shape.empty() && source->shape[0] == node->shape[0], *node,
               "a batched call of the host and its operands have an axis 0 of one extent");
        break;
      }
      case OpClass::Elementwise:
        verify_elementwise(*node);
        break;
      case OpClass::Reduce:
        verify_reduce(*node);
        break;
    }
  }
}

}  // namespace oriel::graph
