// Marks: nodes that derivatives are taken of, that stop them, or that have a rule of the program's own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "formula/call.hpp"

namespace oriel::derive {

using api::Call;
using graph::Node;
using graph::NodePtr;

/// A call whose derivative the program states. A null cotangent is 0.
struct OwnRule {
  std::vector<NodePtr> operands, results;
  /// What the program states: the cotangents of the operands for those of the results.
  std::function<std::vector<NodePtr>(std::span<const NodePtr> cotangents)> pull;

  /// The same. Throws ArgumentError if what comes back does not fit the operands.
  std::vector<NodePtr> shares(const Call& call, std::span<const NodePtr> cotangents) const;
};

/// Throws unless `given` are cotangents, or tangents, of these tensors: as many, of their dtypes and shapes. Null ones
/// fit, as does anything for integers, which have no derivative. `what` is "cotangent" or "tangent". `giver` says whose
/// they are, as " of the rule of custom_vjp", and an ArgumentError then names it; if it is empty, the caller gave them,
/// and the error is a DTypeError or a ShapeError.
void check_fit(const Call& call, std::span<const NodePtr> given, std::span<const NodePtr> tensors,
               std::string_view what, std::string_view giver);

/// What a Mark is for.
class MarkTag final : public graph::Tag {
 public:
  enum class Kind : std::uint8_t {
    variable,  // a derivative is taken by it
    stop,      // no derivative goes through it
    call,      // the operands of a call with a rule of its own; has no value
    result,    // a result of that call
  };
  explicit MarkTag(Kind its_kind, NodePtr of = nullptr, std::size_t its_number = 0)
      : kind(its_kind), number(its_number), call_(std::move(of)) {}
  explicit MarkTag(OwnRule its_rule) : kind(Kind::call), rule(std::move(its_rule)) {}

  const Kind kind;
  const std::size_t number = 0;  // of a result
  const OwnRule rule;            // of a call

  void release(std::vector<NodePtr>& dropped) const override;
  /// Of a result: the node of its call; null when it was realised.
  NodePtr call() const;

 private:
  mutable NodePtr call_;  // guarded by a spin lock
};

/// A Mark above x.
NodePtr mark(const Call& call, const NodePtr& x, std::shared_ptr<const MarkTag> tag);
/// The mark of a call: what its results are reached through.
NodePtr call_mark(const Call& call, OwnRule rule);
/// Result `number` of a call with such a mark, whose value is x.
NodePtr result_mark(const Call& call, const NodePtr& x, NodePtr of, std::size_t number);
/// The tag of a Mark; null for other nodes, for a Mark that kept_apart made, and for a Refusal.
const MarkTag* tag_of(const Node& node) noexcept;
/// A Mark that stays in a schedule: what is computed from it is computed again, rather than joined with what is
/// computed from x. Its argument is {1}.
NodePtr kept_apart(const Call& call, const NodePtr& x);

}  // namespace oriel::derive
