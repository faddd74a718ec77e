// What must not be differentiated although its elements are floats.
#pragma once

#include <memory>
#include <string_view>

#include "formula/value.hpp"
#include "graph/make.hpp"

namespace oriel::api {

/// The tag of a Mark through which no derivative goes: taking one is an error that says why.
class Refusal final : public graph::Tag {
 public:
  explicit Refusal(std::string_view reason) : why(reason) {}
  void release(std::vector<NodePtr>& /*dropped*/) const override {}
  const std::string_view why;  // of a constant
};

/// x, of which a derivative is an error. `refusal` is made once.
inline Value refused(const Value& x, const std::shared_ptr<const Refusal>& refusal) {
  if (x.node()->op == Op::Const) return x;
  NodePtr source = x.node();
  return {x.call(), graph::make_node(Op::Mark, x.dtype(), x.shape(), graph::TagPtr(refusal), {&source, 1}, x.device(),
                                     x.call().origin())};
}

}  // namespace oriel::api
