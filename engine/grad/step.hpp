// One node on the way of derivatives.
#pragma once

#include <span>
#include <vector>

#include "formula/value.hpp"

namespace oriel::derive {

using api::Call;
using api::Value;
using graph::Node;
using graph::NodePtr;
using graph::Op;

/// A node of the reverse pass: its operands, its result, and the cotangent of the result, which has the result's shape
/// and dtype. The rule gives each operand that is wanted its share. What is given to an operand is linear in the
/// cotangent, so that the same rules give forward derivatives (transforms.cpp).
class Step {
 public:
  /// `shares`: one for each operand, null: nothing yet.
  Step(const Call& call, const Node& node, std::span<const NodePtr> operands, const std::vector<bool>& wanted,
       NodePtr cotangent, std::span<NodePtr> shares)
      : call_(call),
        node_(node),
        operands_(operands),
        wanted_(wanted),
        cotangent_(std::move(cotangent)),
        shares_(shares) {}

  const Call& call() const noexcept { return call_; }
  const Node& node() const noexcept { return node_; }
  std::size_t operands() const noexcept { return operands_.size(); }
  /// Operand k, whose value the derivative depends on.
  Value operand(std::size_t k) const { return {call_, operands_[k]}; }
  Value result() const { return {call_, NodePtr(&node_)}; }
  Value cotangent() const { return {call_, cotangent_}; }
  /// Does a derivative go through operand k?
  bool wants(std::size_t k) const { return wanted_[k]; }
  /// The cotangent of operand k, of its shape and dtype. Throws InternalError for another shape.
  void give(std::size_t k, const Value& share);

  // Shares of operand k that are products with the cotangent.
  void give_times(std::size_t k, const Value& factor) { give(k, cotangent() * factor); }
  void give_times(std::size_t k, double factor);
  /// The cotangent where the condition holds, else 0, also beside infinities.
  void give_where(std::size_t k, const Value& condition) { give(k, where(condition, cotangent(), 0)); }

 private:
  const Call& call_;
  const Node& node_;
  std::span<const NodePtr> operands_;
  const std::vector<bool>& wanted_;
  NodePtr cotangent_;
  std::span<NodePtr> shares_;
};

/// x with one axis padded by `before` and `after` zeros.
Value padded(const Value& x, std::size_t axis, SymInt before, SymInt after);
Value flipped(const Value& x, std::size_t axis);

/// What a view gives back to the row-major elements, of shape `from`, that it shows: for each of them the sum of
/// `cotangent` over all indices of the view that show it (adjoint.cpp).
Value view_adjoint(const View& view, const Shape& from, const Value& cotangent);

}  // namespace oriel::derive
