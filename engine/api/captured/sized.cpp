#include "api/captured/sized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "sym/print.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;

CapturedSizes::CapturedSizes(SizeSymbols symbols, const std::vector<FactName>& names, Trace trace)
    : symbols_(std::move(symbols)), guards_(symbols_, names), trace_(std::move(trace)) {
  graph::Numbering places;
  for (const Node* node : graph::post_order(trace_.roots)) {
    sizes_.add(*node);
    places.insert(node);
    Step& step = order_.emplace_back(Step{node, -1, false, {}});
    if (node->realized()) continue;
    for (const NodePtr& source : node->sources)
      step.sources.push_back(static_cast<std::uint32_t>(places.find(source.get())));
  }
  for (const NodePtr& root : trace_.roots) {
    roots_.push_back(static_cast<std::uint32_t>(places.find(root.get())));
    order_[roots_.back()].root = true;
  }
  std::int32_t number = 0;
  for (const std::vector<Trace::Input>* inputs : {&trace_.storages, &trace_.numbers}) {
    for (const Trace::Input& input : *inputs) {
      sizes_.add(input.kind);
      if (const std::int32_t at = places.find(input.placeholder.get()); at >= 0)
        order_[static_cast<std::size_t>(at)].input = number;
      ++number;
    }
  }
  for (const auto& movements : trace_.movements)
    for (const NodePtr& movement : movements) sizes_.add(*movement);
  sizes_.compile();
  for (const sym::Expr variable : sizes_.variables()) {
    const auto found = std::ranges::find_if(
        symbols_.symbols(), [&](const SizeSymbols::Symbol& symbol) { return symbol.size.node() == variable; });
    if (found == symbols_.symbols().end())
      throw InternalError("function", fmt::format("the size {} is no input's", sym::to_string(variable)));
    facts_.push_back(found->fact);
  }
}

CapturedSizes::~CapturedSizes() {
  for (std::atomic<Kept*>& bucket : kept_) {
    for (Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr;) delete std::exchange(kept, kept->next);
  }
}

const CapturedSizes::Kept* CapturedSizes::find(std::span<const std::int64_t> values, const Kept* from) const noexcept {
  while (from != nullptr && !std::ranges::equal(from->values, values)) from = from->next;
  return from;
}

std::shared_ptr<const CapturedPlan> CapturedSizes::plan(const Facts& facts) const {
  InlineVector<std::int64_t, 8> values;
  std::uint64_t hash = 0;
  for (const std::size_t fact : facts_) {
    values.push_back(facts[fact]);
    hash = (hash ^ static_cast<std::uint64_t>(facts[fact])) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 29;
  }
  const std::span<const std::int64_t> key(values.data(), values.size());
  std::atomic<Kept*>& bucket = kept_[hash % kBuckets];
  if (const Kept* kept = find(key, bucket.load(std::memory_order_acquire))) return kept->plan;
  std::shared_ptr<const CapturedPlan> made = make(key);
  if (count_.load(std::memory_order_relaxed) >= kMostPlans) {
    other_runs_.fetch_add(1, std::memory_order_relaxed);
    return made;
  }
  auto fresh = std::make_unique<Kept>(Kept{{key.begin(), key.end()}, std::move(made), nullptr});
  Kept* head = bucket.load(std::memory_order_acquire);
  do {
    if (const Kept* kept = find(key, head)) return kept->plan;  // added by another thread meanwhile
    fresh->next = head;
  } while (!bucket.compare_exchange_weak(head, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  count_.fetch_add(1, std::memory_order_relaxed);
  return fresh.release()->plan;
}

std::vector<NodePtr> CapturedSizes::resized(const graph::Sizes::At& at, std::span<const NodePtr> stand_ins) const {
  std::vector<NodePtr> made;
  made.reserve(order_.size());
  std::vector<NodePtr> sources;
  for (const Step& step : order_) {
    if (step.input >= 0) {
      made.push_back(stand_ins[static_cast<std::size_t>(step.input)]);
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

// Schedules the traced graph with numbers for its sizes, over placeholders of these sizes.
std::shared_ptr<const CapturedPlan> CapturedSizes::make(std::span<const std::int64_t> values) const {
  const graph::Sizes::At at = sizes_.at(values);
  std::vector<NodePtr> stand_ins;
  for (const std::vector<Trace::Input>* inputs : {&trace_.storages, &trace_.numbers}) {
    for (const Trace::Input& input : *inputs) {
      const graph::RealizedKind kind = at(input.kind);
      const std::int64_t bytes =
          numel(kind.shape, "function").value() * static_cast<std::int64_t>(itemsize(kind.dtype));
      stand_ins.push_back(graph::realized_node(kind, runtime::memoryless(input.placeholder->device, bytes)));
    }
  }
  const auto leaf_of = [&](const mem::BufferPtr& buffer) -> CapturedValue {
    const std::size_t storages = trace_.storages.size();
    for (std::size_t k = 0; k < stand_ins.size(); ++k) {
      if (stand_ins[k]->buffer != buffer) continue;
      if (k < storages) return {CapturedValue::Kind::input, k};
      return {CapturedValue::Kind::number, k - storages};
    }
    for (std::size_t k = 0; k < trace_.constants.size(); ++k)
      if (trace_.constants[k]->buffer == buffer) return {CapturedValue::Kind::constant, k};
    throw InternalError("function", "a leaf of a captured function is no input of it");
  };
  auto plan = std::make_shared<CapturedPlan>();
  constexpr std::int64_t kMostKept = 1 << 16;  // there may be thousands of plans
  schedule_plan(resized(at, stand_ins), leaf_of, kMostKept, nullptr, *plan);
  for (const auto& movements : trace_.movements) {
    auto& paths = plan->paths.emplace_back();
    for (const NodePtr& movement : movements) {
      NodePtr below = graph::iota(at(movement->sources[0]->shape));
      const NodePtr like = graph::resized(*movement, at, {&below, 1});
      if (like == below) continue;
      paths.emplace_back([like](NodePtr x) { return graph::movement_like(*like, std::move(x)); });
    }
  }
  return plan;
}

std::vector<std::string> CapturedSizes::symbol_lines() const {
  std::vector<std::string> out;
  for (const ShapeEnv::Symbol& symbol : symbols_.env().symbols()) {
    std::string line = fmt::format("{} = {}", symbol.name, symbol.source);
    if (!symbol.replacement.empty()) line += fmt::format(", which is {}", symbol.replacement);
    if (symbol.range.lo) line += fmt::format(", at least {}", *symbol.range.lo);
    if (symbol.range.hi) line += fmt::format(", at most {}", *symbol.range.hi);
    out.push_back(std::move(line));
  }
  return out;
}

std::uint64_t CapturedSizes::runs() const noexcept {
  std::uint64_t runs = other_runs_.load(std::memory_order_relaxed);
  for (const std::atomic<Kept*>& bucket : kept_)
    for (const Kept* kept = bucket.load(std::memory_order_acquire); kept != nullptr; kept = kept->next)
      runs += kept->plan->launches->runs();
  return runs;
}

const CapturedPlan* CapturedSizes::any_plan() const noexcept {
  for (const std::atomic<Kept*>& bucket : kept_)
    if (const Kept* kept = bucket.load(std::memory_order_acquire)) return kept->plan.get();
  return nullptr;
}

}  // namespace oriel::api
