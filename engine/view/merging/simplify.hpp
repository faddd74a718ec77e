// Reduces the number of views in a stack.
#pragma once

#include <optional>
#include <span>

#include "oriel/inline_vector.hpp"
#include "oriel/view.hpp"

namespace oriel::detail {

using Stack = InlineVector<View, 1>;  // innermost first

/// Theorem N: cuts inner's mask to a box that contains every digit that `outer` reaches. The composite does not change.
/// An axis with one valid position has an arbitrary stride, so a pair that did not merge before may then merge. True if
/// `inner` changed.
bool narrow(const View& outer, View& inner);

/// The converse, for the final form: removes an end of a range in inner's mask if `outer` never reaches beyond it.
void widen(const View& outer, View& inner);

/// Cuts from the ends of each axis the indices whose positions all lie outside 0 .. count-1. True if afterwards no
/// valid position lies outside.
bool cut_to(View& view, SymInt count);

/// The one view equal to the whole stack, found by evaluating every valid index of the outermost view; nullopt if there
/// is none. Exact. Precondition: the outermost view has few enough valid indices to enumerate.
std::optional<View> fit(std::span<const View> innermost_first);

/// Merges, narrows and fits until nothing changes. The resulting views are canonical.
void merge_views(Stack& stack);

/// merge_views; in addition, a run of views whose flat map is one view is replaced by that view.
void simplify(Stack& stack);

/// simplify without replacing such runs. It takes a third of the time when many views pile up, and is used for maps
/// that are still being composed.
ShapeTracker merged(const ShapeTracker& tracker);

/// ShapeTracker::canonical: simplify, then the normal form.
void canonicalize(Stack& stack);

}  // namespace oriel::detail
