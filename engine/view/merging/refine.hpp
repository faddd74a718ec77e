// Stacks that are one view after their axes are split (Theorem D), and the flat form.
#pragma once

#include <optional>
#include <span>

#include "view/merging/simplify.hpp"

namespace oriel::detail {

/// The split of the axes into the fewest pieces under which the stack is one view, and that view; nullopt if no split
/// does. Every split found is correct; ShapeTracker::refine states when nullopt is exact. Precondition: the stack is
/// not one view, and its views are canonical.
/// Of symbolic views: the split that the hints call for, if it is one for all sizes that satisfy the guards recorded.
std::optional<Refinement> refine(std::span<const View> innermost_first);
std::optional<Refinement> refine_symbolic(std::span<const View> innermost_first);

/// The stack over its axes split into pieces, merged: one view, or nullopt.
std::optional<View> split_view(std::span<const View> innermost_first, const Shape& pieces);

/// The flat form: the view V with the fewest axes whose value at flat index ravel(i) equals the stack at i. Its axes
/// are the canonical blocks of the flat map (Theorem U), so equal maps have equal flat forms. It has the stack's
/// element count. nullopt if none is found; that is exact in the cases where refine is, and for stacks of at most
/// kSearchBudget indices.
std::optional<View> flatten(std::span<const View> innermost_first);

/// Cuts the outermost view's mask to the least box around the stack's valid indices. Exact if merging proves which
/// slabs contain no valid index.
void crop(Stack& stack);

/// A view whose axes are the blocks of `view`; nullopt if its offset does not fit 64 bits.
std::optional<View> flat_view(const View& view);

}  // namespace oriel::detail
