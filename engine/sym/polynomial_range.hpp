// The range of a polynomial whose factors have known ranges.
#pragma once

#include <functional>

#include "sym/build.hpp"

namespace oriel::sym {

/// Encloses constant + the sum of coefficient times product for all factors within `range_of`. It is exact for linear
/// sums of different factors. For small polynomials of a higher degree each factor x is also replaced by lo + t (or
/// hi - t) with t >= 0: then the signs of the coefficients decide facts such as x*x > x for x >= 2.
Interval polynomial_range(const Terms& terms, const std::function<Interval(Expr factor)>& range_of);

}  // namespace oriel::sym
