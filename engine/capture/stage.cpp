#include "capture/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/debug.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "runtime/key.hpp"
#include "runtime/trace.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

using base::Debug;
using graph::Node;
using graph::NodePtr;

namespace {

// How many times as large or small sizes may be as those for which a plan's kernels were chosen. Kernels of other sizes
// would be right as well, but maybe slow.
constexpr std::int64_t kScale = 4;

// Bytes between kernels that a plan keeps. There may be thousands of plans.
constexpr std::int64_t kMostKept = 1 << 16;

}  // namespace

PlanSymbols::PlanSymbols(const SizeSymbols& symbols, std::span<const std::int64_t> key, bool trusted,
                         ShapeEnv::Mode mode)
    : env_(std::make_unique<ShapeEnv>(ShapeEnv::Options{.mode = mode})) {
  const sym::Environment& traced = symbols.env().environment();
  sym::Environment& own = env_->environment();
  // Guards are checked in each call. Ranges are not, so a file may not state them.
  const auto declare = [&](SymInt size, std::size_t fact, sym::Interval certain) {
    const sym::Expr symbol =
        own.declare(size.node()->name, {}, key[fact], trusted ? traced.knowledge.range_of(size.node()) : certain);
    of_[size.node()] = symbol;
    fact_of_[symbol] = fact;
  };
  const sym::Interval any, size_range = sym::Interval::at_least(0);
  for (const SizeSymbols::Symbol& symbol : symbols.symbols()) {
    if (of_.contains(symbol.size.node())) continue;
    declare(symbol.size, symbol.fact, symbol.place ? any : size_range);
    if (!symbol.place) sizes_.push_back(symbol.fact);
  }
  for (const SymInt count : symbols.counts()) {
    const std::size_t fact = symbols.fact_of(count.node());
    if (fact >= key.size()) continue;
    declare(count, fact, any);  // or an element, which may be negative
    sizes_.push_back(fact);
  }
  for (const sym::Environment::Guard& guard : traced.guards.all())
    env_->guard(SymBool(sym::moved(guard.condition, own.pool, of_)), guard.site);
  for (const sym::Environment::Guard& guard : own.guards.all()) traced_guards_.push_back(guard.condition);
  // A size that the guards make another one has that one's symbol, so that nothing asks whether they are equal.
  if (!trusted) return;
  const sym::Replacements declared = of_;
  for (auto& [of, size] : of_) size = sym::moved(traced.knowledge.replaced(of), own.pool, declared);
}

StagePlan::StagePlan(std::optional<PlanSymbols> symbols, std::vector<graph::NodePtr> roots, const LeafOf& leaf_of,
                     std::span<const std::int64_t> made_for)
    : symbols_(std::move(symbols)) {
  if (roots.empty()) return;
  runtime::KeySnapshot looked(roots, runtime::BesideRoots::nothing);
  runtime::Key& key = looked.key;
  key.keep_leaves();
  caches_ = &runtime::caches_of(roots.front()->device.context);
  for (const mem::BufferPtr& leaf : key.leaves) leaves_.push_back(leaf_of(leaf));
  const detail::CallSite call(roots.back()->site, detail::CallSite::Nesting::inner);
  plan_ = std::make_unique<const runtime::SymbolicPlan>(std::move(roots), key, runtime::limits_of(key));
  if (!symbols_) {
    caches_->counts[static_cast<std::size_t>(looked.work->slot())].schedules_built.fetch_add(1,
                                                                                             std::memory_order_relaxed);
    return;
  }
  for (const sym::Expr variable : plan_->variables()) facts_.push_back(symbols_->fact_of(variable));
  for (const std::size_t fact : symbols_->sizes()) {
    const std::int64_t hint = made_for[fact];
    const bool scales = hint > 1 && hint <= INT64_MAX / kScale;
    bounds_.push_back({fact, scales ? hint / kScale : hint, scales ? kScale * hint : hint});
  }
  std::vector<sym::Expr> conditions;
  for (const sym::Environment::Guard& guard : symbols_->env().environment().guards.all())
    conditions.push_back(guard.condition);
  guards_ = std::make_unique<const sym::Program>(conditions);
  for (const sym::Expr variable : guards_->variables()) guard_facts_.push_back(symbols_->fact_of(variable));
}

bool StagePlan::serves(std::span<const std::int64_t> key) const {
  for (const Bound& bound : bounds_)
    if (key[bound.fact] < bound.lo || key[bound.fact] > bound.hi) return false;
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : guard_facts_) values.push_back(key[fact]);
  InlineVector<sym::Outcome, 64> work(guards_->steps());
  InlineVector<sym::Outcome, 32> out(symbols_->env().environment().guards.all().size());
  guards_->run({values.data(), values.size()}, {work.data(), work.size()}, {out.data(), out.size()});
  return std::ranges::all_of(out, [](const sym::Outcome& outcome) { return outcome.is(1); });
}

std::vector<std::string> StagePlan::guard_texts() const {
  std::vector<std::string> out;
  for (const ShapeEnv::Guard& guard : symbols_->env().guards()) out.push_back(guard.str());
  return out;
}

std::shared_ptr<CapturedPlan> StagePlan::at(std::span<const std::int64_t> key, std::int64_t keep) const {
  auto out = std::make_shared<CapturedPlan>();
  runtime::SymbolicPlan::Schedule schedule{std::make_shared<const runtime::CompiledSchedule>(), {}, {}};
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(key[fact]);
  if (plan_ != nullptr) schedule = plan_->at({values.data(), values.size()}, caches_->kernels);
  out->leaves = leaves_;
  for (std::size_t r = 0; r < schedule.roots.size(); ++r)
    out->roots.push_back(
        {static_cast<std::size_t>(schedule.compiled->output_of_root[r]), std::move(schedule.roots[r])});
  out->launches =
      std::make_unique<runtime::LaunchList>(std::move(schedule.compiled), std::move(schedule.parameters), keep);
  return out;
}

CapturedStage::CapturedStage(const TracedGraph& graph, const SizeSymbols& symbols, std::vector<std::size_t> computes,
                             const std::vector<std::size_t>& computed_before, bool last)
    : graph_(graph, std::move(computes), computed_before, last),
      symbols_(symbols),
      last_(last),
      plans_(graph_.sizes().variables().empty()) {
  for (const sym::Expr variable : graph_.sizes().variables()) facts_.push_back(symbols.fact_of(variable));
}

CapturedStage::~CapturedStage() {
  for (Made* made = first_.load(std::memory_order_acquire); made != nullptr;) delete std::exchange(made, made->next);
}

std::shared_ptr<const CapturedPlan> CapturedStage::plan(std::span<const std::int64_t> key,
                                                        std::span<const NodePtr> done) const {
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(key[fact]);
  const std::span<const std::int64_t> sizes(values.data(), values.size());
  if (std::shared_ptr<const CapturedPlan> found = plans_.find(sizes)) return found;
  return plans_.add(sizes, make(key, sizes, done));
}

// The plan for these sizes: by a plan that serves many sizes if there is one, else by scheduling the traced graph with
// numbers for its sizes, over placeholders of these sizes.
std::shared_ptr<const CapturedPlan> CapturedStage::make(std::span<const std::int64_t> key,
                                                        std::span<const std::int64_t> values,
                                                        std::span<const NodePtr> done) const {
  std::shared_ptr<CapturedPlan> plan = from_symbols(key, done);
  if (plan == nullptr) {
    const StageGraph::Resized resized = graph_.at(graph_.sizes().at(values), done);
    const StagePlan own(
        {}, resized.roots, [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, resized); }, key);
    plan = own.at(key, values.empty() ? runtime::LaunchList::kMostKept : kMostKept);
    scheduled_.fetch_add(1, std::memory_order_relaxed);
  }
  if (last_) add_paths(values, *plan);
  return plan;
}

std::shared_ptr<CapturedPlan> CapturedStage::from_symbols(std::span<const std::int64_t> key,
                                                          std::span<const NodePtr> done) const {
  // Plans over symbols take the values of earlier stages for row-major ones.
  if (graph_.computes().empty() || !graph_.reads_row_major(done)) return nullptr;
  if (std::shared_ptr<CapturedPlan> plan = served(key)) return plan;
  // The first sizes may be the only ones.
  if (plans_.size() == 0 || !try_symbols(key)) return nullptr;
  // The plan that is made for these sizes serves them too, so that one set of kernels is compiled, not two.
  std::shared_ptr<CapturedPlan> plan = served(key);
  if (plan != nullptr) scheduled_.fetch_add(1, std::memory_order_relaxed);
  return plan;
}

std::shared_ptr<CapturedPlan> CapturedStage::served(std::span<const std::int64_t> key) const {
  for (const Made* made = first_.load(std::memory_order_acquire); made != nullptr; made = made->next) {
    if (!made->plan.serves(key)) continue;
    try {
      std::shared_ptr<CapturedPlan> plan = made->plan.at(key, kMostKept);
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

bool CapturedStage::try_symbols(std::span<const std::int64_t> key) const {
  if (!pays() || making_.test_and_set(std::memory_order_acquire)) return false;
  struct End {
    std::atomic_flag& flag;
    ~End() { flag.clear(std::memory_order_release); }
  } const end{making_};
  tries_.fetch_add(1, std::memory_order_relaxed);
  const base::Watch watch = base::watch_of(graph_.context());
  try {
    PlanSymbols symbols(symbols_, key, graph_.traced().trusted);
    const StageGraph::Symbolic graph = graph_.over(symbols);
    const auto leaf_of = [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, graph); };
    auto made = std::make_unique<Made>(
        Made{StagePlan(std::move(symbols), graph.roots, leaf_of, key), first_.load(std::memory_order_relaxed)});
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
