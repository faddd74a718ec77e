// Sorting: a kernel of its own, of rows that lie one after the other in memory.
#include <fmt/format.h>

#include <algorithm>

#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/reduce.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

// A tensor that is being sorted.
struct Sorting {
  Sorting(std::string_view name, const Operand& x, std::int64_t axis) : call(name, x), node(call.node(x)) {
    const Shape& shape = node->shape;
    const std::size_t d = call.axis(axis, std::max<std::size_t>(shape.size(), 1));
    if (sym::or_false(numel(shape) == 0)) return;
    for (std::size_t k = 0; k < shape.size(); ++k) (k < d ? outer : k == d ? row : inner) *= shape[k];
    const bool too_long = !row.is_symbolic() && row > std::int64_t{1} << 62;
    if (too_long) {
      throw OverflowError(name, fmt::format("{} elements in a row; the most is 2^62", row.value()));
    }
  }

  /// A row that depends on data is sorted, however long it turns out to be.
  bool trivial() const { return sym::or_false(numel(node->shape) == 0) || sym::or_false(row <= 1); }
  /// The sort op of the graph, along the axis.
  NodePtr sorted(Op op, bool descending) const {
    if (sym::or_false(inner == 1)) return graph::sort(op, call.reshape(node, {outer, row}), descending, call.origin());
    const Shape shape{outer, row, inner};
    NodePtr rows = call.permute(call.reshape(node, shape), {0, 2, 1});
    return call.permute(graph::sort(op, std::move(rows), descending, call.origin()), {0, 2, 1});
  }
  // The result, with the strides of the operand if they are dense, else dense strides in the same order.
  Tensor finish(NodePtr x) const {
    return Access::tensor(call.laid_out(call.reshape(std::move(x), node->shape), *node));
  }

  Call call;
  NodePtr node;
  // Elements before, in and behind a row.
  SymInt outer = 1;
  SymInt row = 1;
  SymInt inner = 1;
};

}  // namespace

Tensor sort(const Operand& x, std::int64_t axis, bool descending) {
  const Sorting s("sort", x, axis);
  return s.finish(s.trivial() ? s.node : s.sorted(Op::Sort, descending));
}

Tensor argsort(const Operand& x, std::int64_t axis, bool descending) {
  const Sorting s("argsort", x, axis);
  if (!s.trivial()) return s.finish(s.sorted(Op::ArgSort, descending));
  return s.finish(graph::constant(Scalar::of_int(DType::int64, 0), s.node->shape, s.node->device, s.call.origin()));
}

}  // namespace oriel
