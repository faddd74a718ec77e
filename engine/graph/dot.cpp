#include "graph/dot.hpp"

#include <fmt/format.h>

#include <iterator>

#include "graph/walk.hpp"

namespace oriel::graph {

namespace {

struct ArgumentText {
  const Node& node;
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(const Scalar& value) const { return value.str(); }
  std::string operator()(const Ints& ints) const {
    if (node.op == Op::Const) return to_string(ints[0]);
    if (is_sort(node.op)) return ints[0] == 1 ? "descending" : "ascending";
    if (node.op == Op::Mark) return "again";
    if (is_scan(node.op) || is_scatter(node.op)) return fmt::format("axis {}", to_string(ints[0]));
    const Takes takes = row(node.op).takes;
    return fmt::format("{} {}",
                       takes == Takes::Order     ? "order"
                       : takes == Takes::Numbers ? "by"
                                                 : "axes",
                       to_string(ints));
  }
  std::string operator()(const std::shared_ptr<const Ranges>& ranges) const {
    std::string out;
    for (const Range& r : *ranges) {
      out += fmt::format("{}{}{}{}", out.empty() ? "" : " ", to_string(r.lo),
                         row(node.op).takes == Takes::Pads ? ',' : ':', to_string(r.hi));
    }
    return out;
  }
  std::string operator()(const std::shared_ptr<const View>& view) const { return view->str(); }
  std::string operator()(const std::shared_ptr<const ShapeTracker>& tracker) const { return tracker->str(); }
  std::string operator()(const HostFunctionPtr& function) const { return function->name; }
  std::string operator()(const TagPtr& /*tag*/) const { return {}; }
  std::string operator()(const mem::BufferPtr& buffer) const { return fmt::format("{} bytes", buffer->bytes()); }
};

std::string_view colour(const Node& node) {
  if (node.realized()) return "lightgrey";
  switch (row(node.op).op_class) {
    case OpClass::Leaf:
      return "white";
    case OpClass::Movement:
      return "lightblue";
    case OpClass::Write:
    case OpClass::Gather:
      return "khaki";
    case OpClass::Transfer:
      return "plum";
    case OpClass::Sort:
    case OpClass::Scan:
    case OpClass::Scatter:
    case OpClass::Host:
      return "salmon";
    case OpClass::Elementwise:
      return "palegreen";
    case OpClass::Reduce:
      return "orange";
  }
  return "white";
}

}  // namespace

std::string argument_text(const Node& node) { return std::visit(ArgumentText{node}, node.arg); }

std::string dot(std::span<const NodePtr> roots) {
  const std::vector<const Node*> order = post_order(roots);
  Numbering numbers;
  for (const Node* node : order) numbers.insert(node);
  std::string out = "digraph oriel {\n  node [shape=box, style=filled, fontname=\"monospace\"];\n";
  for (const Node* node : order) {
    const bool done = node->realized() && node->op != Op::Buffer;
    const std::string argument = done ? "realised" : argument_text(*node);
    fmt::format_to(std::back_inserter(out), "  n{} [label=\"{}{}{}\\n{} {}\", fillcolor={}];\n", numbers.find(node),
                   name(node->op), argument.empty() ? "" : " ", argument, oriel::name(node->dtype),
                   to_string(node->shape), colour(*node));
    if (node->realized()) continue;
    for (const NodePtr& source : node->sources) {
      fmt::format_to(std::back_inserter(out), "  n{} -> n{};\n", numbers.find(source.get()), numbers.find(node));
    }
  }
  for (std::size_t k = 0; k < roots.size(); ++k) {
    fmt::format_to(std::back_inserter(out),
                   "  out{} [label=\"result {}\", shape=plaintext, style=\"\"];\n  n{} -> out{};\n", k, k,
                   numbers.find(roots[k].get()), k);
  }
  return out + "}\n";
}

}  // namespace oriel::graph
