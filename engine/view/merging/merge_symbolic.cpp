// Merges views with symbolic sizes by the theorems alone. Each condition that an answer rests on is known or becomes a
// guard. The searches of the plain procedure need numbers, so where it would search, the answer here is Unknown, and
// the stack is kept. The hints choose which theorem is tried. This choice records nothing, because each theorem proves
// its answer.
//
// proofs/merge_guards.v writes the same questions in Coq, in the same order, and proves that a recorded view is the
// stack wherever the guards hold.
#include <algorithm>
#include <numeric>
#include <optional>

#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "view/merging/merge.hpp"
#include "view/merging/outer_walk.hpp"
#include "view/needed.hpp"

namespace oriel::detail {
namespace {

using SymWalk = BasicWalk<SymInt>;
using SymList = NumberList<SymInt>;
using sym::Conditions;

bool all_hold(const Conditions& conditions) { return sym::all_of({conditions.data(), conditions.size()}); }

/// The walk's axes by descending step, if the walk is row-major over 0 .. count-1 for the hints. `conditions` receives
/// the equations that make it so.
std::optional<NumberList<std::size_t>> row_major_order(const SymWalk& walk, SymInt count, Conditions& conditions) {
  NumberList<std::size_t> order(walk.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  NumberList<std::int64_t> steps;
  for (const SymInt step : walk.step) {
    const std::optional<std::int64_t> hint = sym::hint(step);
    if (!hint) return std::nullopt;
    steps.push_back(*hint);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] > steps[b]; });
  conditions.push_back(walk.base == 0);
  SymInt width = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    conditions.push_back(walk.step[order[k]] == width);
    width *= walk.extent[order[k]];
  }
  conditions.push_back(width == count);
  for (const SymBool condition : conditions) {
    if (!sym::hint(condition).value_or(false)) return std::nullopt;
  }
  return order;
}

/// n mod cut on a walk's box, as far as it is the linear form start + sum of slope * x (Theorem L).
struct Remainder {
  SymInt start;
  SymList slope;
  SymInt least;
  SymInt greatest;
  Conditions signs;    // the signs of the slopes that `least` and `greatest` assume
  SymBool fits_below;  // least >= 0
  SymBool fits_above;  // greatest < cut
};

/// The linear form of n mod cut; nullopt if the sign of a slope has no hint. Of the two slopes that a step has, it is
/// the one that does not leave [0, cut) for the hints.
std::optional<Remainder> remainder_of(const SymWalk& walk, SymInt cut) {
  const SymInt start = walk.base % cut;
  Remainder r{start, SymList(walk.rank(), SymInt(0)), start, start, {}, true, true};
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    const SymInt step = walk.step[d] % cut;
    const SymInt slope = r.slope[d] = sym::hint(start + step < cut).value_or(true) ? step : step - cut;
    const SymBool upwards = slope >= 0;
    const std::optional<bool> hint = sym::hint(upwards);
    if (!hint) return std::nullopt;
    r.signs.push_back(*hint ? upwards : upwards.negated());
    (*hint ? r.greatest : r.least) += slope * (walk.extent[d] - 1);
  }
  r.fits_below = r.least >= 0;
  r.fits_above = r.greatest < cut;
  return r;
}

/// Never: n mod cut is the linear form on the whole box; guards record it. Somewhere: for the hints it is not; a guard
/// records that if `record_somewhere` is set.
enum class Carries { Never, Somewhere, Unknown };
Carries carries(const Remainder& r, bool record_somewhere) {
  const bool below = sym::hint(r.fits_below).value_or(false);
  const bool above = sym::hint(r.fits_above).value_or(false);
  if (below && above) {
    Conditions conditions = r.signs;
    conditions.push_back(r.fits_below);
    conditions.push_back(r.fits_above);
    return all_hold(conditions) ? Carries::Never : Carries::Unknown;
  }
  // A slope of the other sign would only move these corners further out: the failing corner alone proves a carry.
  if (record_somewhere && (below ? r.fits_above : r.fits_below)) return Carries::Unknown;
  return Carries::Somewhere;
}

SymInt ceil_quotient(SymInt a, SymInt b) { return -((-a) / b); }

/// What divides the extent and the bounds of a block, counted in n, for all values: a step of the walk that is longer
/// than the cut below the block, or the cut.
SymInt unit_of(const SymWalk& walk, const Block& block, SymInt cut) {
  const auto known = [&](SymInt n, SymInt step) { return is_zero(n * cut % step); };
  SymInt unit = cut;
  for (const SymInt step : walk.step)
    if (sym::hint(step > unit).value_or(false) && known(block.extent, step) && known(block.lo, step) &&
        known(block.hi, step) && step > 0)
      unit = step;
  return unit;
}

/// floor(n / cut) as a walk over the same box. Precondition: n mod cut is the linear form r on all of it.
SymWalk quotient_of(SymWalk walk, const Remainder& r, SymInt cut) {
  walk.base = (walk.base - r.start) / cut;
  for (std::size_t d = 0; d < walk.rank(); ++d) walk.step[d] = (walk.step[d] - r.slope[d]) / cut;
  return walk;
}

/// Cuts the walk to the box on which `lo <= n mod period < hi`, where n is what `seen` walks, over the same box.
BoxVerdict cut_to_valid(SymWalk& walk, SymList& start, const SymWalk& seen, SymInt period, SymInt lo, SymInt hi) {
  const std::optional<Remainder> r = remainder_of(seen, period);
  if (!r || carries(*r, false) != Carries::Never) return BoxVerdict::Unknown;
  const SymBool inside[] = {lo <= r->least, r->greatest < hi};
  if (sym::hint(inside[0]).value_or(false) && sym::hint(inside[1]).value_or(false)) {
    return sym::all_of(inside) ? BoxVerdict::Box : BoxVerdict::Unknown;
  }
  const SymBool outside[] = {r->greatest < lo, r->least >= hi};
  if (sym::hint(outside[0]).value_or(false) || sym::hint(outside[1]).value_or(false)) {
    return sym::any_of(outside) ? BoxVerdict::Nothing : BoxVerdict::Unknown;
  }
  // Along one axis an interval of the remainder is an interval of positions. Several axes give no box in general.
  std::optional<std::size_t> moving;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    if (is_zero(r->slope[d])) continue;
    if (moving) return BoxVerdict::Unknown;
    moving = d;
  }
  if (!moving) return BoxVerdict::Unknown;
  const SymInt slope = r->slope[*moving];
  const SymInt extent = walk.extent[*moving];
  if (slope == 0) return BoxVerdict::Unknown;
  const bool upwards = slope > 0;
  const SymInt least = upwards ? ceil_quotient(lo - r->start, slope) : ceil_quotient(hi - 1 - r->start, slope);
  const SymInt beyond = (upwards ? (hi - 1 - r->start) / slope : (lo - r->start) / slope) + 1;
  const SymInt first = least > 0 ? least : SymInt(0);
  const SymInt last = beyond < extent ? beyond : extent;
  if (first >= last) return BoxVerdict::Nothing;
  walk.base += walk.step[*moving] * first;
  walk.extent[*moving] = last - first;
  start[*moving] += first;
  return BoxVerdict::Box;
}

MergeResult unknown() { return {MergeVerdict::Unknown, {}}; }

/// The general case: cuts the walk to the box where the inner masks hold, then tests whether carries make the value not
/// affine.
MergeResult merge_carries(const View& outer, OuterWalk<SymInt> outer_walk, const Blocks& blocks) {
  // The remainders divide by extents. So it must be certain here that no extent is 0.
  for (const Block& block : blocks.list) static_cast<void>(static_cast<bool>(or_false(block.extent == 0)));
  SymWalk& walk = outer_walk.walk;
  SymList start(walk.rank(), SymInt(0));
  SymInt cut = 1;
  Assumptions<SymInt> assumed = blocks.assumed;
  for (const Block& block : blocks.list) {
    if (!block.full(assumed)) {
      // Where floor(n / unit) is a walk, the question is about fewer axes.
      SymInt unit = unit_of(walk, block, cut);
      const std::optional<Remainder> below = remainder_of(walk, unit);
      const bool digits = below && carries(*below, false) == Carries::Never;
      const SymWalk seen = digits ? quotient_of(walk, *below, unit) : walk;
      if (!digits) unit = 1;
      switch (
          cut_to_valid(walk, start, seen, cut * block.extent / unit, block.lo * cut / unit, block.hi * cut / unit)) {
        case BoxVerdict::Nothing:
          return merged_invalid(outer.shape);
        case BoxVerdict::Box:
          break;
        default:
          return unknown();
      }
    }
    cut *= block.extent;
  }
  // The value is offset + sum of coefficient * floor(n / cut). Without carries, floor(n / cut) has the slopes
  // (step - slope of n mod cut) / cut.
  SymInt offset = blocks.offset;
  SymList slopes(walk.rank(), SymInt(0));
  std::optional<Remainder> carrying;
  SymBool carrying_idle = false;  // whether the term that carries is 0
  SymInt below = 0;
  cut = 1;
  for (const Block& block : blocks.list) {
    const SymInt coefficient = block.stride - below;
    below = block.extent * block.stride;
    const std::optional<Remainder> r = remainder_of(walk, cut);
    if (!r) return unknown();
    // A term that never carries is added even if it may be 0. So a coefficient that is not 0 is only asked for below,
    // where the answer rests on it.
    const SymBool idle = coefficient == 0;
    const bool skip = sym::hint(idle).value_or(true) ? static_cast<bool>(idle) : sym::known(idle).value_or(false);
    if (!skip) {
      switch (carries(*r, false)) {
        case Carries::Never:
          offset += coefficient * ((walk.base - r->start) / cut);
          for (std::size_t d = 0; d < walk.rank(); ++d) {
            slopes[d] += coefficient * ((walk.step[d] - r->slope[d]) / cut);
          }
          break;
        case Carries::Somewhere:
          if (carrying) return unknown();  // two carries may cancel
          carrying = r;
          carrying_idle = idle;
          break;
        case Carries::Unknown:
          return unknown();
      }
    }
    cut *= block.extent;
  }
  if (carrying) {
    // Theorem V: a single carry is not affine.
    if (carrying_idle || carries(*carrying, true) != Carries::Somewhere) return unknown();
    assumed.refuse();
    outer_walk.assumed.refuse();
    return {MergeVerdict::No, {}};
  }
  Placement<SymInt> result(outer);
  for (std::size_t k = 0; k < walk.rank(); ++k) {
    result.place(outer_walk.axis[k], slopes[k], start[k], start[k] + walk.extent[k]);
    offset -= slopes[k] * start[k];
  }
  return result.finish(offset);
}

MergeResult decide(const View& outer, const View& inner) {
  Blocks blocks;
  if (lacks_indices(outer.shape, blocks.assumed)) return {MergeVerdict::Merged, extentless_view(outer.shape)};
  if (lacks_valid(outer.mask, blocks.assumed) || !split_blocks(inner, blocks)) return merged_invalid(outer.shape);
  if (blocks.list.empty() || (blocks.list.size() == 1 && blocks.list[0].full(blocks.assumed)))
    return merge_affine(outer, blocks);
  OuterWalk<SymInt> outer_walk = walk_of<SymInt>(outer);
  SymInt count = 1;
  for (const Block& block : blocks.list) count *= block.extent;
  Conditions conditions;
  if (const auto order = row_major_order(outer_walk.walk, count, conditions); order && !order->empty()) {
    if (all_hold(conditions)) return merge_reshape(outer, outer_walk, blocks, {order->data(), order->size()});
  }
  return merge_carries(outer, std::move(outer_walk), blocks);
}

}  // namespace

MergeResult merge_symbolic(const View& outer, const View& inner) {
  const sym::Node* const node = some_node(outer, inner);
  sym::Checkpoint before(node);
  try {
    MergeResult result = sym::with_needed_guards(
        node, [&] { return decide(outer, inner); },
        [](const MergeResult& found) {
          return found.verdict == MergeVerdict::Merged ? numbers_of(found.view) : std::vector<SymInt>();
        },
        [](const MergeResult& a, const MergeResult& b) {
          return a.verdict == b.verdict && (a.verdict != MergeVerdict::Merged || same_view(a.view, b.view));
        });
    if (result.verdict == MergeVerdict::Unknown) before.undo();
    return result;
  } catch (const OverflowError&) {
    before.undo();
    return unknown();
  } catch (const DataDependentError&) {
    before.undo();
    return unknown();
  }
}

}  // namespace oriel::detail
