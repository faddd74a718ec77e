// Stacks with fewer views.
#pragma once

#include <optional>
#include <span>

#include "oriel/view.hpp"

namespace oriel::detail {

using Stack = boost::container::small_vector<View, 1>;  // innermost first

/// Theorem N: cuts inner's mask to a box that holds every digit `outer` reaches; the composite is unchanged. Ranges of
/// one position free their stride, so that stuck stacks may merge. True if `inner` changed.
bool narrow(const View& outer, View& inner);

/// The converse, for the final form: drops those ends of inner's mask that `outer` never reaches beyond.
void widen(const View& outer, View& inner);

/// The one view equal to the whole stack, found by looking at every valid index of the outermost view; nothing if there
/// is none. Exact. Precondition: the outermost view's valid indices can be walked.
std::optional<View> fit(std::span<const View> innermost_first);

/// Merges, narrows and fits until nothing changes. Views come out canonical.
void simplify(Stack& stack);

}  // namespace oriel::detail
