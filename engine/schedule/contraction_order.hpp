// The order in which a sum of products of several operands is computed, pair by pair, by cost.
#pragma once

#include <cstddef>
#include <vector>

#include "oriel/dtype.hpp"

namespace oriel::schedule {

/// An operand of a sum of products in index notation: its extent along each label, 0 for a label that it lacks.
using LabelExtents = std::vector<double>;

/// The sizes of a contraction of two operands: the number of points of labels that both operands and the result have
/// (batches), of labels that only one operand and the result have (rows, columns), and of labels that are summed.
struct PairShape {
  double batches = 1;
  double rows = 1;
  double columns = 1;
  double depth = 1;

  double points() const { return batches * rows * columns * depth; }
  /// Do devices run it as a product of matrices or of a matrix and a vector?
  bool has_form() const;
  /// An estimate by the rates of work (rates.hpp), with the packing of both factors, without a launch.
  double nanoseconds(DType dtype) const;
};
/// `needed`: the labels that the product keeps, because the result or another operand has them.
PairShape pair_shape(const LabelExtents& a, const LabelExtents& b, const std::vector<bool>& needed);

struct ContractionOrder {
  /// The product of the operands in these two places takes the first place, and the second one goes: first < second.
  struct Step {
    std::size_t first = 0;
    std::size_t second = 0;
  };
  std::vector<Step> steps;
  double nanoseconds = 0;  // an estimate, one kernel for each step
};

/// The order that takes the least time. Labels that `result` lacks are summed as soon as no other operand has them. No
/// product between has more than `most_elements`; if every order has one that does, there are no steps. Tries all
/// orders of up to four operands; more than four take the cheapest pair first.
ContractionOrder contraction_order(const std::vector<LabelExtents>& operands, const std::vector<bool>& result,
                                   DType dtype, double most_elements);

}  // namespace oriel::schedule
