// How the exercises of "100 numpy exercises" are checked.
#pragma once

#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::exercises {

/// Has x the shape and the elements of `want`, whatever the dtypes? A NaN equals a NaN.
inline bool same(const Tensor& x, const Tensor& want) {
  if (x.shape() != want.shape()) return false;
  const Tensor a = x.to(DType::float64), b = want.to(DType::float64);
  return bool(all(a == b || (isnan(a) && isnan(b))));
}

}  // namespace oriel::exercises
