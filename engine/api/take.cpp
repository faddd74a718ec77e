#include <fmt/format.h>

#include <limits>

#include "api/call.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;

namespace {

NodePtr number(const Call& call, std::int64_t value, const graph::Node& like) {
  return graph::constant(graph::Scalar::of_int(DType::int64, value), like.shape, like.device, call.origin());
}

/// `index` as int64. Positions past the largest of int64 become that, which lies outside of every axis.
NodePtr as_int64(const Call& call, const Tensor& index) {
  if (index.dtype() != DType::uint64) return call.cast(Access::node(index), DType::int64);
  const NodePtr most = graph::constant(graph::Scalar::of_int(DType::uint64, std::numeric_limits<std::int64_t>::max()),
                                       index.shape(), index.device(), call.origin());
  return call.cast(call.binary(Op::Min, Access::node(index), most), DType::int64);
}

/// Positions of int64 in [0, extent), or -1 where the index lies outside.
NodePtr positions(const Call& call, const Tensor& index, std::int64_t extent, Bounds bounds) {
  if (!is_integer(index.dtype())) {
    throw DTypeError(call.operation(), fmt::format("positions are integers, not {}", name(index.dtype())));
  }
  const NodePtr at = as_int64(call, index);
  const NodePtr zero = number(call, 0, *at);
  const NodePtr from_end = call.binary(Op::Add, at, number(call, extent, *at));
  const NodePtr moved = call.where(call.binary(Op::Lt, at, zero), from_end, at);
  const NodePtr inside =
      call.binary(Op::And, call.binary(Op::Le, zero, moved), call.binary(Op::Lt, moved, number(call, extent, *at)));
  if (bounds == Bounds::checked) {
    const std::vector<bool> good = Access::tensor(inside).to_vector<bool>();
    for (std::size_t k = 0; k < good.size(); ++k) {
      if (good[k]) continue;
      throw IndexError(call.operation(),
                       fmt::format("index {} leaves an axis of {}; {} to {} would do",
                                   Access::tensor(at).to_vector<std::int64_t>()[k], extent, -extent, extent - 1));
    }
  }
  return call.where(inside, moved, number(call, -1, *at));
}

/// Row-major positions in `shape`: those of `index` along `axis`, which stands over the axes [axis, axis + wide) of
/// `domain`; elsewhere the domain's own.
NodePtr row_major(const Call& call, const Shape& shape, std::size_t axis, const Shape& domain, std::size_t wide,
                  const NodePtr& index) {
  const Ints strides = contiguous_strides(shape);
  const auto spread = [&](NodePtr x, std::size_t first) {  // x's axes are the domain's from `first` on
    Shape aligned(domain.size(), SymInt(1));
    for (std::size_t d = 0; d < x->shape.size(); ++d) aligned[first + d] = x->shape[d];
    return call.broadcast(call.reshape(std::move(x), aligned), domain);
  };
  const NodePtr along = spread(index, index->shape.size() == domain.size() ? 0 : axis);
  NodePtr place = call.binary(Op::Mul, along, number(call, strides[axis].value(), *along));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == axis) continue;
    const std::size_t here = d < axis ? d : d + wide - 1;
    const NodePtr own = spread(graph::iota({domain[here]}, index->device, call.origin()), here);
    place = call.binary(Op::Add, place, call.binary(Op::Mul, own, number(call, strides[d].value(), *own)));
  }
  const NodePtr outside = call.binary(Op::Lt, along, number(call, 0, *along));
  return call.where(outside, number(call, -1, *along), place);
}

}  // namespace

Tensor take(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("take", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const NodePtr where = positions(call, index, source->shape[at].value(), bounds);
  Shape domain(source->shape.begin(), source->shape.begin() + static_cast<std::ptrdiff_t>(at));
  domain.insert(domain.end(), where->shape.begin(), where->shape.end());
  domain.insert(domain.end(), source->shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, source->shape.end());
  NodePtr place = row_major(call, source->shape, at, domain, where->shape.size(), where);
  return Access::tensor(graph::gather(source, std::move(place), call.origin()));
}

Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("gather", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const Shape& domain = index.shape();
  bool fits = domain.size() == source->shape.size();
  for (std::size_t d = 0; fits && d < domain.size(); ++d) fits = d == at || domain[d] <= source->shape[d];
  if (!fits) {
    throw ShapeError("gather", fmt::format("an index {} does not fit {}: it has the same rank and, but for axis {}, no "
                                           "larger extents",
                                           to_string(domain), to_string(source->shape), at));
  }
  const NodePtr where = positions(call, index, source->shape[at].value(), bounds);
  NodePtr place = row_major(call, source->shape, at, domain, 1, where);
  return Access::tensor(graph::gather(source, std::move(place), call.origin()));
}

}  // namespace oriel
