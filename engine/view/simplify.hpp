// Stacks with fewer views.
#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <span>

#include "oriel/view.hpp"

namespace oriel::detail {

using Stack = InlineVector<View, 1>;  // innermost first

/// Theorem N: cuts inner's mask to a box that holds every digit `outer` reaches; the composite is unchanged. Ranges of
/// one position free their stride, so that stuck stacks may merge. True if `inner` changed.
bool narrow(const View& outer, View& inner);

/// The converse, for the final form: drops those ends of inner's mask that `outer` never reaches beyond.
void widen(const View& outer, View& inner);

/// Cuts the mask from the ends of each axis where every position lies outside 0 .. count-1. True where then no position
/// is left outside.
bool cut_to(View& view, SymInt count);

/// The one view equal to the whole stack, found by looking at every valid index of the outermost view; nothing if there
/// is none. Exact. Precondition: the outermost view's valid indices can be walked.
std::optional<View> fit(std::span<const View> innermost_first);

/// Merges, narrows and fits until nothing changes. Views come out canonical.
void merge_views(Stack& stack);

/// merge_views, and runs of views whose flat map is one view become that one.
void simplify(Stack& stack);

/// simplify without those runs: a third of the work where views pile up, for maps that are still being composed.
ShapeTracker merged(const ShapeTracker& tracker);

/// ShapeTracker::canonical: simplify, and then the form.
void canonicalize(Stack& stack);

}  // namespace oriel::detail
