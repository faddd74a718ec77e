#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "schedule/estimate.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

const FusionLimits& DeviceLimits::of(Device device) const {
  for (const auto& [known, limits] : others_)
    if (known == device) return limits;
  return all_;
}

SymInt Kernel::size(ScopeId scope) const {
  if (scope == kRootScope) return numel(root_shape);
  const SymInt outer = numel(outer_shape);
  if (scope < kFirstReduction) return outer;
  return outer * numel(reductions[static_cast<std::size_t>(scope - kFirstReduction)].extents);
}

std::int64_t Kernel::points(ScopeId scope) const { return estimate(size(scope)); }

bool Kernel::empty(ScopeId scope) const { return size(scope) == 0; }

void Kernel::choose_outer(std::vector<bool> axes) {
  outer_known = true;
  outer_shape.clear();
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d]) outer_shape.push_back(root_shape[d]);
  outer_axes = std::move(axes);
}

bool KernelGraph::may_reach(KernelId from, KernelId target) const {
  constexpr std::size_t kReachCap = 256;  // kernels visited
  std::vector<KernelId> stack{from}, seen{from};
  while (!stack.empty()) {
    const KernelId k = stack.back();
    stack.pop_back();
    if (k == target) return true;
    for (KernelId d : kernels[static_cast<std::size_t>(k)].depends_on) {
      if (std::find(seen.begin(), seen.end(), d) != seen.end()) continue;
      if (seen.size() >= kReachCap) return true;
      seen.push_back(d);
      stack.push_back(d);
    }
  }
  return false;
}

const Instance& KernelGraph::find(EntryId entry, KernelId kernel, ScopeId scope, MapId map) const {
  const auto& list = uses[static_cast<std::size_t>(entry)];
  const Use wanted{kernel, scope, map, -1};
  const auto it = std::lower_bound(list.begin(), list.end(), wanted);
  if (it == list.end() || !same_use(*it, wanted) || it->instance < 0)
    throw InternalError("schedule", fmt::format("entry {} is not evaluated at scope {} map {} of kernel {}", entry,
                                                scope, map, kernel));
  return kernels[static_cast<std::size_t>(kernel)].instances[static_cast<std::size_t>(it->instance)];
}

KernelGraph::Evaluated KernelGraph::evaluated(KernelId kernel, const Output& output) const {
  Evaluated at{&find(output.entry, kernel, output.scope, output.map), output.scope, output.map};
  while (at.instance->role == Role::Alias && at.instance->source == output.entry) {
    at.scope = at.instance->scope;
    at.map = at.instance->map;
    at.instance = &find(output.entry, kernel, at.scope, at.map);
  }
  return at;
}

}  // namespace oriel::schedule
