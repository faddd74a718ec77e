// Are the positions that a program holds in a tensor those of an axis?
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formula/call.hpp"
#include "oriel/settings.hpp"

namespace oriel::api {

/// The axis of a tensor that positions index.
struct IndexedAxis {
  SymInt extent;
  std::size_t axis;
  bool from_end = true;                      ///< -1 is the last one
  std::optional<std::int64_t> ignored = {};  ///< that may lie outside
  std::int64_t first = 0;                    ///< what messages call its first position
  std::string_view read = {};                ///< the text that messages name beside the operation
};

/// The least and the greatest integer that a node can hold, as far as its dtype and the operations of its expression
/// say. No element is read.
struct Reach {
  std::int64_t least, greatest;
};
Reach reach_of(const NodePtr& node);

/// Throws DTypeError unless positions can be of this dtype.
void check_integers(const Call& call, DType dtype);
/// Is every integer that a node can hold a position of the axis, as far as its dtype and the operations of its
/// expression say? Of symbolic sizes: for all of them. No element is read, and no size is fixed.
bool stays_inside(const NodePtr& index, const IndexedAxis& axis);
/// What remains to be checked when the work runs: `zero`, nothing, where `bounds` is, where `index` stays inside, and
/// where its elements are in memory, few, and good. Throws IndexError if one of these is none, or the axis has none.
/// Throws DTypeError unless `index` holds integers.
Bounds checked_now(const Call& call, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);

/// The same for work with a result of this shape. If it has no elements, it never runs, so nothing remains to be
/// checked: the positions are read at once, or by each call of the captured function that is being traced.
Bounds checked_for(const Call& call, const Shape& result, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);

/// A bool without axes that is true. Work that needs it finds the least and the greatest element of `index` first, and
/// ends with IndexError if one is no position: nothing is lost then. An export returns a status. `counts`: a bool of
/// the shape of `index`, an int64 then, that is true for those that have to be positions; null if all have to.
NodePtr position_check(const Call& call, NodePtr index, const IndexedAxis& axis, NodePtr counts = nullptr);
/// Makes a check that no work with elements needs: now, or in each call of the captured function that is being traced.
void check_apart(const Call& call, const NodePtr& check);
/// Do rules make a number of the node, whatever its conditions and positions are?
bool is_number(const NodePtr& node);
/// `value`, which waits for this check, also where it is a number.
NodePtr after_check(const Call& call, NodePtr value, const NodePtr& check);
/// `read`, which was read at these positions, or written there. If it is a number whatever they are, rules leave the
/// check out that its positions wait for: then it waits for one itself.
NodePtr checked_number(const Call& call, NodePtr read, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);
/// `condition`, a bool, with a position_check of `index` if `bounds` asks for it.
NodePtr and_checked(const Call& call, NodePtr condition, const NodePtr& index, const IndexedAxis& axis, Bounds bounds);

/// The function of a position_check that a file calls by this name; null if it is none.
graph::HostFunctionPtr position_check_function(std::string_view saved);

}  // namespace oriel::api
