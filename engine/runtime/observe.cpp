#include "runtime/observe.hpp"

#include <atomic>

#include "base/context.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::runtime {

using base::Debug;
using base::Watch;

namespace {

/// For a program that calls no function of inspection.
void refuse_settings([[maybe_unused]] base::ContextState& context, const ContextOptions& /*options*/) {
#ifdef ORIEL_BY_USE
  if (base::watch_of(context).has(Watch::kAllKnown)) return;
  for (const char* name :
       {"ORIEL_DEBUG", "ORIEL_PROFILE", "ORIEL_DUMP", "ORIEL_EXPLAIN", "ORIEL_CHECK", "ORIEL_REPORT"}) {
    if (base::env_text(name).value_or("0") == "0") continue;
    throw ArgumentError(name,
                        "this program has nothing that reports; it has if it calls explain, keep_explanations, "
                        "set_debug, set_result_check or profile::start, or uses the shared library");
  }
  base::change_watch(context, 0, Watch::kAllKnown);
#endif
}

constexpr Inspection kNone{.load_reports = refuse_settings};
constinit std::atomic<const Inspection*> in_use{&kNone};

}  // namespace

const Inspection& inspection() noexcept { return *in_use.load(std::memory_order_acquire); }
void set_inspection(const Inspection& inspection) noexcept { in_use.store(&inspection, std::memory_order_release); }

bool plan_watched(std::uint16_t number) {
  base::ContextState& context = base::context_state(number);
  inspection().load_reports(context, {});
  const Watch watch = base::watch_of(context);
  return watch.dumping() || watch.reporting() || watch.debugging(Debug::Graph) || watch.debugging(Debug::Schedule) ||
         watch.debugging(Debug::Merge) || watch.debugging(Debug::Codegen) || watch.debugging(Debug::Memory);
}

}  // namespace oriel::runtime
