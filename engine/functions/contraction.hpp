// Sums of products of operands whose axes have labels.
#pragma once

#include <algorithm>
#include <vector>

#include "formula/value.hpp"

namespace oriel::api {

/// A value and a label for each of its axes, none twice.
struct Labelled {
  Value value;
  std::vector<int> labels;
};

inline bool holds(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// The product of both, summed over the labels that `kept` lacks: an axis for each label of `kept`, in this order. Each
/// of them is a label of a or b. Extents of 1 broadcast.
Labelled contract(const Labelled& a, const Labelled& b, const std::vector<int>& kept);
/// The sum over the labels that `kept` lacks, in the order of `kept`.
Labelled summed(const Labelled& x, const std::vector<int>& kept);

/// The dtype in which products of operands of `dtype` are summed.
inline DType sums_of(DType dtype) { return is_floating(dtype) ? wide_dtype(dtype) : dtype; }

}  // namespace oriel::api
