// Finds the values of one variable for which an index expression stays in bounds for all values of the others.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lang/index/index.hpp"

namespace oriel::lang {

/// A budget of points that one inference may try one by one when arithmetic does not decide, so that no program takes
/// long.
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

/// A set of integers as ascending intervals, of which none is empty and no two overlap or touch.
using IntervalSet = std::vector<Interval>;

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet unite(const IntervalSet& a, const IntervalSet& b);

/// The values of loop `variable` for which the linear expression lies in `target` for every value of the other loops in
/// the box. Precondition: the loop's coefficient is not 0, and no interval of the box is empty. If there are no such
/// values, hi < lo, and the difference shows by how much.
Interval legal_interval(sym::Expr linear, Interval target, std::int32_t variable, std::span<const Interval> box);

/// The values for which it may lie in `target`, for some values of the other loops.
Interval possible_interval(sym::Expr linear, Interval target, std::int32_t variable, std::span<const Interval> box);

/// The values of loop `variable` in `window` for which the expression lies in `target` for every value of the other
/// loops in the box. Precondition: no element is read, and no interval of the box is empty. Linear expressions,
/// quotients by numbers, minima and maxima need only floor and ceiling arithmetic. Other expressions are tried value by
/// value; the result is nullopt if the window, or the combinations of the other loops, are too many. A remainder in
/// an unbounded window bounds nothing: the answer is the whole window or empty. If values are tried in an unbounded
/// window, values far outside count as legal; with `final`, they count as legal only if the last values tried are, as
/// for a periodic expression. Makes expressions in the pool of `e`. Throws detail::ArithmeticOverflow, OverflowError.
std::optional<IntervalSet> legal_values(sym::Expr e, Interval target, std::int32_t variable,
                                        std::span<const Interval> box, Interval window, bool final, Budget& budget);

}  // namespace oriel::lang
