// How the values of a trace are divided into stages.
#include <algorithm>

#include "capture/stage.hpp"
#include "graph/walk.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;

namespace {

/// What a value needs, up to values that are known.
class Needs {
 public:
  Needs(const Node* value, const graph::Numbering& known) {
    std::vector<const Node*> waiting{value};
    while (!waiting.empty()) {
      const Node* const node = waiting.back();
      waiting.pop_back();
      if (known.find(node) >= 0 || !seen_.insert(node)) continue;
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
