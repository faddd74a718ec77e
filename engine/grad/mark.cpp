#include "grad/mark.hpp"

#include <utility>

#include "base/fork_lock.hpp"
#include "graph/make.hpp"

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

NodePtr mark(const Call& call, const NodePtr& x, std::shared_ptr<const MarkTag> tag) {
  NodePtr source = x;
  return graph::make_node(graph::Op::Mark, x->dtype, x->shape, graph::TagPtr(std::move(tag)), {&source, 1}, x->device,
                          call.origin());
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
