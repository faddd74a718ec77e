// A library without debug information, whose function branches on a size.
#include "oriel/ops.hpp"

oriel::Tensor longer_than_ten_plus_one(const oriel::Tensor& x);

oriel::Tensor longer_than_ten_plus_one(const oriel::Tensor& x) {
  if (x.size(0) > 10) return x + 1;
  return x;
}
