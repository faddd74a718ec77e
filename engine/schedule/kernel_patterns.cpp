#include "schedule/kernel_patterns.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "schedule/estimate.hpp"

namespace oriel::schedule {

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
  const Kernel& k = kernel(use);
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
    for (const Use& p : graph_.uses[static_cast<std::size_t>(s)])
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
  return pattern(kernel(use).reductions[static_cast<std::size_t>(use.scope - kFirstReduction)].entry);
}

}  // namespace oriel::schedule
