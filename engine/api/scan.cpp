// Running sums, products, maxima and minima. A device without scans computes them by recursive doubling, so that no
// element of the result depends on its neighbour.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/call.hpp"
#include "backend/backend.hpp"
#include "oriel/error.hpp"
#include "oriel/reduce.hpp"
#include "oriel/scan.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::whole;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

// Elements per block: short enough for few steps, long enough for contiguous memory access.
constexpr std::int64_t kBlock = 64;

struct Scan {
  Call call;
  Op join;  // combines two elements
  Scalar identity;

  NodePtr pad(NodePtr x, std::size_t axis, SymInt before, SymInt after) const {
    Ranges around(x->shape.size(), Range{0, 0});
    around[axis] = {before, after};
    return call.pad(std::move(x), around, identity);
  }

  // Scans a whole axis: after the step by k, element i combines the 2k elements that end at i.
  NodePtr doubling(NodePtr x, std::size_t axis) const {
    const SymInt n = x->shape[axis];
    Ranges front = whole(x->shape);
    for (SymInt step = 1; step < n; step = step * 2) {
      front[axis] = {0, n - step};
      NodePtr shifted = pad(call.shrink(x, front), axis, step, 0);
      x = call.binary(join, std::move(shifted), std::move(x));
    }
    return x;
  }

  // The same for a size that depends on data. As many levels of blocks as the largest size needs: those that it turns
  // out not to need scan a block without elements, which each level has.
  NodePtr data_dependent(NodePtr x, std::size_t axis) const {
    constexpr int kMostLevels = 6;  // 2^36 elements
    const SymInt n = x->shape[axis];
    std::int64_t most = kBlock;
    int levels = 1;
    for (; levels < kMostLevels && !sym::known(n <= most).value_or(false); ++levels) most *= kBlock;
    if (!sym::required(n <= most, call.operation()))
      throw OverflowError(call.operation(), fmt::format("an axis of {} elements; at most {} of a size that depends on "
                                                        "data are scanned",
                                                        to_string(n), most));
    return levelled(std::move(x), axis, levels);
  }

  NodePtr levelled(NodePtr x, std::size_t axis, int levels) const {
    const Shape shape = x->shape;
    const SymInt n = shape[axis];
    if (levels == 1) return call.shrink(doubling(pad(std::move(x), axis, 0, kBlock - n), axis), whole(shape));
    return in_blocks(std::move(x), axis, sym_max((n + (kBlock - 1)) / kBlock, 1),
                     [&](NodePtr totals) { return levelled(std::move(totals), axis, levels - 1); });
  }

  // Scans each block, then combines it with the scan of the totals of the blocks before it. A symbolic size takes one
  // guard for each level of blocks: it is padded to whole blocks even if it has only one. Then a prefix of zeros that
  // are all negative may get a sum of positive zero.
  NodePtr along(NodePtr x, std::size_t axis) const {
    const SymInt n = x->shape[axis];
    if (sym::depends_on_data(n)) return data_dependent(std::move(x), axis);
    const bool symbolic = n.is_symbolic();
    if (!symbolic && n <= 1) return x;
    const Shape shape = x->shape;
    if (n <= kBlock) {
      if (!symbolic) return doubling(std::move(x), axis);
      return call.shrink(doubling(pad(std::move(x), axis, 0, kBlock - n), axis), whole(shape));
    }
    return in_blocks(std::move(x), axis, (n - 1) / kBlock + 1,
                     [&](NodePtr totals) { return along(std::move(totals), axis); });
  }

  template <class ScanTotals>
  NodePtr in_blocks(NodePtr x, std::size_t axis, SymInt blocks, const ScanTotals& scan_totals) const {
    const Shape shape = x->shape;
    const SymInt n = shape[axis];
    x = pad(std::move(x), axis, 0, blocks * kBlock - n);
    Shape split = shape;
    split[axis] = blocks;
    split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, SymInt(kBlock));
    const NodePtr inner = doubling(call.reshape(std::move(x), split), axis + 1);
    Ranges ends = whole(split);
    ends[axis] = {0, blocks - 1};
    ends[axis + 1] = {kBlock - 1, kBlock};
    NodePtr totals = scan_totals(call.shrink(inner, ends));
    NodePtr out = call.binary(join, pad(std::move(totals), axis, 1, 0), inner);
    Shape joined = shape;
    joined[axis] = blocks * kBlock;
    Ranges kept = whole(shape);
    return call.shrink(call.reshape(std::move(out), joined), kept);
  }
};

/// A scan of a value with axes, in the dtype graph::scanned of its own.
NodePtr scanned(const Call& call, Op op, NodePtr node, std::size_t axis) {
  const DType dtype = graph::scanned(node->dtype);
  if (backend::backend_for(node->device).capabilities().scans)
    return graph::scan(op, std::move(node), axis, call.origin());
  const Op join = graph::row(op).combination;
  const ops::Identity identity = op == Op::CumSum    ? ops::Identity::Zero
                                 : op == Op::CumProd ? ops::Identity::One
                                 : op == Op::CumMax  ? ops::Identity::Lowest
                                                     : ops::Identity::Highest;
  const Scan scan{call, join, Scalar::of_identity(identity, dtype)};
  node = call.cast(std::move(node), dtype);
  return sym::or_false(numel(node->shape) == 0) ? node : scan.along(std::move(node), axis);
}

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
  if (rank > 0) node = scanned(call, op, std::move(node), d);  // else there is one element, its own sum
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
  const NodePtr most = call.cast(scanned(call, op, node, d), node->dtype);
  // NaN is the largest, and the smallest.
  NodePtr record = call.binary(Op::Eq, node, most);
  if (is_floating(node->dtype)) record = call.binary(Op::Or, std::move(record), call.unary(Op::IsNan, node));
  Shape line(node->shape.size(), SymInt(1));
  line[d] = node->shape[d];
  const NodePtr place = call.broadcast(graph::iota(line, node->device, call.origin()), node->shape);
  const NodePtr records = call.where(record, place, call.like(place, 0));
  return {finished(call, most, node->dtype), finished(call, scanned(call, Op::CumMax, records, d), DType::int64)};
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
