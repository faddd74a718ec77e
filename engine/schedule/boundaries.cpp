#include "schedule/boundaries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedule/estimate.hpp"
#include "schedule/rates.hpp"
#include "sym/decide.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// Operations that take as long as launching another kernel, about a microsecond.
constexpr double kStoredWork = 32768;

constexpr Rates kCost = kRatesInCache;
constexpr double kCachedBytes = 16 << 20;  // of values that stay in the caches from kernel to kernel
// The least gain for which a value is stored: it covers a launch and the error of the estimate.
constexpr double kLeastGain = 1500;
constexpr double kLeastRatio = 1.2;
// The most values below a value that are looked at. A value made of more is judged by its operations alone.
constexpr std::size_t kMostValues = 64;
// The limits of codegen/keep.cpp: from so many operations and rows on, a stage reads what an earlier stage computed for
// the row.
constexpr std::int64_t kKeepCost = 4;
constexpr std::int64_t kFewestRows = 16;
// What makes a position of a number costs no more. It is computed once for each row that is gathered, or for a range of
// positions (backend/eigen/tile/lookups.hpp).
constexpr std::int64_t kPositionWork = 64;

double words(DType dtype) { return std::max(0.5, static_cast<double>(itemsize(dtype)) / 4); }

double count(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

std::string Recomputation::loss(EntryId v) {
  if (!properties(v).over_reduction)
    for (const Use& p : uses(v))
      if (p.instance < 0)
        if (std::string why = repetition(v, p); !why.empty()) return why;
  if (std::string why = operations(v); !why.empty()) return why;
  return time(v);
}

// For a value that is needed at one place, even at more points than it has elements.
std::string Recomputation::repetition(EntryId v, const Use& use) {
  const ValueProperties& f = properties(v);
  if (f.finds && f.work <= kPositionWork) return {};
  const Kernel& k = kernel(use.kernel);
  std::int64_t points = k.points(use.scope);
  if (points <= f.elements) return {};
  if (const ReductionPattern* reduction = patterns_.around(use); reduction != nullptr) {
    if (reduction->kind == PatternKind::Windows) return {};  // each element once
    points = own_points(graph_.maps, use.map);
  }
  const double repeated = count(points - f.elements) * count(f.work);
  const std::int64_t limit = limits(k).repeated_work;
  if (repeated < kStoredWork || repeated <= count(limit) * count(f.elements)) return {};
  return fmt::format("computed {} times for {} elements: that would repeat {:.0f} operations an element (limit {})",
                     points, f.elements, repeated / count(f.elements), limit);
}

// For a value that is needed at several places: counts operations alone.
std::string Recomputation::operations(EntryId v) const {
  const ValueProperties& f = properties(v);
  std::int64_t points = 0, at = 0, first = 0;
  for (const Use& p : uses(v)) {
    if (p.instance >= 0) continue;
    const std::int64_t here = kernel(p.kernel).points(p.scope);
    if (at++ == 0) first = here;
    points = std::min(points + here, INT64_MAX / kWorkCap / 4);
  }
  const std::int64_t limit = limits_.of(arena_.device(v)).repeated_work;
  const auto repeated = static_cast<std::int64_t>(count(points - first) / count(f.elements) * count(f.work));
  if (at < 2 || repeated <= limit) return {};
  return fmt::format("needed at {} places: recomputing would repeat {} operations an element (limit {})", at, repeated,
                     limit);
}

// For a value that is needed at several places, or as a factor that is packed: compares the time of its operations,
// reads and packing with the time of storing and reading it.
std::string Recomputation::time(EntryId v) {
  const ValueProperties& f = properties(v);
  if (f.positions) return {};  // what it hides can be told where it is not stored
  const auto active = std::ranges::count_if(uses(v), [](const Use& p) { return p.instance < 0; });
  if (active == 0 || count(f.elements) < kLeastGain) return {};

  const double size = words(arena_[v].dtype);
  double inlined = 0, stored = 0;  // nanoseconds
  double inlined_bytes = 0, stored_bytes = 0;
  Evaluation once;
  bool factor = false;
  KernelId last = -1;
  bool row_is_held = false;  // does the kernel keep v for a row?
  std::int64_t kernels = 0;
  for (const Use& p : uses(v)) {  // by kernel, root scope first
    if (p.instance >= 0) continue;
    const Kernel& k = kernel(p.kernel);
    const ReductionPattern* around = patterns_.around(p);
    if (around != nullptr && around->kind == PatternKind::Windows) return {};
    const bool packed = around != nullptr;
    const bool panels = packed && around->kind == PatternKind::Product;
    const std::int64_t own = packed ? own_points(graph_.maps, p.map) : k.points(p.scope);
    if (panels && own == k.points(p.scope)) return {};  // made of both factors, point by point
    if (active == 1 && !panels) return {};
    Evaluation e;
    if (!evaluate(v, k, p.scope, p.map, e)) return {};
    const double points = count(own);
    if (p.kernel != last) {
      last = p.kernel;
      row_is_held = false;
      ++kernels;
      inlined_bytes += e.bytes;
      stored_bytes += count(f.elements) * 4 * size;
    }
    const double again = read(v, p.map);
    inlined += points * (row_is_held ? kCost.load * size + kCost.store
                                     : e.nanoseconds + (panels   ? kCost.pack_computed
                                                        : packed ? kCost.pack_for_vector
                                                                 : 0) *
                                                           size);
    stored += points * (again + (panels ? kCost.pack * size : 0));
    row_is_held = row_is_held || (e.in_rows && p.scope != kOuterScope && keeps_row(v, k));
    factor = factor || panels;  // of a product in blocks, which has no stages beside it
    if (once.nanoseconds == 0 || e.nanoseconds < once.nanoseconds) once = e;
  }
  // The one kernel that needs v may hold the reductions below, or be fused to theirs row by row.
  if (kernels == 1 && f.over_reduction && !factor) return {};
  stored += count(f.elements) * (once.nanoseconds + kCost.store * size);
  stored_bytes += once.bytes + count(f.elements) * 4 * size;
  const double byte = stored_bytes > kCachedBytes ? kCost.far_byte : kCost.cached_byte;
  inlined += inlined_bytes * byte;
  stored += stored_bytes * byte;
  if (inlined - stored < kLeastGain || inlined < kLeastRatio * stored) return {};
  const double times = inlined / stored;
  if (active == 1)
    return fmt::format(
        "it is a factor of a product: recomputing it while packing takes about {:.1f} times as long as storing it once",
        times);
  return fmt::format(
      "it is used at {} places: recomputing it at each takes about {:.1f} times as long as storing it once", active,
      times);
}

// One element of v read at a point: it comes through as many views as the map has.
double Recomputation::read(EntryId v, MapId map) const {
  const std::size_t views = detail::view_count(graph_.maps[map]);
  return (kCost.load + (views == 1 ? 0 : views == 2 ? kCost.load_view : kCost.load_views)) * words(arena_[v].dtype);
}

// False where more values would have to be looked at than pays.
bool Recomputation::evaluate(EntryId v, const Kernel& k, ScopeId scope, MapId map, Evaluation& out) {
  std::vector<ReductionPatterns::Read> reads;
  std::vector<EntryId> values;
  if (!patterns_.patterns().find_reads(v, map, reads, &values, kMostValues)) return false;
  for (const EntryId e : values) {
    const Op op = arena_[e].op;
    // A value that an expand would repeat often is stored, or lies outside of the loops.
    if (properties(e).elements * limits(k).expand_factor < properties(v).elements) continue;
    if (graph::is_elementwise(op) || op == Op::Gather)
      out.nanoseconds += (op == Op::Gather ? kCost.gather : kCost.operation) * graph::row(op).cost;
  }
  out.nanoseconds *= words(arena_[v].dtype);
  const Shape& domain = graph_.maps[map].shape();
  std::vector<EntryId> met;
  for (const ReductionPatterns::Read& r : reads) {
    const Entry& e = arena_[r.entry];
    if (e.is_const()) continue;
    out.nanoseconds += read(r.entry, r.map);
    if (e.op == Op::Iota) continue;
    // The last loop of the stage: one that is reduced, or an axis of the root that is not parallel.
    std::size_t last = domain.size();
    while (last > 0 && (domain[last - 1] == 1 || (scope == kRootScope && k.outer_known && k.outer_axes[last - 1])))
      --last;
    if (last > 0 && !detail::repeats_or_follows(graph_.maps[r.map], last - 1)) out.in_rows = false;
    if (std::find(met.begin(), met.end(), r.entry) != met.end()) continue;
    met.push_back(r.entry);
    out.bytes += count(properties(r.entry).elements) * 4 * words(e.dtype);
  }
  return true;
}

// Would stages of the kernel that walk its rows keep v, so that it is evaluated once for all of them?
bool Recomputation::keeps_row(EntryId v, const Kernel& k) const {
  if (properties(v).work <= kKeepCost || !k.outer_known || estimate_points(k.outer_shape) < kFewestRows) return false;
  const std::int64_t rows = estimate_points(k.outer_shape);
  const auto row_bytes = count(properties(v).elements) / count(rows) * static_cast<double>(itemsize(arena_[v].dtype));
  return row_bytes <= count(limits(k).row_bytes);
}

// Do the points that need v outnumber its elements by more than the limit, or may they?
bool Boundaries::repeats(SymInt points, EntryId v, const FusionLimits& limits) const {
  if (!points.is_symbolic() && !properties(v).symbolic)
    return points.value() / properties(v).elements > limits.expand_factor;
  const SymBool often = points >= numel(arena_[v].shape()) * (limits.expand_factor + 1);
  return limits.asks ? static_cast<bool>(often) : sym::known(often).value_or(true);
}

std::string Boundaries::of_value(EntryId v) {
  const Entry& e = arena_[v];
  if (!graph::is_elementwise(e.op) && e.op != Op::Gather) return {};
  const ValueProperties f = properties(v);
  if (f.empty) return {};
  for (const Use& p : uses(v))
    if (p.instance < 0 && !budget_.room(p.kernel, v, 0)) return budget_.full(p.kernel);
  if (f.recompute_always || (e.op == Op::Cast && properties(e.source[0]).work == 0)) return {};
  for (bool again = true; again;) {
    again = false;
    for (const Use& p : uses(v)) {
      if (p.instance >= 0) continue;
      Kernel& k = kernel(p.kernel);
      const SymInt size = k.size(p.scope);
      const std::int64_t points = estimate(size);
      if (std::string why = patterns_.end_of_results(v, points); !why.empty()) return why;
      if (!repeats(size, v, limits(k))) continue;
      if (f.row_level && p.scope == kRootScope && !k.outer_known && points > 0) {
        std::vector<bool> axes = inliner_.needed_axes(k, p.map);
        if (graph_.maps.injective(p.map, axes)) {
          k.choose_outer(std::move(axes));
          again = true;
          break;
        }
      }
      if (graph_.maps.masked(p.map))
        return fmt::format("evaluated at {} points, padding included, for {} elements (limit {} times)", points,
                           f.elements, limits(k).expand_factor);
      return fmt::format("recomputed {} times by an expand (limit {})", points / f.elements, limits(k).expand_factor);
    }
    if (again) inliner_.settle(v);
  }
  for (const Use& p : uses(v)) {
    if (p.instance >= 0) continue;
    const Kernel& k = kernel(p.kernel);
    if (static_cast<int>(k.instances.size()) >= limits(k).instructions)
      return fmt::format("its kernel is full ({} values)", k.instances.size());
  }
  return recomputation_.loss(v);
}

std::string Boundaries::of_reduction(EntryId v) {
  const Use* only = nullptr;
  std::int64_t at = 0, in_kernels = 0;
  for (const Use& p : uses(v)) {
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
  Kernel& k = kernel(p.kernel);
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
  if (!graph_.maps.single(p.map))
    return "the kernel reads this reduction's results through several stacked views that do not merge into one";
  if (!graph_.maps.injective(p.map, axes)) {
    return fmt::format("a reduction that would run {} times to give {}", k.points(p.scope), properties(v).elements);
  }
  return patterns_.loss(v, p, std::move(axes));
}

}  // namespace oriel::schedule
