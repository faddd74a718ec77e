#include "schedule/budget.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace oriel::schedule {

bool Budget::limited(KernelId k) const {
  const FusionLimits& limits = limits_.of(kernel(k).device);
  return limits.arguments < FusionLimits::kUnlimited || limits.parameters < FusionLimits::kUnlimited;
}

void Budget::need(EntryId v, KernelId k) {
  if (!limited(k) || (is_number(v) && !is_parameter(v)) || !needed_.insert(pair(v, k)).second) return;
  ++(is_parameter(v) ? kernel(k).parameters : kernel(k).open);
}

void Budget::turn(EntryId v, std::span<const Use> uses) {
  KernelId last = -1;
  for (const Use& p : uses) {
    if (p.kernel == last) continue;
    last = p.kernel;
    if (!is_parameter(v) && needed_.contains(pair(v, p.kernel))) --kernel(p.kernel).open;
  }
}

void Budget::load(EntryId v, KernelId k) {
  if (limited(k) && loaded_.insert(pair(v, k)).second) ++kernel(k).loads;
}

bool Budget::room(KernelId k, EntryId v, int outputs) const {
  if (!limited(k)) return true;
  const FusionLimits& limits = limits_.of(kernel(k).device);
  int buffers = kernel(k).loads + kernel(k).open + static_cast<int>(kernel(k).outputs.size()) + outputs;
  int parameters = kernel(k).parameters;
  const Entry& e = arena_[v];
  for (int s = 0; s < e.arity; ++s) {
    const EntryId source = e.source[s];
    if (std::find(e.source, e.source + s, source) != e.source + s || needed_.contains(pair(source, k))) continue;
    if (is_parameter(source))
      ++parameters;
    else if (!is_number(source))
      ++buffers;
  }
  return buffers <= limits.arguments && parameters <= limits.parameters;
}

std::string Budget::full(KernelId k) const {
  const FusionLimits& limits = limits_.of(kernel(k).device);
  return fmt::format("its kernel has as many arguments as the device takes ({} buffers, {} numbers)", limits.arguments,
                     limits.parameters);
}

}  // namespace oriel::schedule
