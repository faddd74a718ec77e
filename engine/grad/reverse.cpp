#include "grad/reverse.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formula/refusal.hpp"
#include "grad/rules.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/tape.hpp"
#include "schedule/describe.hpp"

namespace oriel::derive {

namespace {

using Kind = MarkTag::Kind;

bool is_own_call(const Node& node) noexcept {
  const MarkTag* const tag = tag_of(node);
  return tag != nullptr && tag->kind == Kind::call;
}

/// What derivatives pass to from a node: its sources, pending or kept by a tape; of marks what their rule says.
Node::Sources below(const Node& node) {
  if (const MarkTag* const tag = tag_of(node)) {
    if (tag->kind == Kind::stop) return {};
    if (tag->kind == Kind::call) return {tag->rule.operands.begin(), tag->rule.operands.end()};
    if (NodePtr call = tag->call()) return {std::move(call)};
  }
  return runtime::Tape::sources(node);
}

/// exp(x - max(x)) / sum(exp(x - max(x))), both over `axes`: a softmax. It does not change if x is shifted, so the
/// maximum has no share in its derivative, and the result p says what that is: p times (cotangent - sum(p cotangent)).
/// So nothing between x and p is kept, and nothing is computed for elements that share the maximum.
struct Softmax {
  NodePtr x;
  Ints axes;
  std::vector<const Node*> inside;  // the nodes between
};

std::optional<Softmax> softmax_of(const Node& node) {
  Softmax out;
  const auto sources_of = [&](const NodePtr& of, Op op) {
    out.inside.push_back(of.get());
    return of->op == op ? runtime::Tape::sources(*of) : Node::Sources{};
  };
  const auto repeated = [&](NodePtr x) {  // what is repeated along the axes
    while (x->op == Op::Expand || x->op == Op::Reshape) {
      Node::Sources sources = sources_of(x, x->op);
      if (sources.empty()) break;
      x = std::move(sources[0]);
    }
    return x;
  };
  if (node.op != Op::Div) return std::nullopt;
  const Node::Sources quotient = runtime::Tape::sources(node);
  if (quotient.size() != 2 || quotient[0]->op != Op::Exp || quotient[0]->shape.size() != node.shape.size())
    return std::nullopt;
  const NodePtr total = repeated(quotient[1]);
  const Node::Sources summed = sources_of(total, Op::Sum), power = sources_of(quotient[0], Op::Exp);
  if (summed.empty() || power.empty() || summed[0] != quotient[0]) return std::nullopt;
  const Node::Sources shifted = sources_of(power[0], Op::Sub);
  if (shifted.size() != 2) return std::nullopt;
  const NodePtr peak = repeated(shifted[1]);
  const Node::Sources of = sources_of(peak, Op::ReduceMax);
  if (of.empty() || of[0] != shifted[0] || !is_floating(of[0]->dtype)) return std::nullopt;
  out.x = shifted[0];
  out.axes = std::get<Ints>(total->arg);
  const Ints& others = std::get<Ints>(peak->arg);
  if (!std::equal(out.axes.begin(), out.axes.end(), others.begin(), others.end())) return std::nullopt;
  return out;
}

/// A node on the way.
struct Place {
  NodePtr node;
  Node::Sources sources;
  std::optional<Ints> softmax;        // the axes of one whose only source is its operand
  std::vector<std::int32_t> numbers;  // the places of the sources; -1: no derivative goes there
};

/// Cotangents from place to place.
class Pass {
 public:
  Pass(const Call& call, const std::vector<Place>& places)
      : call_(call), places_(places), sums_(places.size()), calls_(places.size()) {}

  void add(std::int32_t place, NodePtr share) {
    NodePtr& sum = sums_[static_cast<std::size_t>(place)];
    sum = sum ? call_.binary(Op::Add, std::move(sum), std::move(share)) : std::move(share);
  }
  const NodePtr& sum(std::int32_t place) const { return sums_[static_cast<std::size_t>(place)]; }

  void run() {
    for (std::size_t i = places_.size(); i-- > 0;) {
      const Place& place = places_[i];
      if (is_own_call(*place.node))
        pull_call(place, i);
      else if (sums_[i] != nullptr && !place.sources.empty() && is_own_call(*place.sources[0]))
        give_result(place, i);
      else if (sums_[i] != nullptr)
        pull_node(place, i);
    }
  }

 private:
  void check_allowed(const Node& node) const {
    const auto* const tag = std::get_if<graph::TagPtr>(&node.arg);
    if (tag == nullptr) return;
    if (const auto* const refusal = dynamic_cast<const api::Refusal*>(tag->get()))
      throw ArgumentError(call_.operation(), std::string(refusal->why));
  }

  void pull_node(const Place& place, std::size_t i) {
    std::vector<bool> wanted;
    for (const std::int32_t number : place.numbers) wanted.push_back(number >= 0);
    if (std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) return;
    check_allowed(*place.node);
    std::vector<NodePtr> shares(place.sources.size());
    const Call call = call_.at(place.node->site);
    if (place.softmax) {
      const Value p(call, place.node), cotangent(call, sums_[i]);
      const Value sum = (p * cotangent).reduce(Op::Sum, *place.softmax).broadcast(p.shape());
      return add(place.numbers[0], (p * (cotangent - sum)).node());
    }
    Step step(call, *place.node, {place.sources.data(), place.sources.size()}, wanted, sums_[i], shares);
    rule(place.node->op).pull(step);
    for (std::size_t k = 0; k < shares.size(); ++k)
      if (shares[k] != nullptr && wanted[k]) add(place.numbers[k], std::move(shares[k]));
  }

  void give_result(const Place& place, std::size_t i) {
    if (place.numbers[0] < 0) return;
    const std::size_t number = tag_of(*place.node)->number;
    std::vector<NodePtr>& cotangents = calls_[static_cast<std::size_t>(place.numbers[0])];
    cotangents.resize(std::max(cotangents.size(), number + 1));
    cotangents[number] = sums_[i];
  }

  void pull_call(const Place& place, std::size_t i) {
    if (calls_[i].empty()) return;
    const OwnRule& own = tag_of(*place.node)->rule;
    calls_[i].resize(own.results.size());
    const std::vector<NodePtr> shares = own.shares(call_, calls_[i]);
    for (std::size_t k = 0; k < shares.size(); ++k)
      if (shares[k] != nullptr && place.numbers[k] >= 0) add(place.numbers[k], shares[k]);
  }

  const Call& call_;
  const std::vector<Place>& places_;
  std::vector<NodePtr> sums_;                // the cotangent of each place
  std::vector<std::vector<NodePtr>> calls_;  // of each call with a rule of its own, those of its results
};

}  // namespace

struct Way::Places {
  std::vector<Place> list;  // sources first
  std::vector<std::int32_t> results, variables;
};

/// Finds the places by one iterative walk.
class Way::Builder {
 public:
  Builder(std::span<const NodePtr> results, std::span<const NodePtr> variables) {
    for (const NodePtr& variable : variables) variables_.insert(variable.get());
    for (const NodePtr& result : results) walk(result);
    for (const NodePtr& result : results) found.results.push_back(place_of(*result));
    for (const NodePtr& variable : variables) found.variables.push_back(place_of(*variable));
  }
  Places found;

 private:
  struct Frame {
    Place place;
    std::size_t next = 0;
  };

  static bool has_derivative(const Node& node) noexcept { return is_floating(node.dtype) || is_own_call(node); }

  /// -1 if the node has not been met, or leads to no variable.
  std::int32_t place_of(const Node& node) const {
    const std::int32_t number = has_derivative(node) ? met_.find(&node) : -1;
    return number < 0 ? -1 : places_[static_cast<std::size_t>(number)];
  }

  void enter(const NodePtr& node) {
    if (!has_derivative(*node) || !met_.insert(node.get())) return;
    places_.push_back(-1);
    const bool passes = rule(node->op).pull != nullptr;
    std::optional<Softmax> softmax = softmax_of(*node);
    if (softmax && std::ranges::any_of(softmax->inside, [&](const Node* n) { return variables_.find(n) >= 0; }))
      softmax.reset();
    if (softmax)
      path_.push_back({{node, {std::move(softmax->x)}, std::move(softmax->axes), {}}, 0});
    else
      path_.push_back({{node, passes ? below(*node) : Node::Sources{}, {}, {}}, 0});
  }

  void walk(const NodePtr& result) {
    for (enter(result); !path_.empty();) {
      Frame& top = path_.back();
      if (top.next < top.place.sources.size()) {
        enter(NodePtr(top.place.sources[top.next++]));
        continue;
      }
      Place place = std::move(top.place);
      path_.pop_back();
      bool leads = variables_.find(place.node.get()) >= 0;
      for (const NodePtr& source : place.sources) {
        place.numbers.push_back(place_of(*source));
        leads = leads || place.numbers.back() >= 0;
      }
      if (!leads) continue;
      places_[static_cast<std::size_t>(met_.find(place.node.get()))] = static_cast<std::int32_t>(found.list.size());
      found.list.push_back(std::move(place));
    }
  }

  graph::Numbering variables_, met_;
  std::vector<std::int32_t> places_;  // of the nodes that were met
  std::vector<Frame> path_;
};

Way::Way(std::span<const NodePtr> results, std::span<const NodePtr> variables)
    : places_(std::make_unique<const Places>(std::move(Builder(results, variables).found))) {}
Way::~Way() = default;

std::vector<NodePtr> Way::pull(const Call& call, std::span<const NodePtr> cotangents) const {
  Pass pass(call, places_->list);
  for (std::size_t r = 0; r < cotangents.size(); ++r)
    if (const std::int32_t place = places_->results[r]; place >= 0 && cotangents[r] != nullptr)
      pass.add(place, cotangents[r]);
  pass.run();
  std::vector<NodePtr> out;
  for (const std::int32_t place : places_->variables) out.push_back(place < 0 ? nullptr : pass.sum(place));
  return out;
}

std::string computed_line(const NodePtr& result, std::span<const NodePtr> variables) {
  graph::Numbering seen;
  for (const NodePtr& variable : variables) seen.insert(variable.get());
  std::vector<NodePtr> waiting{result};
  while (!waiting.empty()) {
    const NodePtr node = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(node.get())) continue;
    const Node::Sources sources = runtime::Tape::sources(*node);
    if (node->realized() && sources.empty() && node->op != Op::Buffer) return schedule::site_text(node->site);
    for (const NodePtr& source : sources) waiting.push_back(source);
  }
  return {};
}

}  // namespace oriel::derive
