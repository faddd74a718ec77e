#include "schedule/rule_switches.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"
#include "schedule/rules.hpp"

namespace oriel::schedule {

namespace {

constexpr std::string_view kKernelRuleNames[kKernelRules] = {"fuse rows", "online softmax"};

constexpr std::uint64_t kAllOn = 1;
constinit std::atomic<std::uint64_t> last_version{kAllOn};

/// Guarded by ForkLock::settings.
struct RuleSwitches : base::ContextPart {
  RulesOff off;
};

RuleSwitches& switches(base::ContextState& context) {
  return context.part<RuleSwitches>(base::ContextSlot::rules, [] { return std::make_unique<RuleSwitches>(); });
}

// The caller holds the lock.
void store_rules(base::ContextState& context, const RulesOff& off) {
  switches(context).off = off;
  context.rules_version.store(off.none() ? kAllOn : last_version.fetch_add(1) + 1, std::memory_order_release);
}

std::size_t first_row(std::size_t row) { return kKernelRules + row; }

}  // namespace

std::string_view name(KernelRule rule) { return kKernelRuleNames[static_cast<std::size_t>(rule)]; }

bool RulesOff::has(const Rule& rule) const {
  return bits_[first_row(static_cast<std::size_t>(&rule - rules().data()))];
}

void RulesOff::set(std::string_view name, bool off, std::string_view operation) {
  bool exists = false;
  const auto visit = [&](std::size_t bit, std::string_view own) {
    if (name != "all" && name != own) return;
    bits_.set(bit, off);
    exists = true;
  };
  for (std::size_t k = 0; k < kKernelRules; ++k) visit(k, kKernelRuleNames[k]);
  for (std::size_t row = 0; row < rules().size(); ++row) visit(first_row(row), rules()[row].name);
  if (!exists)
    throw ArgumentError(operation, "no rewrite rule is named '" + base::escaped(name) +
                                       "'; names are as explain prints them, or 'all'");
}

void load_rules(base::ContextState& context, const ContextOptions& options) {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::settings));
  if (context.rules_version.load(std::memory_order_relaxed) != 0) return;
  RulesOff off;
  if (options.rules_off) {
    for (const std::string& rule : *options.rules_off) off.set(rule, true, "Context");
  } else {
    const std::string text = base::env_text("ORIEL_RULES_OFF").value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      if (end > 0) off.set(rest.substr(0, end), true, "ORIEL_RULES_OFF");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  store_rules(context, off);
}

std::uint64_t rules_version(std::uint16_t number) {
  base::ContextState* const context = base::find_context(number);
  if (context == nullptr) return kAllOn;
  if (context->rules_version.load(std::memory_order_acquire) == 0) load_rules(*context);
  return context->rules_version.load(std::memory_order_acquire);
}

RulesOff rules_off(std::uint16_t number) {
  if (rules_version(number) == kAllOn) return {};
  base::ContextState* const context = base::find_context(number);
  if (context == nullptr) return {};
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::settings));
  return switches(*context).off;
}

void set_rule_enabled(std::string_view name, bool on) {
  base::ContextState& context = base::current_context_state();
  load_rules(context);
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::settings));
  RulesOff off = switches(context).off;
  off.set(name, !on, "rules");
  store_rules(context, off);
}

}  // namespace oriel::schedule
