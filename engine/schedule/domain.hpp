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
  std::int64_t weight = 1;  // bytes of an element: the heavier operand decides the order of the loops
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
///   1. refine: loops are split into the pieces under which an operand's stack is one view, or else its outermost views
///   are, wherever that leaves fewer views in all: another operand may stop being one;
///   2. permute: loops are ordered by the operands' strides, stores first, then the heavier loads; repeated operands do
///   not vote;
///   3. coalesce: neighbours that merge in every operand are joined; loops of extent 1 go.
/// Every operand's value at a point stays the same; inner loops are walked in their new order.
DomainChange normalise(Domain& domain);

}  // namespace oriel::schedule
