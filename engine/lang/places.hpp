// Positions that are known only when the work runs: where a statement reads or writes a tensor.
#pragma once

#include <vector>

#include "formula/call.hpp"
#include "lang/syntax/syntax.hpp"

namespace oriel::lang {

/// The positions of an access along each axis of its tensor, which count from 0, over the loops of the statement.
struct Places {
  std::vector<graph::NodePtr> coordinates;
  graph::NodePtr inside;  // bool; null if inference proved it of all
  std::vector<graph::NodePtr> checks;
};

/// `out`, which was read or written there. Where it is a number, rules leave out the conditions, so it waits itself.
graph::NodePtr after_checks(const api::Call& call, graph::NodePtr out, const std::vector<graph::NodePtr>& checks);

/// The reduction of an assignment that has one.
graph::Op reduction_of(Assignment assignment);

/// A tensor of `shape` with the values written at these positions. The value has the loops of the positions, or their
/// first ones, along which alone the positions differ then. What lies outside is left out. Values of equal positions
/// are combined as the assignment says, and with `old`, the tensor before, if it is not null. `=` keeps the last one in
/// the order of the loops. An element that is not written is that of `old`, else the reduction's identity, and 0 for
/// `=`.
graph::NodePtr write_at(const api::Call& call, Assignment assignment, const Places& at, graph::NodePtr value,
                        const Shape& shape, graph::NodePtr old);

}  // namespace oriel::lang
