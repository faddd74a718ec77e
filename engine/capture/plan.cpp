#include "capture/plan.hpp"

#include <utility>

#include "oriel/site.hpp"
#include "runtime/caches.hpp"

namespace oriel::api {

void schedule_plan(std::span<const graph::NodePtr> roots, const LeafOf& leaf_of, std::int64_t keep,
                   const std::function<void(const graph::Order&)>& look, CapturedPlan& plan) {
  if (roots.empty()) {
    plan.launches = std::make_unique<runtime::LaunchList>(std::make_shared<runtime::CompiledSchedule>(),
                                                          std::vector<graph::Scalar>(), runtime::LaunchList::Sites());
    return;
  }
  runtime::KeySnapshot looked(roots, runtime::BesideRoots::nothing);
  runtime::Key& key = looked.key;
  if (look) look(key.order);
  key.keep_leaves();
  runtime::Caches& caches = runtime::caches_of(roots.front()->device.context);
  const detail::CallSite call(roots.back()->site, detail::CallSite::Nesting::inner);
  auto compiled = runtime::compile_schedule(looked.pending, key, caches.kernels);
  caches.counts[static_cast<std::size_t>(looked.work->slot())].schedules_built.fetch_add(1, std::memory_order_relaxed);
  for (const mem::BufferPtr& leaf : key.leaves) plan.leaves.push_back(leaf_of(leaf));
  for (std::size_t r = 0; r < roots.size(); ++r)
    plan.roots.push_back({static_cast<std::size_t>(compiled->output_of_root[r]), graph::realized_kind(*roots[r])});
  plan.launches = std::make_unique<runtime::LaunchList>(std::move(compiled), key.parameter_values,
                                                        runtime::LaunchList::sites_of(roots, key.order), keep);
}

}  // namespace oriel::api
