// The engine's side of vmap and jacobian.
#include <fmt/format.h>

#include "grad/batch.hpp"
#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/grad.hpp"
#include "oriel/movement.hpp"
#include "runtime/tape.hpp"
#include "sym/decide.hpp"

namespace oriel::detail {

using api::Call;
using graph::NodePtr;

struct Mapping::State {
  Call call;
  runtime::StandIns under_way = {};
  std::vector<NodePtr> ones = {}, all = {};  // stand-ins, and what they stand for
  std::optional<SymInt> count = {};
};

Mapping::Mapping(const char* operation) : state_(new State{.call = Call(operation, Site::unknown())}) {}
Mapping::~Mapping() { delete state_; }

std::vector<Tensor> Mapping::stand_ins(std::span<const Tensor> parts, std::int64_t axis, std::size_t argument) {
  const Call& call = state_->call;
  std::vector<Tensor> out;
  for (const Tensor& part : parts) {
    const NodePtr node = Access::node(part);
    const std::size_t d = call.axis(axis, node->shape.size());
    if (!state_->count) state_->count = node->shape[d];
    if (*state_->count != node->shape[d])
      throw ShapeError(call.operation(),
                       fmt::format("argument {} has {} entries along axis {} of {}, and one before it has {}", argument,
                                   to_string(node->shape[d]), d, to_string(node->shape), to_string(*state_->count)));
    Ints order{SymInt(d)};
    Shape shape;
    for (std::size_t k = 0; k < node->shape.size(); ++k) {
      if (k == d) continue;
      order.push_back(k);
      shape.push_back(node->shape[k]);
    }
    state_->all.push_back(call.permute(node, order));
    state_->ones.push_back(derive::stand_in(shape, *node));
    out.push_back(Access::tensor(state_->ones.back()));
  }
  return out;
}

std::vector<Tensor> Mapping::results(std::span<const Tensor> of_one, std::int64_t axis) const {
  const Call& call = state_->call;
  if (!state_->count)
    throw ArgumentError(call.operation(), "no argument has entries; give one an axis that counts them");
  std::vector<NodePtr> nodes;
  for (const Tensor& result : of_one) nodes.push_back(Access::node(result));
  std::vector<Tensor> out;
  for (const derive::Batched& found : derive::batch(call, nodes, state_->ones, state_->all, *state_->count)) {
    NodePtr all = found.node;
    if (!found.mapped) {  // the same for all
      Shape wide = all->shape;
      wide.insert(wide.begin(), *state_->count);
      all = call.broadcast(all, wide);
    }
    const std::size_t rank = all->shape.size(), at = api::new_axis(call, axis, rank - 1);
    Ints order;
    for (std::size_t k = 1; k < rank; ++k) order.push_back(k);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), SymInt(0));
    out.push_back(Access::tensor(call.permute(all, order)));
  }
  return out;
}

Tensor basis_of(const Tensor& x) {
  Shape shape = x.shape();
  const SymInt n = numel(shape);
  shape.insert(shape.begin(), n);
  return eye(n, n, 0, x.dtype()).to(x.device()).reshape(shape);
}

Tensor jacobian_of(const Tensor& lines, const Tensor& result, const Tensor& argument, bool columns) {
  Shape shape = result.shape();
  for (const SymInt n : argument.shape()) shape.push_back(n);
  if (!columns) return lines.reshape(shape);
  return lines.reshape(Shape{numel(argument.shape()), numel(result.shape())}).transpose(0, 1).reshape(shape);
}

bool is_larger(const Tensor& a, const Tensor& b) {
  return sym::hint(numel(a.shape())).value_or(0) > sym::hint(numel(b.shape())).value_or(0);
}

}  // namespace oriel::detail
