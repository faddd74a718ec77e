// Reading and writing at positions along several axes, each in a tensor of its own.
#include <fmt/format.h>

#include <vector>

#include "base/parts.hpp"
#include "formula/gathering.hpp"
#include "formula/position_check.hpp"
#include "formula/value.hpp"
#include "oriel/error.hpp"
#include "oriel/ops.hpp"
#include "oriel/scatter.hpp"

namespace oriel {

using api::Access;
using api::Call;
using api::NodePtr;
using api::Op;
using api::Value;

namespace {

/// Positions along the first axes of a node, as one position along these axes taken as one.
struct SeveralPositions {
  /// `reads`: is the result read there? Then it has the shape of the positions.
  SeveralPositions(const Call& its_call, NodePtr node, const std::vector<Tensor>& tensors, Bounds wanted, bool reads)
      : call(its_call), source(std::move(node)), index(tensors), bounds(wanted) {
    const std::size_t count = index.size();
    if (count == 0 || count > source->shape.size()) {
      throw ArgumentError(call.operation(),
                          fmt::format("{} positions for {}; it takes one for each of its first axes, 1 to {}", count,
                                      to_string(source->shape), source->shape.size()));
    }
    Shape domain;
    for (const Tensor& positions : index) domain = graph::broadcast_shapes(domain, positions.shape(), call.origin());
    Shape result = source->shape;
    if (reads) {
      result = domain;
      result.push_back(numel(Shape(source->shape.begin() + static_cast<std::ptrdiff_t>(count), source->shape.end())));
    }
    std::vector<Value> at;
    for (std::size_t d = 0; d < count; ++d) {
      const Bounds unknown = api::checked_for(call, result, Access::node(index[d]), axis(d), bounds);
      at.push_back(Value(call, api::positions(call, index[d], axis(d), unknown)).broadcast(domain));
    }
    // What is outside of any is outside of all.
    Value flat = at[0], inside = flat >= 0;
    for (std::size_t d = 1; d < count; ++d) {
      flat = flat.binary(Op::Mul, source->shape[d]) + at[d];
      inside = inside & (at[d] >= 0);
    }
    const auto cut = static_cast<std::ptrdiff_t>(count);
    const SymInt all = numel(Shape(source->shape.begin(), source->shape.begin() + cut));
    const Value outside(call, api::position_number(call, all, *flat.node()));
    place = where(inside, flat, outside).tensor();
    Shape folded(source->shape.begin() + cut, source->shape.end());
    folded.insert(folded.begin(), all);
    whole = Access::tensor(call.reshape(source, folded));
  }

  api::IndexedAxis axis(std::size_t d) const { return {source->shape[d], d}; }
  /// What was read or written there, which waits for the checks of the positions.
  Tensor checked(NodePtr out) const {
    for (std::size_t d = 0; d < index.size(); ++d)
      out = api::checked_number(call, std::move(out), Access::node(index[d]), axis(d), bounds);
    return Access::tensor(std::move(out));
  }

  const Call& call;
  NodePtr source;
  const std::vector<Tensor>& index;
  Bounds bounds;
  Tensor whole;  // the source, with these axes as one
  Tensor place;  // along that
};

}  // namespace

Tensor index_put(const Operand& x, const std::vector<Tensor>& index, const Operand& values, bool accumulate,
                 Bounds bounds) {
  const Call call("index_put", x);
  const SeveralPositions p(call, call.node(x), index, bounds, false);
  const Operand whole(p.whole, Access::site(x));
  return api::renamed(call, [&] {
    const Tensor out =
        accumulate ? put_add(whole, p.place, values, 0, Bounds::zero) : put(whole, p.place, values, 0, Bounds::zero);
    return p.checked(call.reshape(Access::node(out), p.source->shape));
  });
}

Tensor at_indices(const Operand& x, const std::vector<Tensor>& index, Bounds bounds) {
  base::need<base::kFurther>("at_indices");
  const Call call("at_indices", x);
  const SeveralPositions p(call, call.node(x), index, bounds, true);
  return p.checked(Access::node(api::taken(call, Operand(p.whole, Access::site(x)), p.place, 0, Bounds::zero)));
}

}  // namespace oriel
