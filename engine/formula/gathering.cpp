#include "formula/gathering.hpp"

#include <fmt/format.h>

#include <limits>

#include "graph/gather.hpp"
#include "oriel/error.hpp"
#include "sym/decide.hpp"

namespace oriel::api {

NodePtr position_number(const Call& call, SymInt value, const graph::Node& like) {
  return graph::size_constant(value, DType::int64, like.shape, like.device, call.origin());
}

NodePtr raw_positions(const Call& call, const Tensor& index) {
  check_integers(call, index.dtype());
  if (index.dtype() != DType::uint64) return call.cast(Access::node(index), DType::int64);
  const NodePtr most = graph::constant(graph::Scalar::of_int(DType::uint64, std::numeric_limits<std::int64_t>::max()),
                                       index.shape(), index.device(), call.origin());
  return call.cast(call.binary(Op::Min, Access::node(index), most), DType::int64);
}

NodePtr positions(const Call& call, const Tensor& index, const IndexedAxis& axis, Bounds bounds) {
  const NodePtr given = Access::node(index);
  NodePtr at = raw_positions(call, index);
  bounds = checked_now(call, given, axis, bounds);
  const Reach reach = reach_of(given);
  if (reach.least >= 0 && !axis.extent.is_symbolic() && reach.greatest < axis.extent.value()) return at;
  const NodePtr extent = position_number(call, axis.extent, *at);
  NodePtr moved = at;
  NodePtr inside = call.binary(Op::Lt, at, extent);
  if (reach.least < 0) {
    const NodePtr zero = position_number(call, 0, *at);
    moved = call.where(call.binary(Op::Lt, at, zero), call.binary(Op::Add, at, extent), at);
    inside = call.binary(Op::And, call.binary(Op::Le, zero, moved), call.binary(Op::Lt, moved, extent));
  }
  inside = and_checked(call, std::move(inside), given, axis, bounds);
  return call.where(std::move(inside), std::move(moved), position_number(call, -1, *at));
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

Tensor taken(const Call& call, const Operand& x, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const NodePtr source = call.node(x);
  const std::size_t at = call.axis(axis, source->shape.size());
  Shape domain(source->shape.begin(), source->shape.begin() + static_cast<std::ptrdiff_t>(at));
  domain.insert(domain.end(), index.shape().begin(), index.shape().end());
  domain.insert(domain.end(), source->shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, source->shape.end());
  bounds = checked_for(call, domain, Access::node(index), {source->shape[at], at}, bounds);
  const NodePtr where = positions(call, index, {source->shape[at], at}, bounds);
  NodePtr read = Access::node(read_at(call, source, at, domain, where->shape.size(), where));
  return Access::tensor(checked_number(call, std::move(read), Access::node(index), {source->shape[at], at}, bounds));
}

Tensor gathered(const Call& call, const NodePtr& source, const Tensor& index, std::int64_t axis, Bounds bounds) {
  const std::size_t at = call.axis(axis, source->shape.size());
  const Shape& domain = index.shape();
  bool fits = domain.size() == source->shape.size();
  for (std::size_t d = 0; fits && d < domain.size(); ++d)
    fits = d == at || sym::required(domain[d] <= source->shape[d], call.operation());
  if (!fits) {
    throw ShapeError(call.operation(), fmt::format("an index {} does not fit {}: it has the same rank and, but for "
                                                   "axis {}, no larger extents",
                                                   to_string(domain), to_string(source->shape), at));
  }
  const IndexedAxis indexed{source->shape[at], at};
  NodePtr read = Access::node(read_at(call, source, at, domain, 1, positions(call, index, indexed, bounds)));
  return Access::tensor(checked_number(call, std::move(read), Access::node(index), indexed, bounds));
}

}  // namespace oriel::api
