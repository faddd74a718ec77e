#include "schedule/kernel_patterns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.hpp"
#include "graph/build.hpp"
#include "schedule/estimate.hpp"

namespace oriel::schedule {

using base::mix;

namespace {

// The most reductions of a kernel that another one is compared with. A reduction with a form of its own is among the
// first.
constexpr std::size_t kMostCompared = 8;
// Storing a value costs less than evaluating it at more points, padding included, than this times its elements.
constexpr double kMostPadding = 1.1;
// From so many elements on that are summed only for padding, the reduction is stored instead.
constexpr double kPaddedWork = 1024;
// Up to so many rows, walking a matrix row by row costs more than reading its memory.
constexpr std::int64_t kShortRow = 16;

// Another kernel costs less than a short reduction beside a long one, if a row of the long one has at least kLongRow
// points (the tile machine then takes one row at a time), that is kMuchLonger times as many as the short one has, and
// the short one has at least kManyRows results.
constexpr std::int64_t kLongRow = 512;
constexpr std::int64_t kMuchLonger = 8;
constexpr std::int64_t kManyRows = 64;

}  // namespace

// The form in which v runs on its device if it has a kernel to itself; null for a plain reduction.
const ReductionPattern* KernelPatterns::pattern(EntryId v) {
  const PatternLimits& limits = limits_.of(arena_.device(v)).patterns;
  // With symbolic sizes this would be a guard, also where there is no form at all.
  const ValueProperties& points = properties(arena_[v].source[0]);
  if (!points.symbolic && !ReductionPattern::may_run(points.elements, limits)) return nullptr;
  const ReductionPattern& f = patterns_.of(v);
  return f.runs(limits) ? &f : nullptr;
}

// Are those points so many more than v's elements that evaluating v at each of them costs more than storing it?
bool KernelPatterns::many(std::int64_t points, EntryId v) const {
  return static_cast<double>(points) > kMostPadding * static_cast<double>(properties(v).elements);
}

std::string KernelPatterns::conflict(EntryId v, EntryId other) {
  if (v == other) return {};
  const ReductionPattern* ours = pattern(v);
  const ReductionPattern* theirs = pattern(other);
  // A product with a vector and a plain reduction of the same matrix read it once where they run together. Two products
  // do not gain by that: each in its form reads the matrix at the speed of memory.
  const bool both = ours != nullptr && theirs != nullptr;
  const auto alone = [&](const ReductionPattern* f) {
    return f != nullptr && (f->kind != PatternKind::Vector || both || !patterns_.share_source(v, other));
  };
  if (alone(ours)) return ours->text() + " of its own: its kernel has another reduction";
  if (alone(theirs)) return "a reduction beside " + theirs->text() + ", which has a kernel of its own";
  return {};
}

std::string KernelPatterns::loss(EntryId v, const Use& use, std::vector<bool> axes) {
  const Kernel& k = kernel(use.kernel);
  const std::size_t compared = std::min(k.reductions.size(), kMostCompared);
  for (std::size_t r = 0; r < compared; ++r)
    if (std::string why = conflict(v, k.reductions[r].entry); !why.empty()) return why;
  if (use.scope == kOuterScope) axes = k.outer_axes;
  std::int64_t around = 1;  // points of the kernel's loops that the result does not depend on
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (!axes[d]) around *= estimate(k.root_shape[d]);
  if (around > 1) {
    const ReductionPattern* ours = pattern(v);
    if (ours == nullptr) {
      // Loops over long rows take one row at a time. A short reduction beside them then runs in tiles of a few
      // elements.
      const std::int64_t depth = estimate(patterns_.of(v).depth);
      if (around < kLongRow || depth * kMuchLonger > around || properties(v).elements < kManyRows ||
          rereads(v, use.kernel))
        return {};
      return fmt::format("a reduction of {} points each: its kernel's rows of {} points are taken one by one", depth,
                         around);
    }
    // A kernel that reads the matrix again, row by row, finds the row in cache.
    if (ours->kind == PatternKind::Vector && ours->depth > kShortRow && rereads(v, use.kernel)) return {};
    return fmt::format("{} of its own: its kernel loops {} times over each result", ours->text(), around);
  }
  const std::int64_t points = k.points(use.scope);
  if (!many(points, v)) return {};
  const ReductionPattern& ours = patterns_.of(v);
  if (static_cast<double>(points - properties(v).elements) * static_cast<double>(estimate(ours.depth)) < kPaddedWork)
    return {};
  return fmt::format("{} that would run for {} results, padding included, to give {}", ours.text(), points,
                     properties(v).elements);
}

// Is what v reduces, or what that is made of, needed elsewhere in the kernel?
bool KernelPatterns::rereads(EntryId v, KernelId k) {
  for (const EntryId s : patterns_.operands(v))
    for (const Use& p : uses(s))
      if (p.kernel == k) return true;
  return false;
}

std::string KernelPatterns::end_of_results(EntryId v, std::int64_t points) {
  if (!properties(v).row_level || !many(points, v)) return {};
  const ReductionPattern* below = pattern(properties(v).over);
  if (below == nullptr || below->kind == PatternKind::Vector) return {};
  return fmt::format("made of {}: its kernel would compute it {} times for {} elements", below->text(), points,
                     properties(v).elements);
}

bool KernelPatterns::windows(EntryId v) {
  // Whether symbolic sizes make windows is seen when they are filled in. Asked here, it would be a guard of the plan.
  return properties(arena_[v].source[0]).symbolic ? graph::row(arena_[v].op).windows : patterns_.windows(v);
}

const ReductionPattern* KernelPatterns::around(const Use& use) {
  if (use.scope < kFirstReduction) return nullptr;
  return pattern(kernel(use.kernel).reductions[static_cast<std::size_t>(use.scope - kFirstReduction)].entry);
}

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
  const Kernel& k = kernel(it->second);
  const EntryId theirs = joinable_reduction(k.root), ours = joinable_reduction(v);
  const auto same_shape = [&](EntryId a, EntryId b) { return graph::known_same(arena_[a].shape(), arena_[b].shape()); };
  if (k.device != arena_.device(v) || !same_shape(k.root, v) || (theirs == kNone) != (ours == kNone)) return -1;
  if (ours != kNone && (!same_shape(arena_[theirs].source[0], arena_[ours].source[0]) ||
                        std::get<Ints>(arena_[theirs].node->arg) != std::get<Ints>(arena_[ours].node->arg) ||
                        !patterns_.conflict(ours, theirs).empty()))
    return -1;
  // A reduction runs for the kernel's parallel axes. If a reduction over other values chose them, they may be fewer.
  for (std::size_t d = 0; graph::is_reduce(arena_[v].op) && k.outer_known && d < k.root_shape.size(); ++d)
    if (!k.outer_axes[d] && !identical(k.root_shape[d], 1)) return -1;
  if (static_cast<int>(k.outputs.size()) >= limits(k).outputs ||
      static_cast<int>(k.instances.size()) >= limits(k).instructions / 4 || !budget_.room(it->second, v, 1))
    return -1;
  for (const Use& p : uses(v))
    if (p.instance < 0 && graph_.may_reach(it->second, p.kernel)) return -1;
  return it->second;
}

}  // namespace oriel::schedule
