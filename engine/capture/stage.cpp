#include "capture/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/debug.hpp"
#include "capture/loaded_graph.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using base::Debug;
using graph::Node;
using graph::NodePtr;

namespace {

// Bytes between kernels that a plan keeps. There may be thousands of plans.
constexpr std::int64_t kMostKept = 1 << 16;

}  // namespace

CapturedStage::CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                             const std::vector<std::size_t>& known, bool last)
    : graph_(graph, std::move(computes), known, last),
      symbols_(symbols),
      last_(last),
      plans_(graph_.sizes().variables().empty()) {
  for (const sym::Expr variable : graph_.sizes().variables()) facts_.push_back(symbols.fact_of(variable));
}

CapturedStage::~CapturedStage() {
  for (Made* made = first_.load(std::memory_order_acquire); made != nullptr;) delete std::exchange(made, made->next);
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
  std::shared_ptr<CapturedPlan> plan = from_symbols(facts, done);
  if (plan == nullptr) {
    const StageGraph::Resized resized = graph_.at(graph_.sizes().at(values), done);
    const StagePlan own(
        {}, resized.roots, [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, resized); }, facts);
    plan = own.at(facts, values.empty() ? runtime::LaunchList::kMostKept : kMostKept);
    scheduled_.fetch_add(1, std::memory_order_relaxed);
  }
  if (last_) add_paths(values, *plan);
  return plan;
}

std::shared_ptr<CapturedPlan> CapturedStage::from_symbols(std::span<const std::int64_t> facts,
                                                          std::span<const NodePtr> done) const {
  // Plans over symbols take the values of earlier stages for row-major ones.
  if (graph_.computes().empty() || !graph_.reads_row_major(done)) return nullptr;
  if (std::shared_ptr<CapturedPlan> plan = served(facts)) return plan;
  // The first sizes may be the only ones.
  if (plans_.size() == 0 || !try_symbols(facts)) return nullptr;
  // The plan that is made for these sizes serves them too, so that one set of kernels is compiled, not two.
  std::shared_ptr<CapturedPlan> plan = served(facts);
  if (plan != nullptr) scheduled_.fetch_add(1, std::memory_order_relaxed);
  return plan;
}

std::shared_ptr<CapturedPlan> CapturedStage::served(std::span<const std::int64_t> facts) const {
  for (const Made* made = first_.load(std::memory_order_acquire); made != nullptr; made = made->next) {
    if (!made->plan.serves(facts)) continue;
    try {
      std::shared_ptr<CapturedPlan> plan = made->plan.at(facts, kMostKept);
      served_.fetch_add(1, std::memory_order_relaxed);
      return plan;
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      return nullptr;  // scheduling the graph for these sizes says what is wrong, if something is
    }
  }
  return nullptr;
}

// Plans that serve few sizes are not worth their time.
bool CapturedStage::pays() const noexcept {
  constexpr std::uint32_t kFirstTries = 8;
  constexpr std::uint32_t kServedForOne = 5;  // among them the one that it was made for
  constexpr std::uint32_t kMostTries = 64;
  const std::uint32_t tries = tries_.load(std::memory_order_relaxed);
  return tries < kMostTries &&
         (tries < kFirstTries || served_.load(std::memory_order_relaxed) >= tries * kServedForOne);
}

bool CapturedStage::try_symbols(std::span<const std::int64_t> facts) const {
  if (!pays() || making_.test_and_set(std::memory_order_acquire)) return false;
  struct End {
    std::atomic_flag& flag;
    ~End() { flag.clear(std::memory_order_release); }
  } const end{making_};
  tries_.fetch_add(1, std::memory_order_relaxed);
  const base::Watch watch = base::watch_of(graph_.context());
  try {
    PlanSymbols symbols(symbols_, facts, graph_.traced().trusted);
    const StageGraph::Symbolic graph = graph_.over(symbols);
    const auto leaf_of = [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, graph); };
    auto made = std::make_unique<Made>(
        Made{StagePlan(std::move(symbols), graph.roots, leaf_of, facts), first_.load(std::memory_order_relaxed)});
    if (watch.debugging(Debug::Dynamic)) {
      const std::vector<std::string> guards = made->plan.guard_texts();
      std::string text = fmt::format("a plan for many sizes, under {} guards\n", guards.size());
      if (watch.debugging(Debug::Dynamic, 2))
        for (const std::string& guard : guards) text += "  guard " + guard + '\n';
      base::debug_say(graph_.context(), Debug::Dynamic, text);
    }
    first_.store(made.release(), std::memory_order_release);
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {  // each set of sizes is scheduled by itself
    if (watch.debugging(Debug::Dynamic))
      base::debug_say(graph_.context(), Debug::Dynamic, fmt::format("no plan for many sizes: {}\n", error.what()));
    return false;
  }
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
