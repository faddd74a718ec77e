#include <algorithm>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/merging/carry.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::detail {
namespace {

struct Reach {
  Int lo;
  Int hi;  // exclusive
};
using Reaches = InlineVector<Reach, 8>;

/// Stores for each axis of `inner` a range that contains every digit reached by a valid index of `outer`. False if
/// outer has no valid index or an extent is 0.
bool reach(const View& outer, const View& inner, Reaches& reaches) {
  if (has_zero_extent(outer.shape) || has_zero_extent(inner.shape) || has_empty_range(outer.mask)) return false;
  Walk walk;
  walk.base = Int(outer.offset);
  for (std::size_t d = 0; d < outer.rank(); ++d) {
    const Range range = valid_range(outer, d);
    const Int step(outer.strides[d]);
    if (step == 0) continue;
    walk.base += step * (step > 0 ? Int(range.lo) : Int(range.hi) - 1);
    walk.step.push_back(detail::abs(step));
    walk.extent.push_back(Int(range.hi) - Int(range.lo));
  }
  reaches.resize(inner.rank());
  Int width = 1;
  IntList slope;
  for (std::size_t d = inner.rank(); d-- > 0;) {
    const Int extent(inner.shape[d]);
    reaches[d] = {0, extent};
    const Int period = width * extent;
    if (!carry_free(walk, period, slope)) balanced_residues(walk.step, period, slope);
    const Extremes span = extremes_of(slope, walk.extent, period);
    const Int first = (walk.base + span.least) % period;
    const Int last = first + span.greatest - span.least;
    if (last < period) reaches[d] = {first / width, last / width + 1};
    width = period;
  }
  return true;
}

}  // namespace

bool narrow(const View& outer, View& inner) {
  Reaches reaches;
  try {
    if (!reach(outer, inner, reaches)) return false;
    Ranges mask(inner.rank());
    bool changed = false;
    for (std::size_t d = 0; d < inner.rank(); ++d) {
      const Range range = valid_range(inner, d);
      const SymInt lo = std::max(Int(range.lo), reaches[d].lo).value();
      const SymInt hi = std::min(Int(range.hi), reaches[d].hi).value();
      mask[d] = {lo, hi < lo ? lo : hi};
      changed = changed || !(mask[d] == range);
    }
    if (!changed) return false;
    View narrowed = inner;
    narrowed.mask = std::move(mask);
    canonicalize(narrowed);
    if (narrowed == inner) return false;
    inner = std::move(narrowed);
    return true;
  } catch (const ArithmeticOverflow&) {
    return false;
  } catch (const OverflowError&) {
    return false;
  }
}

void widen(const View& outer, View& inner) {
  if (inner.mask.empty()) return;
  Reaches reaches;
  try {
    if (!reach(outer, inner, reaches)) return;
  } catch (const ArithmeticOverflow&) {
    return;
  }
  bool full = true;
  for (std::size_t d = 0; d < inner.rank(); ++d) {
    if (Int(inner.mask[d].lo) <= reaches[d].lo) inner.mask[d].lo = 0;
    if (Int(inner.mask[d].hi) >= reaches[d].hi) inner.mask[d].hi = inner.shape[d];
    full = full && inner.mask[d].lo == 0 && inner.mask[d].hi == inner.shape[d];
  }
  if (full) inner.mask.clear();
}

bool cut_to(View& view, SymInt count) {
  __extension__ using Wide = __int128;
  const auto quotient_down = [](Wide a, Wide b) { return a >= 0 ? a / b : -((-a + b - 1) / b); };
  View cut = view;
  if (cut.mask.empty()) {
    for (const SymInt extent : cut.shape) cut.mask.push_back({0, extent});
  }
  // After one axis is cut, more of another axis may turn out to lie outside. So the cuts are repeated, a limited number
  // of times.
  bool changed = true;
  for (int cuts = 0; changed && cuts < 64; ++cuts) {
    changed = false;
    const std::optional<PositionRange> range = position_range(cut);
    if (!range || (range->least >= 0 && range->greatest < count)) {
      canonicalize(cut);
      view = std::move(cut);
      return true;
    }
    for (std::size_t d = 0; d < cut.rank() && !changed; ++d) {
      const Wide stride = cut.strides[d].value();
      const Wide step = stride < 0 ? -stride : stride;
      if (step == 0) continue;
      const Wide lo = cut.mask[d].lo.value();
      const Wide extent = Wide(cut.mask[d].hi.value()) - lo;
      // The steps along this axis for which the other axes can reach a position in the range.
      const Wide span = step * (extent - 1);
      const Wide first = std::max<Wide>(0, -quotient_down(Wide(range->greatest.value()) - span, step));
      const Wide last = std::min<Wide>(extent - 1, quotient_down(Wide(count.value()) - 1 - range->least.value(), step));
      if (first == 0 && last == extent - 1) continue;
      changed = true;
      const Wide from = stride > 0 ? first : extent - 1 - last;
      const Wide length = std::max<Wide>(0, last - first + 1);
      cut.mask[d] = {static_cast<std::int64_t>(lo + from), static_cast<std::int64_t>(lo + from + length)};
    }
  }
  return false;
}

}  // namespace oriel::detail
