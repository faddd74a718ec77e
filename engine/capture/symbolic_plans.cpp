#include "capture/symbolic_plans.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/debug.hpp"
#include "oriel/error.hpp"
#include "runtime/observe.hpp"

namespace oriel::api {

using base::Debug;

namespace {

void say_plan(std::uint16_t context, const SymbolicCapturedPlan& plan) {
  const base::Watch watch = base::watch_of(context);
  if (!watch.debugging(Debug::Dynamic)) return;
  std::string text = fmt::format("a plan for many sizes, under {} guards\n", plan.guard_texts().size());
  if (watch.debugging(Debug::Dynamic, 2))
    for (const std::string& guard : plan.guard_texts()) text += "  guard " + guard + '\n';
  base::debug_say(context, Debug::Dynamic, text);
}

void say_no_plan(std::uint16_t context, std::string_view why) {
  if (base::watch_of(context).debugging(Debug::Dynamic))
    base::debug_say(context, Debug::Dynamic, fmt::format("no plan for many sizes: {}\n", why));
}

}  // namespace

SymbolicPlans::~SymbolicPlans() {
  for (Made* made = first_.load(std::memory_order_acquire); made != nullptr;) delete std::exchange(made, made->next);
}

std::shared_ptr<CapturedPlan> SymbolicPlans::plan(std::span<const std::int64_t> facts, std::int64_t keep) {
  // A plan that is shown to people is scheduled by itself, so that its reasons name its own sizes.
  const Made* made = first_.load(std::memory_order_acquire);
  if (made == nullptr || runtime::plan_watched(graph_.context())) return nullptr;
  for (; made != nullptr; made = made->next) {
    if (!made->plan->serves(facts)) continue;
    try {
      auto plan = std::make_shared<CapturedPlan>();
      made->plan->plan(facts, keep, *plan);
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
bool SymbolicPlans::pays() const noexcept {
  constexpr std::uint32_t kFirstTries = 8;
  constexpr std::uint32_t kServedForOne = 5;  // among them the one that it was made for
  constexpr std::uint32_t kMostTries = 64;
  const std::uint32_t tries = tries_.load(std::memory_order_relaxed);
  return tries < kMostTries &&
         (tries < kFirstTries || served_.load(std::memory_order_relaxed) >= tries * kServedForOne);
}

bool SymbolicPlans::try_one(std::span<const std::int64_t> facts) {
  if (!pays() || runtime::plan_watched(graph_.context())) return false;
  if (making_.test_and_set(std::memory_order_acquire)) return false;
  struct End {
    std::atomic_flag& flag;
    ~End() { flag.clear(std::memory_order_release); }
  } const end{making_};
  tries_.fetch_add(1, std::memory_order_relaxed);
  try {
    PlanSymbols symbols(symbols_, facts, graph_.traced().trusted);
    const StageGraph::Symbolic graph = graph_.over(symbols);
    auto made = std::make_unique<Made>();
    made->plan = std::make_unique<const SymbolicCapturedPlan>(
        std::move(symbols), graph.roots, [&](const mem::BufferPtr& buffer) { return graph_.leaf_of(buffer, graph); },
        facts);
    say_plan(graph_.context(), *made->plan);
    made->next = first_.load(std::memory_order_relaxed);
    first_.store(made.release(), std::memory_order_release);
    return true;
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    say_no_plan(graph_.context(), error.what());  // each set of sizes is scheduled by itself
    return false;
  }
}

}  // namespace oriel::api
