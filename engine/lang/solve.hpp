// For which values of one variable an index expression stays in bounds, whatever the others are.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lang/index.hpp"

namespace oriel::lang {

/// Points that one inference may try one by one, where no arithmetic decides; so that no program takes long.
class Budget {
 public:
  bool take(std::int64_t points) {
    if (points > left_) return false;
    left_ -= points;
    return true;
  }

 private:
  std::int64_t left_ = std::int64_t{1} << 23;
};

/// Ascending, disjoint, no two touch, none empty.
using IntervalSet = std::vector<Interval>;

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);

/// The values of `variable`, whose coefficient is not 0, for which the expression lies in `target` for every value of
/// the others in the box, none of which is empty. Where there are none, the ends tell by how much: hi <= lo.
Interval legal_interval(const Linear& linear, Interval target, std::int32_t variable, std::span<const Interval> box);

/// The values of `variable` in `window` for which the tree (which holds no Read) lies in `target` for every value of
/// the other variables in the box, none of which is empty. Linear expressions, quotients by positive numbers, minima
/// and maxima take floor and ceiling arithmetic alone. Nothing where the expression cannot be decided that way and the
/// window, or the values of the other variables, are too many to try. A remainder in a window without ends bounds
/// nothing: then the answer is the window, or nothing legal at all. Where values are tried in a window without ends,
/// those that are far out count as legal; with `final`, as legal only where the last ones tried are, as for what recurs
/// for ever. Throws detail::ArithmeticOverflow.
std::optional<IntervalSet> legal_values(const IndexTree& tree, Interval target, std::int32_t variable,
                                        std::span<const Interval> box, Interval window, bool final, Budget& budget);

}  // namespace oriel::lang
