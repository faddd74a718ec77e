// A point of a box whose value falls into arcs of residues: found, or shown not to exist.
#pragma once

#include <boost/container/small_vector.hpp>

#include "view/carry.hpp"

namespace oriel::detail {

/// The size+1 residues modulo `period` from `from` on. 0 <= size < period.
struct Arc {
  Int period;
  Int from;
  Int size;
  bool holds(Int n) const { return (n - from) % period <= size; }
};
using Arcs = boost::container::small_vector<Arc, 8>;

enum class Found { Yes, No, Unknown };

/// Looks for a point of the walk whose value lies in every arc. Yes, with the point in x, and No are exact. Each
/// residue that it looks up takes one of `steps`; with none left the answer is Unknown.
Found find_point(const Walk& walk, const Arcs& arcs, IntList& x, Int& steps);

}  // namespace oriel::detail
