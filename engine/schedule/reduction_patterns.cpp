#include "schedule/reduction_patterns.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "schedule/estimate.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

using graph::Op;

namespace {

// The most movements between a sum and its product.
constexpr std::size_t kMostMovements = 256;

std::vector<bool> reduced_axes(const Entry& reduction, std::size_t rank) {
  std::vector<bool> reduced(rank, false);
  for (const SymInt a : std::get<Ints>(reduction.node->arg)) reduced[static_cast<std::size_t>(a.value())] = true;
  return reduced;
}

}  // namespace

std::int64_t own_points(const MapTable& maps, MapId map) {
  const Shape& domain = maps[map].shape();
  std::int64_t points = 1;
  for (std::size_t d = 0; d < domain.size(); ++d)
    if (maps.depends_on(map, d)) points *= estimate(domain[d]);
  return points;
}

namespace {

// Is the product of the sizes at least `limit`? It may be beyond 2^63.
bool reaches(SymInt a, SymInt b, SymInt c, std::int64_t limit) {
  if (a.is_symbolic() || b.is_symbolic() || c.is_symbolic()) return a * b * c >= limit;
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c) >= static_cast<double>(limit);
}

}  // namespace

bool ReductionPattern::may_run(std::int64_t points, const PatternLimits& limits) {
  return points >= limits.product_work || (limits.vector_work >= 0 && points >= limits.vector_work) ||
         (limits.window_work >= 0 && points >= limits.window_work);
}

bool ReductionPattern::runs(const PatternLimits& limits) const {
  switch (kind) {
    case PatternKind::None:
      return false;
    case PatternKind::Product:
      return rows >= limits.product_side && columns >= limits.product_side && depth >= limits.product_depth &&
             reaches(rows, columns, depth, limits.product_work) && (limits.integer_products || is_floating(dtype));
    case PatternKind::Vector:
      return limits.vector_work >= 0 && is_floating(dtype) && depth >= limits.product_depth &&
             reaches(rows, columns, depth, limits.vector_work);
    case PatternKind::Windows:
      return limits.window_work >= 0 && reaches(results, depth, 1, limits.window_work);
  }
  return false;
}

std::string ReductionPattern::text() const {
  switch (kind) {
    case PatternKind::None:
      break;
    case PatternKind::Product:
      return fmt::format("a product in blocks ({} x {} x {})", estimate(rows), estimate(columns), estimate(depth));
    case PatternKind::Vector:
      return fmt::format("a product with a vector ({} x {} x {})", estimate(rows), estimate(columns), estimate(depth));
    case PatternKind::Windows:
      return fmt::format("a reduction over windows ({} of {})", estimate(results), estimate(depth));
  }
  return "a reduction";
}

const ReductionPattern& ReductionPatterns::of(EntryId v) {
  const auto pattern = pattern_of_.find(v);
  return pattern != pattern_of_.end() ? pattern->second : pattern_of_.emplace(v, find(v)).first->second;
}

bool ReductionPatterns::reads_nothing(EntryId v) const {
  return properties_[static_cast<std::size_t>(v)].empty || numel(arena_[arena_[v].source[0]].shape()) == 0;
}

ReductionPattern ReductionPatterns::find(EntryId v) {
  ReductionPattern pattern;
  const Entry& e = arena_[v];
  pattern.dtype = e.dtype;
  pattern.results = numel(e.shape());
  if (reads_nothing(v)) return pattern;
  for (const SymInt n : reduced_extents(arena_[e.source[0]].shape(), std::get<Ints>(e.node->arg))) pattern.depth *= n;
  const bool product = find_product(v, pattern);
  // Few rows that share a matrix of windows are windows with weights. Either form is right at all sizes.
  const auto few = [](SymInt n) { return estimate(n) <= kShortestWindowRow; };
  if (may_overlap(v) && (!product || few(pattern.rows) || few(pattern.columns)) && windows(v))
    pattern.kind = PatternKind::Windows;
  return pattern;
}

std::vector<EntryId> ReductionPatterns::sources(EntryId v) {
  std::vector<EntryId> list;
  std::vector<Read> reads;
  const EntryId source = arena_[v].source[0];
  if (!find_reads(source, maps_.identity(arena_[source].shape()), reads)) return list;
  const std::int64_t points = estimate_points(arena_[source].shape());
  for (const Read& r : reads) {
    const Entry& e = arena_[r.entry];
    const bool memory = !e.is_const() && e.op != Op::Iota;
    if (memory && properties_[static_cast<std::size_t>(r.entry)].elements >= points / 2) list.push_back(r.entry);
  }
  return list;
}

std::vector<EntryId> ReductionPatterns::operands(EntryId v) {
  std::vector<EntryId> list;
  std::vector<Read> reads;
  const EntryId source = arena_[v].source[0];
  find_reads(source, maps_.identity(arena_[source].shape()), reads, &list);
  const std::int64_t points = estimate_points(arena_[source].shape());
  std::erase_if(list, [&](EntryId e) { return properties_[static_cast<std::size_t>(e)].elements < points / 2; });
  return list;
}

bool ReductionPatterns::share_source(EntryId a, EntryId b) {
  const std::vector<EntryId> ours = sources(a), theirs = sources(b);
  return std::any_of(ours.begin(), ours.end(),
                     [&](EntryId s) { return std::find(theirs.begin(), theirs.end(), s) != theirs.end(); });
}

// The multiplication whose results are summed as they are, and the map from the summed domain to its positions.
bool ReductionPatterns::find_factors(EntryId v, EntryId& product, MapId& map) {
  const Entry& e = arena_[v];
  if (e.op != Op::Sum || e.dtype == DType::bool_ || is_half(e.dtype)) return false;
  product = e.source[0];
  map = maps_.identity(arena_[product].shape());
  for (std::size_t steps = 0; graph::is_movement(arena_[product].op); ++steps) {
    const Entry& movement = arena_[product];
    const EntryId below = movement.source[0];
    map = maps_.compose_movement(map, movement, arena_[below].shape());
    if (maps_.masked(map) && !properties_[static_cast<std::size_t>(below)].keeps_zero) return false;
    product = below;
    if (steps == kMostMovements) return false;
  }
  return arena_[product].op == Op::Mul && arena_[product].dtype == e.dtype;
}

bool ReductionPatterns::find_product(EntryId v, ReductionPattern& pattern) {
  EntryId product = kNone;
  MapId map = -1;
  if (!find_factors(v, product, map)) return false;
  const Shape& domain = arena_[arena_[v].source[0]].shape();
  // If both factors differ from point to point, all axes are batches.
  const auto distinct = [&](int side) {
    return properties_[static_cast<std::size_t>(arena_[product].source[side])].distinct;
  };
  if (distinct(0) && distinct(1) && detail::moves_everywhere(maps_[map])) return false;
  std::vector<bool> varies[2];
  const auto work = [&](int side) { return properties_[static_cast<std::size_t>(arena_[product].source[side])].work; };
  const int cheaper = work(1) < work(0) ? 1 : 0;
  for (const int side : {cheaper, 1 - cheaper}) {
    std::vector<Read> reads;
    if (!find_reads(arena_[product].source[side], map, reads)) {
      // Too much is computed for it to be looked through: it counts as read where it is computed.
      reads.assign(1, {arena_[product].source[side], map});
      for (Read& r = reads.front(); graph::is_movement(arena_[r.entry].op);) {
        const Entry& movement = arena_[r.entry];
        r = {movement.source[0], maps_.compose_movement(r.map, movement, arena_[movement.source[0]].shape())};
      }
    }
    varies[side].assign(domain.size(), false);
    for (const Read& r : reads) {
      for (std::size_t d = 0; d < domain.size(); ++d) varies[side][d] = varies[side][d] || maps_.depends_on(r.map, d);
    }
    // A factor that is the same everywhere makes no product, but a scaled sum.
    if (std::find(varies[side].begin(), varies[side].end(), true) == varies[side].end()) return false;
  }
  const std::vector<bool> reduced = reduced_axes(arena_[v], domain.size());
  for (std::size_t d = 0; d < domain.size(); ++d) {
    if (reduced[d]) continue;
    SymInt& group = varies[0][d] == varies[1][d] ? pattern.batches : varies[0][d] ? pattern.rows : pattern.columns;
    group *= domain[d];
  }
  if (pattern.rows == 1 && pattern.columns == 1) return false;
  pattern.kind = pattern.rows == 1 || pattern.columns == 1 ? PatternKind::Vector : PatternKind::Product;
  return true;
}

bool ReductionPatterns::find_reads(EntryId value, MapId map, std::vector<Read>& reads, std::vector<EntryId>* values,
                                   std::size_t most) {
  std::vector<std::pair<EntryId, MapId>> pending{{value, map}};
  std::set<std::pair<EntryId, MapId>> met{pending.front()};
  const auto need = [&](EntryId e, MapId at) {
    if (met.emplace(e, at).second) pending.emplace_back(e, at);
  };
  while (!pending.empty()) {
    const auto [v, at] = pending.back();
    pending.pop_back();
    if (met.size() > most) return false;
    if (values != nullptr) values->push_back(v);
    const Entry& e = arena_[v];
    switch (graph::row(e.op).op_class) {
      case graph::OpClass::Elementwise:
        for (int s = 0; s < e.arity; ++s) need(e.source[s], at);
        break;
      case graph::OpClass::Movement:
        need(e.source[0], maps_.compose_movement(at, e, arena_[e.source[0]].shape()));
        break;
      case graph::OpClass::Gather:
        need(e.source[1], at);
        break;
      case graph::OpClass::Write:
        if (e.where() == nullptr) {
          need(e.source[1], at);
          break;
        }
        [[fallthrough]];
      default:
        // A number is the same everywhere, unless padding hides it in places.
        if (!e.is_const() || maps_.masked(at)) reads.push_back({v, at});
    }
  }
  return true;
}

// Without a raw view below, windows of one axis do not overlap.
bool ReductionPatterns::may_overlap(EntryId v) const {
  const Entry& e = arena_[v];
  const EntryId source = e.source[0];
  if (properties_[static_cast<std::size_t>(source)].raw_view) return true;
  const Shape extents = reduced_extents(arena_[source].shape(), std::get<Ints>(e.node->arg));
  return std::count_if(extents.begin(), extents.end(), [](SymInt n) { return estimate(n) > 1; }) >= 2;
}

bool ReductionPatterns::windows(EntryId v) {
  const Entry& e = arena_[v];
  if (!graph::row(e.op).windows || reads_nothing(v)) return false;
  const EntryId source = e.source[0];
  const std::int64_t depth = estimate(numel(reduced_extents(arena_[source].shape(), std::get<Ints>(e.node->arg))));
  if (depth < 2 || depth > kMostTaps) return false;
  const std::vector<bool> reduced = reduced_axes(e, arena_[source].shape().size());
  // Windows that do not overlap may still be the same for many results.
  if (!may_overlap(v)) return reads_windows(source, maps_.identity(arena_[source].shape()), reduced, true);
  if (reads_windows(source, maps_.identity(arena_[source].shape()), reduced, false)) return true;
  EntryId product = kNone;
  MapId map = -1;
  if (!find_factors(v, product, map)) return false;
  return reads_windows(arena_[product].source[0], map, reduced, false) ||
         reads_windows(arena_[product].source[1], map, reduced, false);
}

// Does all that is read move in windows along the last axis of the results?
bool ReductionPatterns::reads_windows(EntryId source, MapId map, const std::vector<bool>& reduced, bool repeated) {
  std::vector<Read> reads;
  if (!find_reads(source, map, reads)) return false;
  const Shape& domain = maps_[map].shape();
  std::size_t x = domain.size();
  for (std::size_t d = 0; d < domain.size(); ++d)
    if (!reduced[d] && estimate(domain[d]) > 1) x = d;
  if (x == domain.size() || estimate(domain[x]) < kShortestWindowRow) return false;
  bool any = false;
  for (const Read& r : reads) {
    if (arena_[r.entry].is_const()) continue;
    const std::optional<detail::WindowWalk> walk = detail::window_walk(maps_[r.map], reduced, x);
    if (!walk) return false;
    const double points = walk->points * (repeated ? walk->repeats : 1);
    if (!windows_pay(walk->distinct, points, walk->step, walk->across)) return false;
    any = true;
  }
  return any;
}

}  // namespace oriel::schedule
