#include "capture/symbolic_plan.hpp"

#include <algorithm>
#include <utility>
#include "oriel/inline_vector.hpp"

#include "runtime/key.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

namespace {

// How many times as large or small sizes may be as those for which a plan's kernels were chosen. Kernels of other sizes
// would be right as well, but maybe slow.
constexpr std::int64_t kScale = 4;

}  // namespace

PlanSymbols::PlanSymbols(const SizeSymbols& symbols, std::span<const std::int64_t> facts, bool trusted) {
  const sym::Environment& traced = symbols.env().environment();
  sym::Environment& own = env_->environment();
  // Guards are checked in each call. Ranges are not, so a file may not state them.
  const auto declare = [&](SymInt size, std::size_t fact, sym::Interval certain) {
    const sym::Expr symbol =
        own.declare(size.node()->name, {}, facts[fact], trusted ? traced.knowledge.range_of(size.node()) : certain);
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
    if (fact >= facts.size()) continue;
    declare(count, fact, any);  // or an element, which may be negative
    sizes_.push_back(fact);
  }
  for (const sym::Environment::Guard& guard : traced.guards.all())
    env_->guard(SymBool(sym::moved(guard.condition, own.pool, of_)), guard.site);
  traced_guards_ = own.guards.all().size();
}

StagePlan::StagePlan(std::optional<PlanSymbols> symbols, std::vector<graph::NodePtr> roots, const LeafOf& leaf_of,
                     std::span<const std::int64_t> facts)
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
    const std::int64_t hint = facts[fact];
    const bool scales = hint > 1 && hint <= INT64_MAX / kScale;
    bounds_.push_back({fact, scales ? hint / kScale : hint, scales ? kScale * hint : hint});
  }
  std::vector<sym::Expr> conditions;
  for (const sym::Environment::Guard& guard : symbols_->env().environment().guards.all())
    conditions.push_back(guard.condition);
  guards_ = std::make_unique<const sym::Program>(conditions);
  for (const sym::Expr variable : guards_->variables()) guard_facts_.push_back(symbols_->fact_of(variable));
}

bool StagePlan::serves(std::span<const std::int64_t> facts) const {
  for (const Bound& bound : bounds_)
    if (facts[bound.fact] < bound.lo || facts[bound.fact] > bound.hi) return false;
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : guard_facts_) values.push_back(facts[fact]);
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

std::shared_ptr<CapturedPlan> StagePlan::at(std::span<const std::int64_t> facts, std::int64_t keep) const {
  auto out = std::make_shared<CapturedPlan>();
  runtime::SymbolicPlan::Schedule schedule{std::make_shared<const runtime::CompiledSchedule>(), {}, {}};
  InlineVector<std::int64_t, 8> values;
  for (const std::size_t fact : facts_) values.push_back(facts[fact]);
  if (plan_ != nullptr) schedule = plan_->at({values.data(), values.size()}, caches_->kernels);
  out->leaves = leaves_;
  for (std::size_t r = 0; r < schedule.roots.size(); ++r)
    out->roots.push_back(
        {static_cast<std::size_t>(schedule.compiled->output_of_root[r]), std::move(schedule.roots[r])});
  out->launches =
      std::make_unique<runtime::LaunchList>(std::move(schedule.compiled), std::move(schedule.parameters), keep);
  return out;
}

}  // namespace oriel::api
