#include "schedule/boundaries.hpp"

#include <fmt/format.h>

#include <utility>

#include "schedule/estimate.hpp"

namespace oriel::schedule {

using graph::Op;

// Do the points that need v outnumber its elements by more than the limit?
bool Boundaries::repeats(SymInt points, EntryId v, std::int64_t most) const {
  if (points.is_symbolic() || properties(v).symbolic) return points >= numel(arena_[v].shape()) * (most + 1);
  return points.value() / properties(v).elements > most;
}

std::string Boundaries::of_value(EntryId v) {
  const Entry& e = arena_[v];
  if (!graph::is_elementwise(e.op) && e.op != Op::Gather) return {};
  const ValueProperties f = properties(v);
  if (f.empty) return {};
  for (const Use& p : inliner_.uses(v))
    if (p.instance < 0 && !budget_.room(p.kernel, v, 0)) return budget_.full(p.kernel);
  if (f.recompute_always || (e.op == Op::Cast && properties(e.source[0]).work == 0)) return {};
  for (bool again = true; again;) {
    again = false;
    for (const Use& p : inliner_.uses(v)) {
      if (p.instance >= 0) continue;
      Kernel& k = inliner_.kernel(p.kernel);
      const SymInt size = k.size(p.scope);
      const std::int64_t points = estimate(size);
      if (std::string why = patterns_.end_of_results(v, points); !why.empty()) return why;
      if (!repeats(size, v, limits(k).expand_factor)) continue;
      if (f.row_level && p.scope == kRootScope && !k.outer_known && points > 0) {
        std::vector<bool> axes = inliner_.needed_axes(k, p.map);
        if (g_.maps.injective(p.map, axes)) {
          k.choose_outer(std::move(axes));
          again = true;
          break;
        }
      }
      if (g_.maps.masked(p.map))
        return fmt::format("evaluated at {} points, padding included, for {} elements (limit {} times)", points,
                           f.elements, limits(k).expand_factor);
      return fmt::format("recomputed {} times by an expand (limit {})", points / f.elements, limits(k).expand_factor);
    }
    if (again) inliner_.settle(v);
  }
  for (const Use& p : inliner_.uses(v)) {
    if (p.instance >= 0) continue;
    const Kernel& k = inliner_.kernel(p.kernel);
    if (static_cast<int>(k.instances.size()) >= limits(k).instructions)
      return fmt::format("its kernel is full ({} values)", k.instances.size());
  }
  return recomputation_.loss(v);
}

std::string Boundaries::of_reduction(EntryId v) {
  const Use* only = nullptr;
  std::int64_t at = 0, in_kernels = 0;
  for (const Use& p : inliner_.uses(v)) {
    if (p.instance >= 0) continue;
    if (only == nullptr || only->kernel != p.kernel) ++in_kernels;
    ++at;
    only = &p;
  }
  if (in_kernels > 1) return fmt::format("a reduction that {} kernels need", in_kernels);
  if (at > 1) return fmt::format("a reduction needed at {} places of one kernel", at);
  return of_stage(v, *only);
}

std::string Boundaries::of_stage(EntryId v, const Use& p) {
  Kernel& k = inliner_.kernel(p.kernel);
  if (static_cast<int>(k.instances.size()) >= limits(k).instructions)
    return fmt::format("its kernel is full ({} values)", k.instances.size());
  if (p.scope >= kFirstReduction)
    return "a reduction inside the loops of another reduction: its result changes at each of their points";
  std::vector<bool> axes;
  if (p.scope == kOuterScope)
    axes.assign(k.outer_shape.size(), true);
  else if (!k.outer_known)
    axes = inliner_.needed_axes(k, p.map);
  else
    return "a reduction with other parallel axes than the kernel's first";
  if (k.empty(p.scope)) return "a reduction inside an empty kernel";
  if (!g_.maps.single(p.map))
    return "the kernel reads this reduction's results through several stacked views that do not merge into one";
  if (!g_.maps.injective(p.map, axes)) {
    return fmt::format("a reduction that would run {} times to give {}", k.points(p.scope), properties(v).elements);
  }
  return patterns_.loss(v, p, std::move(axes));
}

}  // namespace oriel::schedule
