#include "capture/verify.hpp"

#include <fmt/format.h>

#include <cstring>
#include <unordered_map>
#include <utility>

#include "backend/backend.hpp"
#include "base/escape.hpp"
#include "formula/call.hpp"
#include "graph/dot.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "schedule/describe.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

std::string element_text(const Tensor& x, std::int64_t position) {
  const Tensor element = x.reshape({-1}).select(0, position);
  if (is_floating(x.dtype())) return fmt::format("{}", element.to(DType::float64).item<double>());
  if (x.dtype() == DType::bool_) return element.item<bool>() ? "true" : "false";
  if (x.dtype() == DType::uint64) return fmt::format("{}", element.item<std::uint64_t>());
  return fmt::format("{}", element.to(DType::int64).item<std::int64_t>());
}

std::string index_text(const Shape& shape, std::int64_t position) {
  Ints index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d].value()) index[d] = position % shape[d].value();
  return to_string(index);
}

/// A mark says nothing of elements, and is a reshape in files.
Op op_of(const Node& n) { return n.op == Op::Mark ? Op::Reshape : n.op; }

/// A trace's nodes, and what its leaves stand for.
class TraceNodes {
 public:
  explicit TraceNodes(const CapturedEntry& entry) : entry_(entry) {
    const auto add = [&](std::string_view kind, const std::vector<TracedGraph::Input>& inputs) {
      for (std::size_t k = 0; k < inputs.size(); ++k)
        leaves_.emplace(inputs[k].placeholder.get(), fmt::format("{} {}", kind, k));
    };
    add("input", entry.graph.storages);
    add("number", entry.graph.numbers);
    for (std::size_t k = 0; k < entry.graph.unbacked.size(); ++k)
      leaves_.emplace(entry.graph.unbacked[k].positions.placeholder.get(), fmt::format("positions {}", k));
  }

  /// Empty unless the node is an input or positions that a call finds.
  std::string leaf(const Node& n) const {
    const auto found = leaves_.find(&n);
    return found == leaves_.end() ? std::string() : found->second;
  }
  /// Everything of a node but its sources and the elements of a constant.
  std::string text(const Node& n) const {
    std::string what = leaf(n);
    if (what.empty() && n.realized()) what = "a constant";
    if (what.empty()) what = graph::name(op_of(n));
    if (const std::string argument = argument_of(n); !argument.empty()) what += " " + argument;
    if (n.op == Op::Copy) what += " to " + n.device.str();
    return fmt::format("{}: {} {}", what, name(n.dtype), to_string(n.shape));
  }

  const NodePtr& node(const CapturedValue& value) const {
    switch (value.kind) {
      case CapturedValue::Kind::input:
        return entry_.graph.storages[value.index].placeholder;
      case CapturedValue::Kind::number:
        return entry_.graph.numbers[value.index].placeholder;
      case CapturedValue::Kind::constant:
        return entry_.constants[value.index];
      case CapturedValue::Kind::unbacked:
        return entry_.graph.unbacked[value.index].positions.placeholder;
      case CapturedValue::Kind::output:
        break;
    }
    return entry_.graph.values[value.index];
  }

 private:
  std::string argument_of(const Node& n) const {
    if (n.realized() || n.op == Op::Mark) return {};
    const auto* const function = std::get_if<graph::HostFunctionPtr>(&n.arg);
    if (function != nullptr && !(*function)->saved.empty()) return base::escaped((*function)->saved);
    return graph::argument_text(n);
  }

  const CapturedEntry& entry_;
  std::unordered_map<const Node*, std::string> leaves_;
};

class TraceComparison {
 public:
  TraceComparison(const CapturedEntry& before, const CapturedEntry& now)
      : before_(before), now_(now), nodes_before_(before), nodes_now_(now) {}

  /// The first difference; empty if there is none.
  std::string difference() {
    if (before_.results.size() != now_.results.size())
      return fmt::format("the number of tensors in its result has become {} from {}", now_.results.size(),
                         before_.results.size());
    compare_unbacked();
    for (std::size_t k = 0; k < std::min(before_.fresh.size(), now_.fresh.size()); ++k)
      compare(before_.fresh[k], now_.fresh[k]);
    compare_writes();
    if (before_.fresh.size() != now_.fresh.size()) found("other results share memory now");
    for (std::size_t r = 0; r < before_.results.size(); ++r) compare_result(r);
    compare_sizes();
    // Also what no result reads: checks of positions.
    const std::vector<NodePtr>&a = before_.graph.values, &b = now_.graph.values;
    if (a.size() != b.size())
      found(fmt::format("what a call computes has become {} values from {}", b.size(), a.size()));
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) compare(a[k].get(), b[k].get());
    return std::move(difference_);
  }

 private:
  void found(std::string difference) {
    if (difference_.empty()) difference_ = std::move(difference);
  }
  void changed(const Node& a, const std::string& before, const std::string& now) {
    const std::string line = schedule::site_text(a.site);
    found(fmt::format(R"({}{}"{}" has become "{}")", line.empty() ? "" : "at ", line.empty() ? "" : line + " ", before,
                      now));
  }

  void compare(const CapturedValue& a, const CapturedValue& b) {
    compare(nodes_before_.node(a).get(), nodes_now_.node(b).get());
  }

  /// Sources first, so that the difference that is nearest to the arguments is found.
  void compare(const Node* before, const Node* now) {
    struct Frame {
      const Node* a;
      const Node* b;
      std::size_t next;
    };
    std::vector<Frame> path;
    const auto enter = [&](const Node* a, const Node* b) {
      const auto [at, fresh] = pair_of_.emplace(a, b);
      if (!fresh && !a->sources.empty()) {  // numbers may be made once or several times
        if (at->second != b) changed(*a, nodes_before_.text(*a), "another value: " + nodes_now_.text(*b));
        return;
      }
      const bool leaves = a->realized() || b->realized();
      if (op_of(*a) != op_of(*b) || (leaves && nodes_before_.text(*a) != nodes_now_.text(*b)) ||
          (!leaves && a->sources.size() != b->sources.size()))
        return changed(*a, nodes_before_.text(*a), nodes_now_.text(*b));
      path.push_back({a, b, leaves ? a->sources.size() : 0});
    };
    for (enter(before, now); difference_.empty() && !path.empty();) {
      Frame& top = path.back();
      if (top.next < top.a->sources.size()) {
        const std::size_t k = top.next++;
        enter(top.a->sources[k].get(), top.b->sources[k].get());
        continue;
      }
      compare_alone(*top.a, *top.b);
      path.pop_back();
    }
  }

  void compare_alone(const Node& a, const Node& b) {
    const std::string before = nodes_before_.text(a), now = nodes_now_.text(b);
    const auto *x = std::get_if<graph::Scalar>(&a.arg), *y = std::get_if<graph::Scalar>(&b.arg);
    if (before != now || (x != nullptr && y != nullptr && !(*x == *y))) return changed(a, before, now);
    if (a.realized() && nodes_before_.leaf(a).empty() && a.buffer != b.buffer) compare_elements(a, b);
  }

  void compare_elements(const Node& a, const Node& b) {
    const Tensor before = Access::tensor(NodePtr(&a)), now = Access::tensor(NodePtr(&b));
    const Device host = backend::host_device(a.device.context);
    const auto elements = [&](const Tensor& x) { return Access::elements(x.contiguous().to(host), "function"); };
    const auto x = elements(before), y = elements(now);
    const std::size_t item = itemsize(a.dtype), count = static_cast<std::size_t>(numel(a.shape).value());
    const auto differs = [&](std::size_t from, std::size_t n) {
      return n != 0 && std::memcmp(static_cast<const char*>(x.get()) + from * item,
                                   static_cast<const char*>(y.get()) + from * item, n * item) != 0;
    };
    if (!differs(0, count)) return;
    std::size_t k = 0;
    while (!differs(k, 1)) ++k;
    const auto position = static_cast<std::int64_t>(k);
    changed(a,
            fmt::format("{} at {} of {}", element_text(before, position), index_text(a.shape, position),
                        nodes_before_.text(a)),
            element_text(now, position));
  }

  void compare_unbacked() {
    const auto &a = before_.graph.unbacked, &b = now_.graph.unbacked;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
      compare(a[k].mask, b[k].mask);
      if (a[k].element != b[k].element) found("a size is read from other data now");
    }
    if (a.size() != b.size())
      found(fmt::format("the number of sizes that depend on data has become {} from {}", b.size(), a.size()));
  }

  void compare_writes() {
    if (before_.writes.size() != now_.writes.size())
      return found(fmt::format("the number of arguments that it writes has become {} from {}", now_.writes.size(),
                               before_.writes.size()));
    for (std::size_t k = 0; k < before_.writes.size(); ++k) {
      if (before_.writes[k].storage != now_.writes[k].storage) return found("it writes other arguments now");
      compare(before_.writes[k].value, now_.writes[k].value);
    }
  }

  void compare_result(std::size_t r) {
    const CapturedResult &a = before_.results[r], &b = now_.results[r];
    const std::vector<NodePtr>&x = before_.graph.movements[r], &y = now_.graph.movements[r];
    for (std::size_t k = 0; k < std::max(x.size(), y.size()); ++k) {
      const std::string before = k < x.size() ? nodes_before_.text(*x[k]) : "no movement",
                        now = k < y.size() ? nodes_now_.text(*y[k]) : "no movement";
      if (before != now) return changed(k < x.size() ? *x[k] : *y[k], before, now);
    }
    if (a.kind != b.kind || a.index != b.index) found(fmt::format("result {} names other memory now", r));
  }

  void compare_sizes() {
    const std::span<const SymInt> a = before_.result_sizes.symbolic(), b = now_.result_sizes.symbolic();
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
      if (const std::string before = to_string(a[k]), now = to_string(b[k]); before != now)
        return found(fmt::format("size {} of the result has become {} from {}", k, now, before));
    if (a.size() != b.size())
      found(fmt::format("the number of sizes in its result has become {} from {}", b.size(), a.size()));
  }

  const CapturedEntry& before_;
  const CapturedEntry& now_;
  TraceNodes nodes_before_, nodes_now_;
  std::unordered_map<const Node*, const Node*> pair_of_;
  std::string difference_;
};

/// Of the parts of a result that are neither tensors nor sizes.
std::string number_difference(const CapturedEntry& before, const CapturedEntry& now, const detail::TracerBase& tracer) {
  if (!before.like || !now.like) return {};
  const std::vector<std::int64_t> a = before.origin->form.values, b = tracer.form(now.like.get()).values;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    if (a[k] != b[k]) return fmt::format("number {} of the result has become {} from {}", k, b[k], a[k]);
  return {};
}

}  // namespace

void check_trace(const detail::Captured& captured, const CapturedEntry& entry,
                 const detail::CapturedArguments& arguments, const CallKey& key, const detail::TracerBase& tracer) {
  const OriginCall call(*entry.origin, arguments.signature);
  const std::unique_ptr<CapturedEntry> fresh =
      trace(call.arguments, call.inputs, call.key, entry.names, entry.origin->choices, tracer, captured.site,
            captured.options.guards_per_size);
  std::string difference = TraceComparison(entry, *fresh).difference();
  if (difference.empty()) difference = number_difference(entry, *fresh, tracer);
  if (difference.empty() && !fresh->holds(key)) {
    const FunctionMiss miss = fresh->first_miss(key, 0);
    difference = fmt::format("it takes the guard {} now, and this call has {}", miss.guard, miss.value);
  }
  if (difference.empty()) return;
  throw ArgumentError(
      "function", fmt::format("{} is not what its callable is now: {}. What the callable reads besides its "
                              "arguments, such as a global variable, has changed since it was traced; pass it as an "
                              "argument, or bind it with oriel::bind",
                              called(captured), difference));
}

}  // namespace oriel::api
