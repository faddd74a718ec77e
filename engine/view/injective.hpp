// Whether a map may be written through: does each index stand for an element of its own?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

/// What is known of a map's indices as targets of a write.
struct Distinctness {
  enum class Kind : std::uint8_t {
    Distinct,  // every index stands for an element, and no two for the same one
    Repeats,   // `first` and `second` stand for the same element
    Invalid,   // `first` stands for no element
    Unknown,   // not decided within the budget
  } kind = Kind::Unknown;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;

  /// "indices (0, 0) and (1, 0) stand for one element", "index (0) stands for no element", and for Unknown what was
  /// not shown. Empty for Distinct.
  std::string str() const;
};

/// Distinct, Repeats and Invalid are exact, with witnesses. One view: t . d = 0 is searched for a difference d of two
/// indices, largest strides first, the last two axes in closed form (Bezout); Unknown only past 2^14 steps or 64 bits.
/// A stack: distinct where all its views are, else its table is looked at up to 2^16 entries, else Unknown.
Distinctness distinctness(const ShapeTracker& map);

/// True only where no valid index of `a` and no valid one of `b` stand for the same position: by their ranges, by their
/// residues, or by looking at up to 2^16 entries of each.
bool disjoint(const ShapeTracker& a, const ShapeTracker& b);

}  // namespace oriel::detail
