#include "lang/places.hpp"

#include "formula/gathering.hpp"
#include "functions/scatter_parts.hpp"
#include "oriel/error.hpp"

namespace oriel::lang {

using graph::NodePtr;
using graph::Op;

namespace {

Op scatter_of(Assignment assignment) {
  switch (assignment) {
    case Assignment::Add:
      return Op::ScatterSum;
    case Assignment::Mul:
      return Op::ScatterProd;
    case Assignment::Min:
      return Op::ScatterMin;
    default:
      return Op::ScatterMax;
  }
}

// As numbers in the row-major order of a tensor of this shape, over the first `loops` loops; what is outside of an axis
// is outside of all.
NodePtr flat_places(const api::Call& call, const Places& at, const Shape& shape, std::size_t loops) {
  NodePtr flat = at.coordinates[0];
  for (std::size_t d = 1; d < shape.size(); ++d) {
    flat = call.binary(Op::Mul, std::move(flat), api::position_number(call, shape[d], *at.coordinates[0]));
    flat = call.binary(Op::Add, std::move(flat), at.coordinates[d]);
  }
  if (at.inside) flat = call.where(at.inside, flat, api::position_number(call, numel(shape), *flat));
  Ranges once = api::whole(flat->shape);
  for (std::size_t v = loops; v < once.size(); ++v) once[v] = {0, 1};
  flat = call.shrink(std::move(flat), once);
  return call.reshape(flat, {numel(flat->shape)});
}

NodePtr last_written(const api::Call& call, const api::Scattered& scattered, const NodePtr& value, NodePtr old) {
  const NodePtr last = scattered.last();
  NodePtr out = scattered.last_values(value, last);
  if (!old) return out;
  const NodePtr named = call.binary(Op::Le, api::position_number(call, 0, *last), last);
  return call.where(named, std::move(out), call.reshape(std::move(old), scattered.shape));
}

}  // namespace

graph::Op reduction_of(Assignment assignment) {
  switch (assignment) {
    case Assignment::Add:
      return Op::Sum;
    case Assignment::Mul:
      return Op::Prod;
    case Assignment::Min:
      return Op::ReduceMin;
    case Assignment::Max:
      return Op::ReduceMax;
    case Assignment::Set:
      break;
  }
  throw InternalError("comprehension", "an assignment without a reduction reduces nothing");
}

NodePtr after_checks(const api::Call& call, NodePtr out, const std::vector<NodePtr>& checks) {
  if (!api::is_number(out)) return out;
  for (const NodePtr& check : checks) out = api::after_check(call, std::move(out), check);
  return out;
}

NodePtr write_at(const api::Call& call, Assignment assignment, const Places& at, NodePtr value, const Shape& shape,
                 NodePtr old) {
  NodePtr flat = flat_places(call, at, shape, value->shape.size());
  value = call.reshape(std::move(value), flat->shape);
  const DType dtype = value->dtype;
  const Device device = value->device;
  const api::Scattered scattered{call, {numel(shape)}, 0, device, std::move(flat)};
  NodePtr out;
  if (assignment == Assignment::Set) {
    out = call.reshape(last_written(call, scattered, value, std::move(old)), shape);
  } else {
    if (is_half(dtype)) value = call.cast(std::move(value), DType::float32);
    out = call.cast(scattered.combine(scatter_of(assignment), std::move(value)), dtype);
    out = call.reshape(std::move(out), shape);
    if (old) out = call.binary(graph::row(reduction_of(assignment)).combination, std::move(old), std::move(out));
  }
  return after_checks(call, std::move(out), at.checks);
}

}  // namespace oriel::lang
