// Are the positions that a program holds in a tensor those of an axis?
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/call.hpp"
#include "oriel/settings.hpp"

namespace oriel::api {

/// The axis of a tensor that positions index.
struct IndexedAxis {
  SymInt extent;
  std::size_t axis;
  bool from_end = true;                      ///< -1 is the last one
  std::optional<std::int64_t> ignored = {};  ///< that may lie outside
};

/// The least and the greatest integer that a node can hold, as far as its dtype and the operations of its expression
/// say. No element is read.
struct Reach {
  std::int64_t least, greatest;
};
Reach reach_of(const NodePtr& node);

/// Throws DTypeError unless positions can be of this dtype.
void check_integers(const Call& call, DType dtype);
/// What remains to be checked when the work runs: `zero`, nothing, where `bounds` is, where every value that `index`
/// can have is a position, where its elements are in memory, few, and good, and where sizes are symbols: captured
/// functions that serve all sizes check no positions. Throws IndexError if one of these is
/// none. Throws DTypeError unless `index` holds integers.
Bounds checked_now(const Call& call, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);

/// A bool without axes that is true. Work that needs it finds the least and the greatest element of `index` first, and
/// ends with IndexError if one is no position: nothing is lost then. An export leaves it out.
NodePtr position_check(const Call& call, NodePtr index, const IndexedAxis& axis);
/// `condition`, a bool, with a position_check of `index` if `bounds` asks for it.
NodePtr and_checked(const Call& call, NodePtr condition, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);

/// The function of a position_check that a file calls by this name; null if it is none.
graph::HostFunctionPtr position_check_function(std::string_view saved);

}  // namespace oriel::api
