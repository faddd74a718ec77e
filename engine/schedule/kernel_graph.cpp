#include <algorithm>

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "schedule/kernels.hpp"

namespace oriel::schedule {

const FusionLimits& DeviceLimits::of(Device device) const {
  for (const auto& [known, limits] : others_)
    if (known == device) return limits;
  return all_;
}

const Instance& KernelGraph::find(EntryId entry, KernelId kernel, ScopeId scope, MapId map) const {
  const auto& list = places[static_cast<std::size_t>(entry)];
  const Place wanted{kernel, scope, map, -1};
  const auto it = std::lower_bound(list.begin(), list.end(), wanted);
  if (it == list.end() || !same_place(*it, wanted) || it->instance < 0)
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
