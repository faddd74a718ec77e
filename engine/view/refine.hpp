// Stacks that are one view once the axes are split: Theorem D and the flat form.
#pragma once

#include <optional>
#include <span>

#include "view/simplify.hpp"

namespace oriel::detail {

/// The fewest pieces of each axis under which the stack is one view, and that view; nothing where no split makes it
/// one. Every split found is right; "nothing" is exact as ShapeTracker::refine states. Precondition: the stack is not
/// one view, and its views are canonical.
std::optional<Refinement> refine(std::span<const View> innermost_first);

/// The view V with the fewest axes for which V at flat index ravel(i) is the stack at i: the canonical blocks of the
/// flat map (Theorem U), so equal for equal maps. Its shape has the stack's element count. Nothing where none is found:
/// exact where refine is, and for stacks of at most kSearchBudget indices.
std::optional<View> flatten(std::span<const View> innermost_first);

/// Cuts the outermost view's mask to the least box around the stack's valid indices: exact wherever merging proves that
/// a slab holds none.
void crop(Stack& stack);

/// The blocks of one view as a view; nothing where its offset does not fit.
std::optional<View> flat_view(const View& view);

}  // namespace oriel::detail
