// Whether a map can be written through: whether each index stands for an element of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/view.hpp"

namespace oriel::detail {

/// The result of checking a map as the target of a write.
struct Distinctness {
  enum class Kind : std::uint8_t {
    Distinct,  // every index stands for an element, no two for the same one
    Repeats,   // `first` and `second` stand for the same element
    Invalid,   // `first` stands for no element
    Unknown,   // not decided within the budget
  } kind = Kind::Unknown;
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;

  /// "indices (0, 0) and (1, 0) stand for one element", "index (0) stands for no element", or for Unknown what could
  /// not be shown. Empty for Distinct.
  std::string str() const;
};

/// Distinct, Repeats and Invalid are exact; the latter two come with witnesses. For one view, a search looks for a
/// difference d of two indices with strides . d = 0, largest strides first and the last two axes in closed form
/// (Bezout). The answer is Unknown only after 2^14 steps or beyond 64 bits. A stack is distinct if all its views are;
/// otherwise its table is examined if it has at most 2^16 entries, else the answer is Unknown. On symbols a view whose
/// steps nest is distinct; other questions need numbers, so they fix the sizes.
Distinctness distinctness(const ShapeTracker& map);

/// True only if it is shown that no valid index of `a` has the position of a valid index of `b`: by their ranges, by
/// their residues, or by comparing tables of up to 2^16 entries each.
bool disjoint(const ShapeTracker& a, const ShapeTracker& b);

}  // namespace oriel::detail
