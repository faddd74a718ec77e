#include "schedule/domain.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "view/stacks/index_maps.hpp"
#include "view/stacks/questions.hpp"

namespace oriel::schedule {

namespace {

/// A contiguous run of a tracker's axes that belongs to the outer loops or to one stage's inner loops.
struct Section {
  int group;  // kOuterOnly: the outer loops
  Ints* extents;
};

std::vector<Section> sections(Domain& domain) {
  std::vector<Section> list;
  list.reserve(domain.inner.size() + 1);
  list.push_back({kOuterOnly, &domain.outer});
  for (std::size_t g = 0; g < domain.inner.size(); ++g) list.push_back({static_cast<int>(g), &domain.inner[g]});
  return list;
}

bool takes_part(const Operand& o, const Section& s) { return s.group == kOuterOnly || o.group == s.group; }

std::size_t first_axis(const Domain& domain, const Section& s) {
  return s.group == kOuterOnly ? 0 : domain.outer.size();
}

std::size_t extra_views(const Domain& domain) {
  std::size_t n = 0;
  for (const Operand& o : domain.operands) n += detail::view_count(o.tracker) - 1;
  return n;
}

// Each axis of an operand as its pieces; an axis that stays whole has one.
using Split = std::vector<Ints>;

Ints joined(std::span<const Ints> pieces) {
  Ints extents;
  for (const Ints& p : pieces) extents.insert(extents.end(), p.begin(), p.end());
  return extents;
}

// Splits the loops of operand i, and of every operand that shares them. Undoes the split unless it leaves fewer views
// in all.
bool try_split(Domain& domain, std::size_t i, const Split& split) {
  const std::size_t outer = domain.outer.size();
  const int group = domain.operands[i].group;
  const Ints outer_pieces = joined({split.data(), outer});
  const Ints inner_pieces = joined({split.data() + outer, split.size() - outer});
  std::vector<ShapeTracker> trackers;
  std::size_t extra = 0;
  for (const Operand& o : domain.operands) {
    const bool inner_too = group != kOuterOnly && o.group == group;
    const Shape& shape = o.tracker.shape();
    Shape target = detail::replace_axes(shape, 0, outer, outer_pieces);
    if (inner_too) target = joined(std::array{outer_pieces, inner_pieces});
    trackers.push_back(detail::reshaped(o.tracker, target));
    extra += detail::view_count(trackers.back()) - 1;
  }
  if (extra >= extra_views(domain)) return false;
  for (std::size_t k = 0; k < trackers.size(); ++k) domain.operands[k].tracker = std::move(trackers[k]);
  domain.outer = outer_pieces;
  if (group != kOuterOnly) domain.inner[static_cast<std::size_t>(group)] = inner_pieces;
  return true;
}

// Makes one view of as many of an operand's outermost views as possible.
bool refine_once(Domain& domain) {
  for (std::size_t i = 0; i < domain.operands.size(); ++i) {
    const ShapeTracker tracker = domain.operands[i].tracker;
    for (std::size_t count = detail::view_count(tracker); count > 1; --count) {
      const std::optional<Split> split = detail::split_axes(tracker, count);
      if (split && try_split(domain, i, *split)) return true;
    }
  }
  return false;
}

// Should loop a be outside loop b? 1 yes, -1 no, 0 no operand says.
int outside(const std::vector<const Operand*>& voters, std::size_t a, std::size_t b) {
  for (const Operand* o : voters)
    if (const int answer = detail::longer_steps(o->tracker, a, b); answer != 0) return answer;
  return 0;
}

bool permute_section(Domain& domain, const Section& s) {
  const std::size_t first = first_axis(domain, s), n = s.extents->size();
  if (n < 2) return false;
  std::vector<const Operand*> voters;
  voters.reserve(domain.operands.size());
  for (const Operand& o : domain.operands)
    if (takes_part(o, s)) voters.push_back(&o);
  std::stable_sort(voters.begin(), voters.end(), [&](const Operand* a, const Operand* b) {
    if (a->store != b->store) return a->store;
    return a->weight > b->weight;
  });
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Insertion sort: the comparison is ambiguous where no operand votes, and such neighbours keep their order.
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int c = outside(voters, first + order[moving], first + order[j]);
      if (c < 0) break;
      if (c > 0) {
        std::swap(order[moving], order[j]);
        moving = j;
      }
    }
  }
  if (std::is_sorted(order.begin(), order.end())) return false;
  const Ints old = *s.extents;
  for (std::size_t d = 0; d < n; ++d) (*s.extents)[d] = old[order[d]];
  for (Operand& o : domain.operands) {
    if (!takes_part(o, s)) continue;
    Ints axes;
    for (std::size_t d = 0; d < o.tracker.shape().size(); ++d)
      axes.push_back(d < first || d >= first + n ? d : first + order[d - first]);
    o.tracker = o.tracker.permute(axes);
  }
  return true;
}

bool coalesce_section(Domain& domain, const Section& s) {
  bool changed = false;
  for (std::size_t k = 0; k + 1 < s.extents->size();) {
    const std::size_t d = first_axis(domain, s) + k;
    const bool all = std::all_of(domain.operands.begin(), domain.operands.end(), [&](const Operand& o) {
      return !takes_part(o, s) || detail::axes_join(o.tracker, d);
    });
    if (!all) {
      ++k;
      continue;
    }
    const SymInt extent = (*s.extents)[k] * (*s.extents)[k + 1];
    for (Operand& o : domain.operands)
      if (takes_part(o, s)) o.tracker = detail::join_axes(o.tracker, d, extent);
    *s.extents = detail::replace_axes(*s.extents, k, 2, {extent});
    changed = true;
  }
  if (s.extents->size() == 1 && (*s.extents)[0] == 1) {
    const std::size_t d = first_axis(domain, s);
    for (Operand& o : domain.operands)
      if (takes_part(o, s)) o.tracker = detail::drop_axes(o.tracker, d, {false});
    s.extents->clear();
    changed = true;
  }
  return changed;
}

bool drop_ones(Domain& domain, const Section& s) {
  Ints extents;
  std::vector<bool> keep;
  for (const SymInt e : *s.extents) {
    keep.push_back(!sym::known(e == 1).value_or(false));  // a loop that may have one point runs as well
    if (keep.back()) extents.push_back(e);
  }
  // An axis of extent 1 whose only position is masked out has to stay, because nothing else says that it is invalid.
  if (extents.size() == s.extents->size() || extents.empty()) return false;
  const std::size_t first = first_axis(domain, s);
  for (Operand& o : domain.operands)
    if (takes_part(o, s)) o.tracker = detail::drop_axes(o.tracker, first, keep);
  *s.extents = extents;
  return true;
}

// At other sizes the loops of such an operand might have to be split. The split decides the speed, and the order of
// sums. Windows over a padded axis are never split.
void refuse_symbolic(const Domain& domain) {
  for (const Operand& o : domain.operands)
    if (!o.tracker.single() && detail::symbolic(o.tracker) && !detail::never_one_view(o.tracker))
      throw ArgumentError("schedule",
                          "an operand with symbolic sizes is read through several stacked views (" + o.tracker.str() +
                              "). Splitting the loops to merge them depends on the sizes, so they must be known");
}

}  // namespace

DomainChange normalise(Domain& domain) {
  DomainChange change;
  SymInt points = numel(domain.outer);
  for (const Ints& inner : domain.inner) points = points * (numel(inner) == 0 ? 0 : 1);
  if (points == 0) return change;  // nothing runs, or only identities: leave the loops as they are
  // Until here the scheduler has only merged views. Each operand now gets the fewest views.
  for (Operand& o : domain.operands)
    if (detail::view_count(o.tracker) > 2) o.tracker = o.tracker.simplify();
  for (int budget = 16; budget > 0 && extra_views(domain) > 0 && refine_once(domain); --budget) change.refined = true;
  if (extra_views(domain) > 0) refuse_symbolic(domain);
  for (const Section& s : sections(domain)) {
    change.coalesced = drop_ones(domain, s) || change.coalesced;
    change.permuted = permute_section(domain, s) || change.permuted;
    change.coalesced = coalesce_section(domain, s) || change.coalesced;
  }
  return change;
}

}  // namespace oriel::schedule
