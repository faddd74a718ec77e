// What the scheduler asks of an index map. It knows neither strides nor masks: `scripts/check_includes` holds it to
// these questions. Axes are those of the outermost view.
//
// On symbols an answer is decided with guards, unless it is said to be an estimate: estimates use the hints and record
// nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oriel/view.hpp"
#include "view/plain.hpp"

namespace oriel::detail {

/// The number of views in the stack: what an index costs.
inline std::size_t view_count(const ShapeTracker& map) noexcept { return map.views().size(); }

/// True if a size of one of the views is an expression over symbols.
inline bool symbolic(const ShapeTracker& map) noexcept { return is_symbolic(map.views()); }

/// True if some view has a mask.
inline bool masked(const ShapeTracker& map) noexcept {
  for (const View& view : map.views()) {
    if (view.masked()) return true;
  }
  return false;
}

/// Does position or validity change along the axis? An axis whose range is cut counts even at extent 1: it says that
/// nothing is valid.
inline bool depends_on(const ShapeTracker& map, std::size_t axis) {
  const View& top = map.views().back();
  if (top.masked() && !(top.mask[axis] == Range{0, top.shape[axis]})) return true;
  return top.shape[axis] != 1 && top.strides[axis] != 0;
}

/// Do neighbours along the axis differ in position or validity? An axis of extent 1, or one that the map does not
/// have, has none.
bool changes_along(const ShapeTracker& map, std::size_t axis);

/// Do neighbours along the axis differ in position? The mask and the extent do not count.
inline bool moves_along(const ShapeTracker& map, std::size_t axis) { return map.views().back().strides[axis] != 0; }

/// Is the map one view without a mask that moves along every axis that has neighbours?
bool moves_everywhere(const ShapeTracker& map);

/// Do neighbours along the axis have the same position, or does the second one follow the first?
bool repeats_or_follows(const ShapeTracker& map, std::size_t axis);

/// Which of two axes takes the longer steps, forwards or backwards? 1: axis a; -1: axis b; 0: both are equal, or the
/// map repeats along one of them. The order of loops is the order in which sums are added up, so this is no estimate.
int longer_steps(const ShapeTracker& map, std::size_t a, std::size_t b);

/// The length of a step along the axis, forwards or backwards. An estimate.
std::int64_t estimated_step(const ShapeTracker& map, std::size_t axis);

/// At most so many positions are met. An estimate.
double distinct_elements(const ShapeTracker& map);

/// Is it shown that no two valid indices along those axes share a position? Exact for one view whose steps nest: each
/// is longer than all smaller ones reach together. False for several views.
bool steps_nest(const ShapeTracker& map, const std::vector<bool>& axes);

/// Is the map one view without a mask whose last axis walks neighbours in order?
bool walks_runs(const ShapeTracker& map);

/// How a map over rows of `length` elements moves among them: for each of the first `outer` axes, how many rows a step
/// takes; 0 for a step inside of the row. Nothing if a step is not made of whole rows, if indices leave their row
/// otherwise, or if the map is not one view from position 0 on, without a mask and without steps back.
std::optional<Ints> rows_per_step(const ShapeTracker& map, std::size_t outer, SymInt length);

/// How windows lie that a map reads: indices along the reduced axes are the points of a window, and neighbours along
/// axis `x` have neighbouring windows.
struct WindowWalk {
  int across = 0;         // reduced axes that move
  std::int64_t step = 0;  // from window to window, in least steps inside of a window
  double points = 1;      // of all windows
  double distinct = 1;    // positions that they meet, at most
  double repeats = 1;     // results beside each other that read the same elements
};
/// Nothing if no reduced axis moves, or x does not. An estimate; masks do not count.
std::optional<WindowWalk> window_walk(const ShapeTracker& map, const std::vector<bool>& reduced, std::size_t x);

/// Is it known that no split of the axes makes one view of the map? True for windows over a padded axis: of two axes
/// that walk it together, each one alone leads out of the padding, from a corner that lies in it. The valid indices of
/// one view are a box, which would hold that corner too. False where that is not shown. Takes guards only on extents
/// that have to be longer than the padding.
bool never_one_view(const ShapeTracker& map);

/// Can axes d and d + 1 become one without further views?
bool axes_join(const ShapeTracker& map, std::size_t d);

}  // namespace oriel::detail
