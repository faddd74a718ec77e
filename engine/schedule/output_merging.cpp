#include "schedule/output_merging.hpp"

#include "base/hash.hpp"

namespace oriel::schedule {

using base::mix;

// The reduction that gives v its rows, if kernels over it may be fused: one over plain values.
EntryId OutputMerging::joinable_reduction(EntryId v) const {
  const EntryId r = properties(v).over;
  return r != kNone && !properties(arena_[r].source[0]).over_reduction ? r : kNone;
}

// What kernels must share to be fused; 0 where v is fused with none.
std::uint64_t OutputMerging::key(EntryId v) const {
  const Device device = arena_.device(v);
  const auto place =
      static_cast<std::uint64_t>(device.context) << 16 | static_cast<std::uint64_t>(device.kind) << 8 | device.index;
  const std::uint64_t h = mix(hash_value(arena_[v].shape()), 1 + place);
  if (const EntryId r = joinable_reduction(v); r != kNone) {
    const Entry& e = arena_[r];
    return mix(mix(h, hash_value(arena_[e.source[0]].shape())), hash_value(std::get<Ints>(e.node->arg)));
  }
  return properties(v).over_reduction ? 0 : h;
}

void OutputMerging::add(EntryId v, KernelId k) {
  if (const std::uint64_t shared = key(v); shared != 0) last_with_[shared] = k;
}

KernelId OutputMerging::kernel_to_extend(EntryId v) {
  const std::uint64_t shared = key(v);
  if (shared == 0) return -1;
  const auto it = last_with_.find(shared);
  if (it == last_with_.end()) return -1;
  const Kernel& k = graph_.kernels[static_cast<std::size_t>(it->second)];
  const FusionLimits& limits = limits_.of(k.device);
  const EntryId theirs = joinable_reduction(k.root), ours = joinable_reduction(v);
  if (k.device != arena_.device(v) || arena_[k.root].shape() != arena_[v].shape() ||
      (theirs == kNone) != (ours == kNone))
    return -1;
  if (ours != kNone && (arena_[arena_[theirs].source[0]].shape() != arena_[arena_[ours].source[0]].shape() ||
                        std::get<Ints>(arena_[theirs].node->arg) != std::get<Ints>(arena_[ours].node->arg) ||
                        !patterns_.conflict(ours, theirs).empty()))
    return -1;
  // A reduction runs for the kernel's parallel axes. If a reduction over other values chose them, they may be fewer.
  for (std::size_t d = 0; graph::is_reduce(arena_[v].op) && k.outer_known && d < k.root_shape.size(); ++d)
    if (!k.outer_axes[d] && !identical(k.root_shape[d], 1)) return -1;
  if (static_cast<int>(k.outputs.size()) >= limits.outputs ||
      static_cast<int>(k.instances.size()) >= limits.instructions / 4 || !budget_.room(it->second, v, 1))
    return -1;
  for (const Use& p : graph_.uses[static_cast<std::size_t>(v)])
    if (p.instance < 0 && graph_.may_reach(it->second, p.kernel)) return -1;
  return it->second;
}

}  // namespace oriel::schedule
