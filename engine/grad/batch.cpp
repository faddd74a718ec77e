#include "grad/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "grad/step.hpp"
#include "graph/host_function.hpp"
#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "runtime/tape.hpp"
#include "runtime/trace.hpp"

namespace oriel::derive {

namespace {

Shape in_front(SymInt n, const Shape& shape) {
  Shape out = shape;
  out.insert(out.begin(), n);
  return out;
}

/// What a node is made of: its sources, pending or kept by a tape. A result of a call with a rule of the program's own
/// has the call behind its value, and the call its operands and then its results.
Node::Sources sources_to_batch(const Node& node) {
  Node::Sources out = runtime::Tape::sources(node);
  const MarkTag* const tag = tag_of(node);
  if (tag == nullptr) return out;
  if (tag->kind == MarkTag::Kind::call) {
    out = {tag->rule.operands.begin(), tag->rule.operands.end()};
    for (const NodePtr& result : tag->rule.results) out.push_back(result);
  } else if (NodePtr call = tag->call()) {
    out.push_back(std::move(call));
  }
  return out;
}

/// A node and what it is for all entries.
struct Counterpart {
  NodePtr node;
  Batched batched;
};

/// One axis in front of all that a node does.
class Batcher {
 public:
  Batcher(const Call& call, SymInt count, std::vector<Counterpart> known)
      : call_(call), count_(count), known_(std::move(known)) {
    for (const Counterpart& one : known_) set(one.node, one.batched);
  }

  Batched of(const NodePtr& root) {
    struct Frame {
      NodePtr node;
      graph::Node::Sources sources;
      std::size_t next = 0;
    };
    std::vector<Frame> path;
    const auto enter = [&](const NodePtr& node) {
      if (!made_.contains(node.get())) path.push_back({node, sources_to_batch(*node), 0});
    };
    for (enter(root); !path.empty();) {
      Frame& top = path.back();
      if (top.next < top.sources.size()) {
        enter(NodePtr(top.sources[top.next++]));
        continue;
      }
      const Frame done = std::move(top);
      path.pop_back();
      set(done.node, batched(*done.node, done.sources));
    }
    return made_.at(root.get()).batched;
  }

 private:
  void set(const NodePtr& node, Batched batched) { made_[node.get()] = {node, std::move(batched)}; }

  const NodePtr& one(const NodePtr& source) const { return made_.at(source.get()).batched.node; }
  Value value(const Call& call, const NodePtr& source) const { return {call, one(source)}; }
  bool mapped(const NodePtr& source) const { return made_.at(source.get()).batched.mapped; }
  /// The source with the axis, repeated along it if it is the same for all.
  Value wide(const Call& call, const NodePtr& source) const {
    Value x = value(call, source);
    if (mapped(source)) return x;
    return x.reshape(in_front(1, x.shape())).broadcast(in_front(count_, x.shape()));
  }

  Batched batched(const Node& node, const graph::Node::Sources& sources) {
    const bool any = std::any_of(sources.begin(), sources.end(), [&](const NodePtr& s) { return mapped(s); });
    const Call call = call_.at(node.site);
    const graph::Origin& origin = call.origin();
    std::vector<NodePtr> all;
    if (!any) {  // the same for all, perhaps with a check of the positions of all
      bool same = true;
      for (const NodePtr& source : sources) {
        all.push_back(one(source));
        same = same && all.back() == source;
      }
      if (same) return {NodePtr(&node), false};
      if (const MarkTag* const tag = tag_of(node))
        if (std::optional<Batched> marked = of_own_rule(call, *tag, sources, false)) return *std::move(marked);
      return {graph::make_node(node.op, node.dtype, node.shape, node.arg, all, node.device, origin), false};
    }
    if (const MarkTag* const tag = tag_of(node))
      if (std::optional<Batched> marked = of_own_rule(call, *tag, sources, true)) return *std::move(marked);
    for (const NodePtr& source : sources) all.push_back(wide(call, source).node());
    const Shape shape = in_front(count_, node.shape);
    switch (graph::row(node.op).op_class) {
      case graph::OpClass::Movement:
        return {moved(node, all[0], sources[0]->shape, origin), true};
      case graph::OpClass::Elementwise:
        return {graph::make_node(node.op, node.dtype, shape, {}, all, origin), true};
      case graph::OpClass::Sort:
      case graph::OpClass::Transfer:
        return {graph::make_node(node.op, node.dtype, shape, node.arg, all, node.device, origin), true};
      case graph::OpClass::Reduce: {
        Ints axes = std::get<Ints>(node.arg);
        for (SymInt& axis : axes) axis = axis + 1;
        return {graph::reduce(graph::UsedOp(node.op), all[0], axes, origin), true};
      }
      case graph::OpClass::Scan:
        return {scan(node, sources, all, origin), true};
      case graph::OpClass::Scatter:
        return {scatter(call, node, sources, all), true};
      case graph::OpClass::Gather:
        return {gather(call, sources, all), true};
      case graph::OpClass::Write:
        return {write(node, sources[0]->shape, all, origin), true};
      case graph::OpClass::Host:
        return host(call, node, sources);
      case graph::OpClass::Leaf:
        break;
    }
    throw InternalError("vmap", "a leaf has sources");
  }

  /// Of the mark of a call with a rule of the program's own, and of the mark of a result that still has its call.
  std::optional<Batched> of_own_rule(const Call& call, const MarkTag& tag, const Node::Sources& sources,
                                     bool mapped) const {
    if (tag.kind == MarkTag::Kind::call) return Batched{call_mark(call, rule_for_all(tag.rule, mapped)), mapped};
    if (tag.kind != MarkTag::Kind::result || sources.size() == 1) return std::nullopt;
    const NodePtr value = mapped ? wide(call, sources[0]).node() : one(sources[0]);
    return Batched{result_mark(call, value, one(sources[1]), tag.number), mapped};
  }

  /// The rule runs on stand-ins for the cotangents of one entry, and what it makes of them is batched in its turn, with
  /// the operands and results of the call as they were batched here. If the call is not mapped, it is made again,
  /// because something below it is.
  OwnRule rule_for_all(const OwnRule& rule, bool mapped) const {
    OwnRule all;
    std::vector<Counterpart> known = known_;
    for (const NodePtr& operand : rule.operands) known.push_back(made_.at(operand.get()));
    for (const NodePtr& result : rule.results) known.push_back(made_.at(result.get()));
    for (const NodePtr& operand : rule.operands) all.operands.push_back(one(operand));
    for (const NodePtr& result : rule.results) all.results.push_back(mapped ? wide(call_, result).node() : one(result));
    all.pull = [rule, mapped, known = std::move(known), count = count_,
                call = call_](std::span<const NodePtr> cotangents) {
      const runtime::StandIns under_way;
      std::vector<Counterpart> own = known;
      std::vector<NodePtr> of_one;
      for (std::size_t k = 0; k < cotangents.size(); ++k) {
        of_one.push_back(cotangents[k] == nullptr ? nullptr : stand_in(rule.results[k]->shape, *rule.results[k]));
        if (cotangents[k] != nullptr) own.push_back({of_one.back(), {cotangents[k], mapped}});
      }
      Batcher batcher(call, count, std::move(own));
      std::vector<NodePtr> shares;
      const std::vector<NodePtr> shares_of_one = rule.shares(call, of_one);
      for (std::size_t k = 0; k < shares_of_one.size(); ++k)
        shares.push_back(is_floating(rule.operands[k]->dtype) ? batcher.share(shares_of_one[k], rule.operands[k])
                                                              : nullptr);
      return shares;
    };
    return all;
  }

  /// The cotangent of an operand for all entries. That of an operand which they share is the sum of theirs.
  NodePtr share(const NodePtr& of_one, const NodePtr& operand) {
    if (of_one == nullptr) return nullptr;
    const Batched made = of(of_one);
    if (mapped(operand)) return wide(call_, of_one).node();
    if (!made.mapped) return made.node;
    return value(call_, of_one).reduce(Op::Sum, {0}).drop({0}).node();
  }

  /// A view with an axis in front, over elements of shape `from` for each of its entries.
  View in_front_of(const View& view, const Shape& from) const {
    View out = view;
    out.shape.insert(out.shape.begin(), count_);
    out.strides.insert(out.strides.begin(), numel(from));
    if (out.masked()) out.mask.insert(out.mask.begin(), Range{0, count_});
    return out;
  }

  NodePtr moved(const Node& node, NodePtr x, const Shape& from, const graph::Origin& origin) const {
    const Shape shape = in_front(count_, node.shape);
    switch (graph::row(node.op).takes) {
      case graph::Takes::Target:
        if (node.op == Op::Mark) return graph::make_node(Op::Mark, node.dtype, shape, node.arg, {&x, 1}, origin);
        return graph::reshape(std::move(x), shape, origin);
      case graph::Takes::Format:
        return x;
      case graph::Takes::View:
        return graph::view_inside(std::move(x), in_front_of(*graph::move_of(node).view, from), origin);
      default:
        break;
    }
    // Axis by axis: the same map with an axis in front, which is read as it is.
    graph::IndexMap map = graph::movement(node.op).map(from, graph::move_of(node));
    for (graph::AxisRead& read : map.axes) ++read.axis;
    map.axes.insert(map.axes.begin(), graph::AxisRead{});
    map.shape = in_front(count_, map.shape);
    const std::optional<graph::Arg> argument = graph::argument_of(node.op, in_front(count_, from), map);
    if (argument) return graph::move(std::move(x), graph::move_of(node.op, shape, *argument), origin);
    return graph::view_inside(std::move(x), in_front_of(graph::view_of(graph::move_of(node), from), from), origin);
  }

  NodePtr scan(const Node& node, const graph::Node::Sources& sources, std::vector<NodePtr>& all,
               const graph::Origin& origin) const {
    const Ints& arg = std::get<Ints>(node.arg);
    const auto axis = static_cast<std::size_t>(arg[0].value()) + 1;
    if (node.op != Op::Recurrence) return graph::scan(node.op, all[0], axis, origin);
    const auto kind = static_cast<graph::Recursion>(arg[1].value());
    NodePtr factors = all[0];
    if (kind == graph::Recursion::number) {
      factors = one(sources[0]);
      if (mapped(sources[0])) {  // one for each entry
        Shape ones(all[1]->shape.size(), SymInt(1));
        ones[0] = count_;
        factors = graph::expand(graph::reshape(all[0], ones, origin), all[1]->shape, origin);
      }
    }
    return graph::recurrence(factors, all[1], axis, origin, kind == graph::Recursion::restarts);
  }

  NodePtr scatter(const Call& call, const Node& node, const graph::Node::Sources& sources,
                  const std::vector<NodePtr>& all) const {
    const Ints& arg = std::get<Ints>(node.arg);
    const auto axis = static_cast<std::size_t>(arg[0].value());
    const bool each = arg[1] == 1;
    const Shape like = in_front(count_, node.shape);
    Shape lines = like;
    lines[axis + 1] = sources[0]->shape[each ? axis : 0];
    NodePtr positions = one(sources[0]), values = sources.size() > 1 ? all[1] : nullptr;
    if (mapped(sources[0]) || each) {  // a position for each element
      Value place(call, all[0]);
      if (!each) {
        Shape line(lines.size(), SymInt(1));
        line[0] = count_;
        line[axis + 1] = lines[axis + 1];
        place = place.reshape(line);
      }
      positions = place.broadcast(lines).node();
    }
    if (values && sources[1]->shape.empty()) {
      Shape ones(lines.size(), SymInt(1));
      ones[0] = count_;
      values = Value(call, values).reshape(ones).broadcast(lines).node();
    }
    return graph::scatter(node.op, positions, values, like, axis + 1, node.shape[axis], call.origin());
  }

  NodePtr gather(const Call& call, const graph::Node::Sources& sources, const std::vector<NodePtr>& all) const {
    if (!mapped(sources[0])) return graph::gather(one(sources[0]), all[1], call.origin());
    const SymInt each = numel(sources[0]->shape);
    const Value place(call, all[1]);
    const Value first = positions(call, place.shape(), 0, place.device()).broadcast(place.shape());
    const Value size(call, graph::size_constant(each, DType::int64, place.shape(), place.device(), call.origin()));
    const Value inside = (place >= 0) & (place < size);
    return graph::gather(all[0], where(inside, first * size + place, -1).node(), call.origin());
  }

  NodePtr write(const Node& node, const Shape& target, const std::vector<NodePtr>& all,
                const graph::Origin& origin) const {
    const auto* const where = std::get_if<std::shared_ptr<const ShapeTracker>>(&node.arg);
    if (where == nullptr || *where == nullptr) return graph::assign(all[0], all[1], nullptr, origin);
    std::vector<View> views;
    for (const View& view : (*where)->views())
      views.push_back(in_front_of(view, views.empty() ? target : (*where)->views()[views.size() - 1].shape));
    return graph::assign(all[0], all[1],
                         std::make_shared<const ShapeTracker>(ShapeTracker::from_views(std::move(views))), origin);
  }

  Batched host(const Call& call, const Node& node, const graph::Node::Sources& sources) const {
    const auto& function = std::get<graph::HostFunctionPtr>(node.arg);
    std::vector<NodePtr> operands;
    if (graph::only_checks(
            *function)) {  // of the least and the greatest position, and what is beyond it: of all entries
      for (std::size_t k = 0; k < sources.size(); ++k)
        operands.push_back(
            mapped(sources[k])
                ? value(call, sources[k]).reduce(k == 1 ? Op::ReduceMax : Op::ReduceMin, {0}).drop({0}).node()
                : one(sources[k]));
      return {graph::host_call(function, operands, node.shape, node.dtype, call.origin()), false};
    }
    if (!function->options.batched)
      throw ArgumentError("vmap", fmt::format("the host function \"{}\" takes no batches; make it one that does "
                                              "(HostOptions::batched)",
                                              function->name));
    const auto joined = [&](const Shape& shape) {
      Shape out = shape;
      out[0] = count_ * out[0];
      return out;
    };
    for (const NodePtr& source : sources) operands.push_back(wide(call, source).reshape(joined(source->shape)).node());
    const Value all(call, graph::host_call(function, operands, joined(node.shape), node.dtype, call.origin()));
    return {all.reshape(in_front(count_, node.shape)).node(), true};
  }

  const Call& call_;
  SymInt count_;
  std::vector<Counterpart> known_;                     // what was given, rather than made
  std::unordered_map<const Node*, Counterpart> made_;  // its key lives as long as its entry
};

}  // namespace

NodePtr stand_in(const Shape& shape, const Node& like) {
  NodePtr out = graph::realized_node({.dtype = like.dtype, .shape = shape, .site = like.site},
                                     runtime::memoryless(like.device, 8));
  out->buffer->bump_version();
  return out;
}

std::vector<Batched> batch(const Call& call, std::span<const NodePtr> results, std::span<const NodePtr> variables,
                           std::span<const NodePtr> batched, SymInt count) {
  std::vector<Counterpart> known;
  for (std::size_t k = 0; k < variables.size(); ++k) known.push_back({variables[k], {batched[k], true}});
  Batcher batcher(call, count, std::move(known));
  std::vector<Batched> out;
  for (const NodePtr& result : results) out.push_back(batcher.of(result));
  return out;
}

}  // namespace oriel::derive
