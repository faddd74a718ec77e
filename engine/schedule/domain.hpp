// The iteration domain of a kernel, normalised for all operands jointly: refine, permute, coalesce.
#pragma once

#include <cstdint>
#include <vector>

#include "oriel/shape.hpp"
#include "oriel/view.hpp"

namespace oriel::schedule {

inline constexpr int kOuterOnly = -1;

/// One operand over outer ++ inner[group] (outer alone for kOuterOnly).
struct Operand {
  int group = kOuterOnly;
  ShapeTracker tracker;
  bool store = false;
  std::int64_t weight = 1;  // bytes of an element: operands with wider elements decide the order of the loops
};

/// Loops of a kernel: the parallel ones and, for each stage, its inner ones.
struct Domain {
  Ints outer;
  std::vector<Ints> inner;
  std::vector<Operand> operands;
};

/// What was done, for explain and the dumps.
struct DomainChange {
  bool refined = false;
  bool permuted = false;
  bool coalesced = false;
};

/// Normalises in place:
///   1. refine: loops are split so that an operand's stack, or else its outermost views, become one view. This is done
///   if it leaves fewer views in all: the split may make two views of another operand's one;
///   2. permute: loops are ordered by the strides of stores, then by those of loads, wide elements first. An operand
///   that repeats elements is not asked;
///   3. coalesce: neighbouring loops that merge in every operand are joined; loops of extent 1 are removed.
/// Every operand's value at a point stays the same; inner loops are walked in their new order.
DomainChange normalise(Domain& domain);

}  // namespace oriel::schedule
