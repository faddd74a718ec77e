#include "capture/stage.hpp"

#include <algorithm>
#include <utility>

#include "capture/loaded_graph.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;

namespace {

// Bytes between kernels that a plan keeps. There may be thousands of plans.
constexpr std::int64_t kMostKept = 1 << 16;

}  // namespace

CapturedStage::CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                             const std::vector<std::size_t>& known, bool last)
    : graph_(graph, std::move(computes), known, last), last_(last), symbolic_(graph_, symbols) {
  for (const sym::Expr variable : graph_.sizes().variables()) facts_.push_back(symbols.fact_of(variable));
}

std::shared_ptr<const CapturedPlan> CapturedStage::plan(std::span<const std::int64_t> facts,
                                                        std::span<const NodePtr> done) const {
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(facts[fact]);
  const std::span<const std::int64_t> key(values.data(), values.size());
  if (std::shared_ptr<const CapturedPlan> known = plans_.find(key)) return known;
  return plans_.add(key, make(facts, key, done));
}

// The plan for these sizes: by a plan that serves many sizes if there is one, else by scheduling the traced graph with
// numbers for its sizes, over placeholders of these sizes.
std::shared_ptr<const CapturedPlan> CapturedStage::make(std::span<const std::int64_t> facts,
                                                        std::span<const std::int64_t> values,
                                                        std::span<const NodePtr> done) const {
  std::shared_ptr<CapturedPlan> plan = from_symbolic_plan(facts, done);
  if (plan == nullptr) {
    plan = std::make_shared<CapturedPlan>();
    const StageGraph::Resized resized = graph_.at(graph_.sizes().at(values), done);
    schedule_plan(
        resized.roots, [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, resized); }, kMostKept,
        nullptr, *plan);
    scheduled_.fetch_add(1, std::memory_order_relaxed);
  }
  if (last_) add_paths(values, *plan);
  return plan;
}

std::shared_ptr<CapturedPlan> CapturedStage::from_symbolic_plan(std::span<const std::int64_t> facts,
                                                                std::span<const NodePtr> done) const {
  // Symbolic plans take the values of earlier stages for row-major ones.
  if (graph_.computes().empty() || !graph_.reads_row_major(done)) return nullptr;
  if (std::shared_ptr<CapturedPlan> plan = symbolic_.plan(facts, kMostKept)) return plan;
  // The first sizes may be the only ones.
  if (plans_.size() == 0 || !symbolic_.try_one(facts)) return nullptr;
  // The plan that is made for these sizes serves them too, so that one set of kernels is compiled, not two.
  std::shared_ptr<CapturedPlan> plan = symbolic_.plan(facts, kMostKept);
  if (plan != nullptr) scheduled_.fetch_add(1, std::memory_order_relaxed);
  return plan;
}

void CapturedStage::add_paths(std::span<const std::int64_t> values, CapturedPlan& plan) const {
  const TracedGraph& traced = graph_.traced();
  plan.paths.resize(traced.movements.size());
  if (std::ranges::all_of(traced.movements, &std::vector<NodePtr>::empty)) return;
  const graph::Sizes::At at = graph_.sizes().at(values);
  for (std::size_t r = 0; r < plan.paths.size(); ++r) {
    for (const NodePtr& movement : traced.movements[r]) {
      const Node& source = *movement->sources[0];
      const graph::RealizedKind kind{.dtype = source.dtype, .shape = at(source.shape)};
      NodePtr below = graph::realized_node(kind, runtime::memoryless(source.device, 8));
      const NodePtr like = graph::resized(*movement, at, {&below, 1});
      if (like == below) continue;
      if (!traced.trusted) check_loaded({&like, 1});
      plan.paths[r].emplace_back([like](NodePtr x) { return graph::movement_like(*like, std::move(x)); });
    }
  }
}

}  // namespace oriel::api
