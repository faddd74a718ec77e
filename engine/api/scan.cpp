// Running sums, products, maxima and minima.
#include <algorithm>
#include <optional>

#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scan.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;
using graph::Op;

namespace {

Tensor finished(const Call& call, NodePtr node, DType dtype) {
  return Access::tensor(graph::format(call.cast(std::move(node), dtype), MemoryFormat::contiguous, call.origin()));
}

Tensor running(Op op, std::string_view name, const Operand& x, std::int64_t axis, std::optional<DType> wanted = {}) {
  const Call call(name, x);
  if (wanted == DType::bool_) throw DTypeError(name, "running sums and products are numbers, not bool");
  NodePtr node = call.node(x);
  if (wanted) node = call.cast(std::move(node), *wanted);
  const std::size_t rank = node->shape.size();
  const std::size_t d = call.axis(axis, std::max<std::size_t>(rank, 1));
  const DType dtype = wanted.value_or(is_floating(node->dtype) ? node->dtype : graph::scanned(node->dtype));
  if (rank > 0) node = graph::scan(op, std::move(node), d, call.origin());  // else there is one element, its own sum
  return finished(call, std::move(node), dtype);
}

/// The position of the last element that is no smaller (larger) than all before it.
Ordered extreme_so_far(Op op, std::string_view name, const Operand& x, std::int64_t axis) {
  const Call call(name, x);
  const NodePtr node = call.node(x);
  const std::size_t d = call.axis(axis, std::max<std::size_t>(node->shape.size(), 1));
  if (node->shape.empty())
    return {finished(call, node, node->dtype),
            finished(call, call.cast(call.like(node, 0), DType::int64), DType::int64)};
  const NodePtr most = call.cast(graph::scan(op, node, d, call.origin()), node->dtype);
  // NaN is the largest, and the smallest.
  NodePtr record = call.binary(Op::Eq, node, most);
  if (is_floating(node->dtype)) record = call.binary(Op::Or, std::move(record), call.unary(Op::IsNan, node));
  Shape line(node->shape.size(), SymInt(1));
  line[d] = node->shape[d];
  const NodePtr place = call.broadcast(graph::iota(line, node->device, call.origin()), node->shape);
  const NodePtr records = call.where(record, place, call.like(place, 0));
  return {finished(call, most, node->dtype),
          finished(call, graph::scan(Op::CumMax, records, d, call.origin()), DType::int64)};
}

}  // namespace

Tensor cumsum(const Operand& x, std::int64_t axis) { return running(Op::CumSum, "cumsum", x, axis); }
Tensor cumprod(const Operand& x, std::int64_t axis) { return running(Op::CumProd, "cumprod", x, axis); }
Tensor cumsum(const Operand& x, DType dtype, std::int64_t axis) {
  return running(Op::CumSum, "cumsum", x, axis, dtype);
}
Tensor cumprod(const Operand& x, DType dtype, std::int64_t axis) {
  return running(Op::CumProd, "cumprod", x, axis, dtype);
}
Ordered cummax(const Operand& x, std::int64_t axis) { return extreme_so_far(Op::CumMax, "cummax", x, axis); }
Ordered cummin(const Operand& x, std::int64_t axis) { return extreme_so_far(Op::CumMin, "cummin", x, axis); }

}  // namespace oriel
