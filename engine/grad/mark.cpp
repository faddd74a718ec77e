#include "grad/mark.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/fork_lock.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"

namespace oriel::derive {

void MarkTag::release(std::vector<NodePtr>& dropped) const {
  NodePtr own;
  {
    const base::SpinGuard guard(base::SpinSet::nodes, this);
    own.swap(call_);
  }
  if (own) dropped.push_back(std::move(own));
}

NodePtr MarkTag::call() const {
  const base::SpinGuard guard(base::SpinSet::nodes, this);
  return call_;
}

void check_fit(const Call& call, std::span<const NodePtr> given, std::span<const NodePtr> tensors,
               std::string_view what, std::string_view giver) {
  if (given.size() != tensors.size())
    throw ArgumentError(call.operation(),
                        fmt::format("{} {}s{} came for {} tensors", given.size(), what, giver, tensors.size()));
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (given[k] == nullptr || (!giver.empty() && !is_floating(tensors[k]->dtype))) continue;
    const Node &one = *given[k], &tensor = *tensors[k];
    const bool same_dtype = one.dtype == tensor.dtype;
    if (same_dtype && one.shape == tensor.shape) continue;
    const std::string text = fmt::format("{} {}{} is {} {} for a tensor of {} {}", what, k, giver, name(one.dtype),
                                         to_string(one.shape), name(tensor.dtype), to_string(tensor.shape));
    if (!giver.empty()) throw ArgumentError(call.operation(), text);
    if (!same_dtype) throw DTypeError(call.operation(), text);
    throw ShapeError(call.operation(), text);
  }
}

std::vector<NodePtr> OwnRule::shares(const Call& call, std::span<const NodePtr> cotangents) const {
  std::vector<NodePtr> out = pull(cotangents);
  check_fit(call, out, operands, "cotangent", " of the rule of custom_vjp");
  return out;
}

NodePtr mark(const Call& call, const NodePtr& x, std::shared_ptr<const MarkTag> tag) {
  NodePtr source = x;
  return graph::make_node(graph::Op::Mark, x->dtype, x->shape, graph::TagPtr(std::move(tag)), {&source, 1}, x->device,
                          call.origin());
}

NodePtr call_mark(const Call& call, OwnRule rule) {
  const NodePtr none = graph::constant(graph::Scalar::of_int(DType::bool_, 0), {}, {}, call.origin());
  return mark(call, none, std::make_shared<MarkTag>(std::move(rule)));
}

NodePtr result_mark(const Call& call, const NodePtr& x, NodePtr of, std::size_t number) {
  return mark(call.at(x->site), x, std::make_shared<MarkTag>(MarkTag::Kind::result, std::move(of), number));
}

const MarkTag* tag_of(const Node& node) noexcept {
  const auto* const tag = std::get_if<graph::TagPtr>(&node.arg);
  return tag == nullptr ? nullptr : dynamic_cast<const MarkTag*>(tag->get());
}

NodePtr kept_apart(const Call& call, const NodePtr& x) {
  NodePtr source = x;
  return graph::make_node(graph::Op::Mark, x->dtype, x->shape, Ints{1}, {&source, 1}, x->device, call.origin());
}

}  // namespace oriel::derive
