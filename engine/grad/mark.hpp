// Marks: nodes that derivatives are taken of, that stop them, or that have a rule of the program's own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "formula/call.hpp"

namespace oriel::derive {

using api::Call;
using graph::Node;
using graph::NodePtr;

/// A call whose derivative the program states: the nodes of its operands, and what their cotangents are for those of
/// its results. A null cotangent is 0.
struct OwnRule {
  std::vector<NodePtr> operands;
  std::function<std::vector<NodePtr>(std::span<const NodePtr> cotangents)> pull;
  std::size_t results = 0;
};

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
/// The tag of a Mark; null for other nodes, for a Mark that kept_apart made, and for a Refusal.
const MarkTag* tag_of(const Node& node) noexcept;
/// A Mark that stays in a schedule: what is computed from it is computed again, rather than joined with what is
/// computed from x. Its argument is {1}.
NodePtr kept_apart(const Call& call, const NodePtr& x);

}  // namespace oriel::derive
