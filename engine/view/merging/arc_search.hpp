// Finds a point of a box whose value falls into given arcs of residues, or shows that there is none.
#pragma once

#include "oriel/inline_vector.hpp"
#include "view/merging/carry.hpp"

namespace oriel::detail {

/// An arc of residues: the size+1 residues modulo `period` that start at `from`. 0 <= size < period.
struct Arc {
  Int period;
  Int from;
  Int size;
  bool holds(Int n) const { return (n - from) % period <= size; }
};
using Arcs = InlineVector<Arc, 8>;

enum class Found { Yes, No, Unknown };

/// Searches for a point of the walk whose value lies in every arc. Yes (x then holds the point) and No are exact. Each
/// residue that is looked up consumes one of `steps`; when none is left, the answer is Unknown.
Found find_point(const Walk& walk, const Arcs& arcs, IntList& x, Int& steps);

}  // namespace oriel::detail
