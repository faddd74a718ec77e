// The engine's side of oriel/grad.hpp.
#include <fmt/format.h>

#include "grad/reverse.hpp"
#include "oriel/error.hpp"
#include "oriel/grad.hpp"
#include "runtime/tape.hpp"

namespace oriel::detail {

using api::Call;
using derive::MarkTag;
using derive::Way;
using graph::NodePtr;

Deriving::Deriving() : tape_(new runtime::Tape) {}
Deriving::~Deriving() { delete tape_; }

namespace {

NodePtr zeros(const Call& call, const graph::Node& like) {
  return graph::constant(graph::Scalar::of_int(like.dtype, 0), like.shape, like.device, call.origin());
}

std::vector<Tensor> tensors_of(const Call& call, std::vector<NodePtr> nodes, std::span<const NodePtr> like) {
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < nodes.size(); ++k)
    out.push_back(Access::tensor(nodes[k] != nullptr ? std::move(nodes[k]) : zeros(call, *like[k])));
  return out;
}

/// The cotangent of a loss, 1. Throws unless it is one float.
NodePtr cotangent_of_loss(const Call& call, const graph::Node& loss) {
  if (!is_floating(loss.dtype))
    throw DTypeError(call.operation(), fmt::format("the loss is {}; only floats have derivatives", name(loss.dtype)));
  for (const SymInt n : loss.shape) {
    if (n == 1) continue;
    throw ShapeError(call.operation(), fmt::format("the loss has shape {}; reduce it to one element (sum, mean), or "
                                                   "take vjp with a cotangent",
                                                   to_string(loss.shape)));
  }
  return graph::constant(graph::Scalar::of_float(loss.dtype, 1), loss.shape, loss.device, call.origin());
}

}  // namespace

class Derivative {
 public:
  Derivative(std::vector<NodePtr> results, std::vector<NodePtr> by, const char* operation)
      : results_(std::move(results)), by_(std::move(by)), way_(results_, by_), operation_(operation) {}

  Call call() const { return {operation_, Site::unknown()}; }
  std::span<const NodePtr> results() const noexcept { return results_; }
  std::span<const NodePtr> variables() const noexcept { return by_; }

  std::vector<NodePtr> pull(const Call& call, std::span<const NodePtr> cotangents) const {
    return way_.pull(call, cotangents);
  }
  /// The reverse pass is linear in the cotangents. Its own reverse pass, by them, is the forward pass.
  std::vector<NodePtr> push(const Call& call, std::span<const NodePtr> tangents) const {
    std::vector<NodePtr> cotangents;
    for (const NodePtr& result : results_)
      cotangents.push_back(is_floating(result->dtype) ? derive::mark(call, zeros(call, *result),
                                                                     std::make_shared<MarkTag>(MarkTag::Kind::variable))
                                                      : nullptr);
    const std::vector<NodePtr> pulled = pull(call, cotangents);
    std::vector<NodePtr> linear, given, marks;
    for (std::size_t k = 0; k < pulled.size(); ++k) {
      if (pulled[k] == nullptr) continue;
      linear.push_back(pulled[k]);
      given.push_back(tangents[k]);
    }
    for (const NodePtr& cotangent : cotangents)
      if (cotangent != nullptr) marks.push_back(cotangent);
    const std::vector<NodePtr> found = Way(linear, marks).pull(call, given);
    std::vector<NodePtr> out;
    for (std::size_t r = 0, m = 0; r < results_.size(); ++r)
      out.push_back(cotangents[r] == nullptr ? nullptr : found[m++]);
    return out;
  }

 private:
  std::vector<NodePtr> results_, by_;
  Way way_;
  const char* operation_;
};

std::vector<Tensor> variables(std::span<const Tensor> of, const char* operation, std::size_t argument) {
  const Call call(operation, Site::unknown());
  std::vector<Tensor> out;
  if (of.empty()) throw ArgumentError(operation, fmt::format("argument {} holds no tensor", argument));
  for (const Tensor& tensor : of) {
    if (!is_floating(tensor.dtype()))
      throw DTypeError(operation, fmt::format("argument {} holds {} {}; only floats have derivatives: pass integers in "
                                              "another argument, or convert them first",
                                              argument, name(tensor.dtype()), to_string(tensor.shape())));
    const NodePtr node = Access::node(tensor);
    out.push_back(
        Access::tensor(derive::mark(call.at(node->site), node, std::make_shared<MarkTag>(MarkTag::Kind::variable))));
  }
  return out;
}

std::vector<Tensor> renamed(std::span<const Tensor> of) {
  std::vector<Tensor> out;
  for (const Tensor& tensor : of) out.push_back(Access::tensor(Access::node(tensor)));
  return out;
}

void check_numbers(const std::vector<std::size_t>& arguments, std::size_t count) {
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k] >= count || (k > 0 && arguments[k] <= arguments[k - 1]))
      throw ArgumentError("grad", fmt::format("argument {} of a function of {}; give numbers from 0 on, ascending",
                                              arguments[k], count));
}

Shared<const Derivative> derivative(std::span<const Tensor> results, std::span<const Tensor> by,
                                    const char* operation) {
  return Shared<Derivative>::make(Access::nodes(results), Access::nodes(by), operation);
}

std::vector<Tensor> pull(const Derivative& of, std::span<const Tensor> cotangents) {
  const Call call = of.call();
  const std::vector<NodePtr> given = Access::nodes(cotangents);
  derive::check_fit(call, given, of.results(), "cotangent", {});
  return tensors_of(call, of.pull(call, given), of.variables());
}

std::vector<Tensor> push(const Derivative& of, std::span<const Tensor> tangents) {
  const Call call = of.call();
  const std::vector<NodePtr> given = Access::nodes(tangents);
  derive::check_fit(call, given, of.variables(), "tangent", {});
  return tensors_of(call, of.push(call, given), of.results());
}

std::vector<Tensor> pull_loss(const Derivative& of, const Tensor& loss, const char* operation) {
  const Call call(operation, Site::unknown());
  const NodePtr one = cotangent_of_loss(call, *Access::node(loss));
  return tensors_of(call, of.pull(call, {&one, 1}), of.variables());
}

Tensor stopped(const Tensor& x) {
  const NodePtr node = Access::node(x);
  if (!is_floating(node->dtype)) return x;
  const Call call("stop_gradient", node->site);
  return Access::tensor(derive::mark(call, node, std::make_shared<MarkTag>(MarkTag::Kind::stop)));
}

Tensor kept_apart(const Tensor& x) {
  const NodePtr node = Access::node(x);
  return Access::tensor(derive::kept_apart(Call("checkpoint", node->site), node));
}

Tensor zeros_like_part(const Tensor& x) {
  const Call call("custom_jvp", Site::unknown());
  return Access::tensor(zeros(call, *Access::node(x)));
}

std::vector<Tensor> with_rule(std::span<const Tensor> operands, std::span<const Tensor> results,
                              Callback<std::vector<Tensor>(std::vector<Tensor>)> pull) {
  const Call call("custom_vjp", Site::unknown());
  const std::vector<NodePtr> raw = Access::nodes(results);
  const NodePtr of = derive::call_mark(
      call,
      {Access::nodes(operands), raw, [raw, pull = std::move(pull)](std::span<const NodePtr> cotangents) {
         const Call inner("custom_vjp", Site::unknown());
         return Access::nodes(pull(tensors_of(inner, std::vector<NodePtr>(cotangents.begin(), cotangents.end()), raw)));
       }});
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < raw.size(); ++k)
    out.push_back(is_floating(raw[k]->dtype) ? Access::tensor(derive::result_mark(call, raw[k], of, k)) : results[k]);
  return out;
}

}  // namespace oriel::detail

namespace oriel {

std::vector<Tensor> gradients(const Tensor& loss, ListOf<Tensor> by, Site site) {
  using detail::Access;
  const api::Call call("gradients", site);
  const graph::NodePtr node = Access::node(loss), one = detail::cotangent_of_loss(call, *node);
  const std::vector<graph::NodePtr> variables = Access::nodes({by.begin(), by.size()});
  for (std::size_t k = 0; k < variables.size(); ++k)
    if (!is_floating(variables[k]->dtype))
      throw DTypeError("gradients",
                       fmt::format("tensor {} is {}; only floats have derivatives", k, name(variables[k]->dtype)));
  std::vector<graph::NodePtr> found = derive::Way({&node, 1}, variables).pull(call, {&one, 1});
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k] != nullptr) continue;
    if (const std::string line = derive::computed_line(node, variables); !line.empty())
      throw ArgumentError("gradients",
                          fmt::format("the loss cannot be followed to tensor {}: the value of {} was realised and has "
                                      "let go of what it was computed from; take the gradients before the values, or "
                                      "use value_and_grad",
                                      k, line));
  }
  return detail::tensors_of(call, std::move(found), variables);
}

}  // namespace oriel
