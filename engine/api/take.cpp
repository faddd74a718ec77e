#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "api/gathering.hpp"
#include "graph/gather.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "sym/decide.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;

namespace api {

NodePtr position_number(const Call& call, SymInt value, const graph::Node& like) {
  return graph::size_constant(value, DType::int64, like.shape, like.device, call.origin());
}

NodePtr raw_positions(const Call& call, const Tensor& index) {
  if (!is_integer(index.dtype())) {
    throw DTypeError(call.operation(), fmt::format("positions are integers, not {}", name(index.dtype())));
  }
  if (index.dtype() != DType::uint64) return call.cast(Access::node(index), DType::int64);
  const NodePtr most = graph::constant(graph::Scalar::of_int(DType::uint64, std::numeric_limits<std::int64_t>::max()),
                                       index.shape(), index.device(), call.origin());
  return call.cast(call.binary(Op::Min, Access::node(index), most), DType::int64);
}

NodePtr positions(const Call& call, const Tensor& index, SymInt extent, Bounds bounds) {
  NodePtr at = raw_positions(call, index);
  const bool counts_from_start = is_unsigned(index.dtype());
  // Every uint8 names an entry of a table of 256.
  if (counts_from_start && itemsize(index.dtype()) <= 2 && !extent.is_symbolic() &&
      extent.value() >= std::int64_t{1} << (8 * itemsize(index.dtype())))
    return at;
  NodePtr moved = at;
  NodePtr inside = call.binary(Op::Lt, at, position_number(call, extent, *at));
  if (!counts_from_start) {
    const NodePtr zero = position_number(call, 0, *at);
    const NodePtr from_end = call.binary(Op::Add, at, position_number(call, extent, *at));
    moved = call.where(call.binary(Op::Lt, at, zero), from_end, at);
    inside = call.binary(Op::And, call.binary(Op::Le, zero, moved),
                         call.binary(Op::Lt, moved, position_number(call, extent, *at)));
  }
  if (bounds == Bounds::checked) {
    runtime::check_may_read(call.operation());
    const std::vector<bool> good = Access::tensor(inside).to_vector<bool>();
    for (std::size_t k = 0; k < good.size(); ++k) {
      if (good[k]) continue;
      throw IndexError(call.operation(),
                       fmt::format("index {} is out of range for an axis of size {}; valid are {} to {}",
                                   Access::tensor(at).to_vector<std::int64_t>()[k], to_string(extent),
                                   to_string(-extent), to_string(extent - 1)));
    }
  }
  return call.where(inside, moved, position_number(call, -1, *at));
}

Tensor read_at(const Call& call, NodePtr source, std::size_t axis, const Shape& domain, std::size_t wide,
               const NodePtr& where) {
  const auto spread = [&](NodePtr x, std::size_t first) {  // the axes of x are those of the domain from `first` on
    Shape aligned(domain.size(), SymInt(1));
    for (std::size_t d = 0; d < x->shape.size(); ++d) aligned[first + d] = x->shape[d];
    return call.broadcast(call.reshape(std::move(x), aligned), domain);
  };
  const std::size_t first = where->shape.size() == domain.size() ? 0 : axis;
  std::vector<NodePtr> coordinates(source->shape.size());
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const std::size_t here = d < axis ? d : d + wide - 1;
    coordinates[d] =
        d == axis ? spread(where, first) : spread(graph::iota({domain[here]}, where->device, call.origin()), here);
  }
  NodePtr inside = spread(call.binary(Op::Le, position_number(call, 0, *where), where), first);
  return Access::tensor(graph::gather_at(std::move(source), coordinates, std::move(inside), call.origin()));
}

}  // namespace api

Tensor take(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("take", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const NodePtr where = api::positions(call, index, source->shape[at], bounds);
  Shape domain(source->shape.begin(), source->shape.begin() + static_cast<std::ptrdiff_t>(at));
  domain.insert(domain.end(), where->shape.begin(), where->shape.end());
  domain.insert(domain.end(), source->shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, source->shape.end());
  return api::read_at(call, source, at, domain, where->shape.size(), where);
}

Tensor gather(const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const Call call("gather", x);
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  const Shape& domain = index.shape();
  bool fits = domain.size() == source->shape.size();
  for (std::size_t d = 0; fits && d < domain.size(); ++d)
    fits = d == at || sym::required(domain[d] <= source->shape[d], "gather");
  if (!fits) {
    throw ShapeError("gather", fmt::format("an index {} does not fit {}: it has the same rank and, but for axis {}, no "
                                           "larger extents",
                                           to_string(domain), to_string(source->shape), at));
  }
  return api::read_at(call, source, at, domain, 1, api::positions(call, index, source->shape[at], bounds));
}

}  // namespace oriel
