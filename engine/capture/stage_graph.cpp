#include <algorithm>
#include <utility>

#include "capture/stage.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "schedule/estimate.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;

namespace {

/// What a value needs, up to values that are given.
class Needs {
 public:
  Needs(const Node* value, const graph::Numbering& given) {
    std::vector<const Node*> waiting{value};
    while (!waiting.empty()) {
      const Node* const node = waiting.back();
      waiting.pop_back();
      if (given.find(node) >= 0 || !seen_.insert(node)) continue;
      nodes_.push_back(node);
      if (node->realized()) continue;
      for (const NodePtr& source : node->sources) waiting.push_back(source.get());
    }
  }
  bool has(const Node* node) const noexcept { return seen_.find(node) >= 0; }
  const std::vector<const Node*>& nodes() const noexcept { return nodes_; }

 private:
  graph::Numbering seen_;
  std::vector<const Node*> nodes_;
};

/// Is more computed for the value than one operation for each of its elements?
bool costly(const Node* value) {
  const Needs needs(value, {});
  return std::ranges::any_of(needs.nodes(), [](const Node* node) {
    return !node->realized() && !graph::is_elementwise(node->op) && !graph::is_movement(node->op) &&
           !node->sources.empty() && node->op != graph::Op::Gather;
  });
}

}  // namespace

StageGraph::StageGraph(const TracedGraph& graph, std::vector<std::size_t> computes,
                       const std::vector<std::size_t>& computed_before, bool last)
    : graph_(graph), computes_(std::move(computes)) {
  using Kind = CapturedValue::Kind;
  const auto add = [&](Kind kind, const std::vector<TracedGraph::Input>& inputs) {
    for (std::size_t k = 0; k < inputs.size(); ++k)
      leaves_.push_back({{kind, k}, inputs[k].placeholder.get(), &inputs[k].kind});
  };
  add(Kind::input, graph_.storages);
  add(Kind::number, graph_.numbers);
  for (std::size_t k = 0; k < graph_.unbacked.size(); ++k)
    leaves_.push_back(
        {{Kind::unbacked, k}, graph_.unbacked[k].positions.placeholder.get(), &graph_.unbacked[k].positions.kind});
  for (const std::size_t value : computed_before)
    leaves_.push_back({{Kind::output, value}, graph_.values[value].get(), nullptr});
  walk();
  for (const auto& movements : graph_.movements) {
    if (!last) break;
    for (const NodePtr& movement : movements) {
      sizes_.add(*movement);
      sizes_.add(*movement->sources[0]);
    }
  }
  sizes_.compile();
}

void StageGraph::walk() {
  graph::Numbering leaves;
  for (const Leaf& leaf : leaves_) leaves.insert(leaf.node);
  graph::Numbering places;
  struct Frame {
    const Node* node;
    std::size_t next;
  };
  std::vector<Frame> path;
  const auto enter = [&](const Node* node) {
    if (places.find(node) < 0) path.push_back({node, 0});
  };
  for (const std::size_t value : computes_) {
    for (enter(graph_.values[value].get()); !path.empty();) {
      Frame& top = path.back();
      const Node* const node = top.node;
      const std::int32_t leaf = leaves.find(node);
      if (const bool below = leaf < 0 && !node->realized(); below && top.next < node->sources.size()) {
        enter(node->sources[top.next++].get());
        continue;
      }
      path.pop_back();
      if (!places.insert(node)) continue;
      TracedNode& step = order_.emplace_back(TracedNode{node, leaf, false, {}});
      if (leaf >= 0) {
        const Leaf& from = leaves_[static_cast<std::size_t>(leaf)];
        if (from.kind != nullptr) {
          sizes_.add(*from.kind);
        } else {  // the layout of the value may depend on all sizes below it
          for (const Node* below : graph::post_order({&graph_.values[from.from.index], 1})) sizes_.add(*below);
        }
        continue;
      }
      sizes_.add(*node);
      if (node->realized()) continue;
      for (const NodePtr& source : node->sources)
        step.sources.push_back(static_cast<std::uint32_t>(places.find(source.get())));
    }
    roots_.push_back(static_cast<std::uint32_t>(places.find(graph_.values[value].get())));
    order_[roots_.back()].root = true;
  }
}

std::vector<NodePtr> StageGraph::resized(const graph::Sizes::At& at, std::span<const NodePtr> stand_ins) const {
  std::vector<NodePtr> made;
  made.reserve(order_.size());
  std::vector<NodePtr> sources;
  for (const TracedNode& step : order_) {
    if (step.leaf >= 0) {
      made.push_back(stand_ins[static_cast<std::size_t>(step.leaf)]);
    } else if (step.node->realized()) {
      made.emplace_back(step.node);
    } else {
      sources.clear();
      for (const std::uint32_t source : step.sources) sources.push_back(made[source]);
      made.push_back(graph::resized(*step.node, at, sources));
      // A root is computed, even if a movement of what is in memory turns out to change nothing.
      if (step.root && made.back()->realized()) made.back() = graph::resized(*step.node, at, sources, true);
    }
  }
  std::vector<NodePtr> roots;
  for (const std::uint32_t root : roots_) roots.push_back(made[root]);
  return roots;
}

std::vector<NodePtr> StageGraph::make_stand_ins(const graph::Sizes::At& at, std::span<const NodePtr> done) const {
  std::vector<NodePtr> stand_ins(leaves_.size());
  for (const TracedNode& step : order_) {
    if (step.leaf < 0) continue;
    const auto k = static_cast<std::size_t>(step.leaf);
    const Leaf& leaf = leaves_[k];
    graph::RealizedKind kind;
    if (leaf.kind != nullptr)
      kind = at(*leaf.kind);
    else if (done.empty())
      kind = {.dtype = leaf.node->dtype, .shape = at(leaf.node->shape)};
    else
      kind = realized_kind(*done[leaf.from.index]);
    // As a SymInt, because the sizes of a file may be too large.
    const SymInt bytes =
        SymInt(schedule::estimate_points(kind.shape, "function")) * static_cast<std::int64_t>(itemsize(kind.dtype));
    if (bytes < 0)
      throw ShapeError("function", "a value of shape " + to_string(kind.shape) + " has a negative number of elements");
    stand_ins[k] = graph::realized_node(kind, runtime::memoryless(leaf.node->device, bytes.value()));
  }
  return stand_ins;
}

StageGraph::Resized StageGraph::at(const graph::Sizes::At& sizes, std::span<const NodePtr> done) const {
  Resized out;
  if (sizes_.variables().empty() && done.empty()) {  // as it was traced, once: its placeholders end with the trace
    for (const Leaf& leaf : leaves_) out.leaves.emplace_back(leaf.node);
    for (const std::size_t value : computes_) out.roots.push_back(graph_.values[value]);
  } else {
    out.leaves = make_stand_ins(sizes, done);
    out.roots = resized(sizes, out.leaves);
  }
  // For symbolic sizes what is checked becomes guards.
  if (!graph_.trusted) check_loaded(out.roots);
  return out;
}

StageGraph::Symbolic StageGraph::over(const PlanSymbols& symbols) const {
  const graph::Sizes::At sizes = sizes_.in(symbols.env(), symbols.of());
  Resized out{make_stand_ins(sizes, {}), {}};
  out.roots = resized(sizes, out.leaves);
  if (!graph_.trusted) check_loaded(out.roots);
  return {std::move(out), sizes};
}

NodePtr StageGraph::leaf(const CapturedValue& value, const PlanSymbols& symbols, Symbolic& graph) const {
  for (std::size_t k = 0; k < leaves_.size(); ++k) {
    if (leaves_[k].from.kind != value.kind || leaves_[k].from.index != value.index) continue;
    if (graph.leaves[k]) return graph.leaves[k];
    graph::RealizedKind kind = *leaves_[k].kind;  // no value reads it; a result is it, or a view of it
    for (SymInt& n : kind.shape)
      if (n.is_symbolic()) n = SymInt(sym::moved(n.node(), symbols.env().environment().pool, symbols.of()));
    return graph.leaves[k] = graph::realized_node(kind, runtime::memoryless(leaves_[k].node->device, 8));
  }
  throw InternalError("function", "a captured function's result names a leaf that its graph does not hold");
}

CapturedValue StageGraph::leaf_of(const mem::BufferPtr& buffer, const Resized& resized) const {
  for (std::size_t k = 0; k < resized.leaves.size(); ++k)
    if (resized.leaves[k] && resized.leaves[k]->buffer == buffer) return leaves_[k].from;
  for (std::size_t k = 0; k < graph_.constants.size(); ++k)
    if (graph_.constants[k]->buffer == buffer) return {CapturedValue::Kind::constant, k};
  throw InternalError("function", "a leaf of a captured function is no input of it");
}

// Symbolic plans take the values of earlier stages for row-major ones.
bool StageGraph::reads_row_major(std::span<const NodePtr> done) const {
  return std::ranges::all_of(order_, [&](const TracedNode& step) {
    if (step.leaf < 0) return true;
    const Leaf& leaf = leaves_[static_cast<std::size_t>(step.leaf)];
    return leaf.kind != nullptr || done[leaf.from.index]->layout_class == graph::LayoutClass::RowMajor;
  });
}

std::vector<std::vector<std::size_t>> divide_into_stages(TracedGraph& graph) {
  std::vector<std::vector<std::size_t>> stages(graph.unbacked.size() + 1);
  graph::Numbering known;  // values of earlier stages
  const std::size_t given = graph.values.size();
  std::vector<bool> placed(given, false);
  const auto number_of = [&](const Node* node) {
    const auto at = std::ranges::find(graph.values, node, [](const NodePtr& value) { return value.get(); });
    const auto number = static_cast<std::size_t>(at - graph.values.begin());
    if (number == graph.values.size()) graph.values.emplace_back(node);
    return number;
  };
  for (std::size_t s = 0; s < graph.unbacked.size(); ++s) {
    const CapturedValue mask = graph.unbacked[s].mask;
    if (mask.kind != CapturedValue::Kind::output || placed[mask.index]) continue;
    const Needs here(graph.values[mask.index].get(), known);
    std::vector<const Node*> wanted{graph.values[mask.index].get()};  // of `here`, by later stages
    for (std::size_t v = 0; v < given; ++v) {
      if (placed[v] || v == mask.index) continue;
      const Needs later(graph.values[v].get(), known);
      if (here.has(graph.values[v].get())) wanted.push_back(graph.values[v].get());
      for (const Node* user : later.nodes()) {
        if (here.has(user) || user->realized()) continue;
        for (const NodePtr& source : user->sources)
          if (here.has(source.get())) wanted.push_back(source.get());
      }
    }
    for (const Node* node : wanted) {
      // A view is made again. What it shows is kept.
      const bool result = std::ranges::any_of(graph.values, [&](const NodePtr& value) { return value.get() == node; });
      while (!result && graph::is_movement(node->op) && !node->realized()) node = node->sources[0].get();
      if (node->realized() || known.find(node) >= 0) continue;
      if (node != wanted.front() && !costly(node)) continue;
      const std::size_t value = number_of(node);
      placed.resize(std::max(placed.size(), graph.values.size()), false);
      if (placed[value]) continue;
      placed[value] = true;
      stages[s].push_back(value);
    }
    for (const std::size_t value : stages[s]) known.insert(graph.values[value].get());
  }
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (!placed[v]) stages.back().push_back(v);
  return stages;
}

}  // namespace oriel::api
