// Where inference makes a statement read less than it may mean to.
#pragma once

#include <span>
#include <vector>

#include "lang/infer.hpp"

namespace oriel::lang {

/// With all ranges known. Of each operand and dimension, all accesses of the statement together: where they leave out
/// an end of it, an index in the outermost of them was bounded by another access, and without that one it would reach
/// farther, the operand is read in part (a stencil reads its operand whole, and a stride that does not divide is the
/// access' own). An end that a where clause or `exists` set was asked for. Where an end was set by an access below a
/// conditional that names the index and holds at every point, the conditional has no effect; one warning an index, and
/// none where an operand is read in part because of it.
std::vector<RangeWarning> range_warnings(const Program& program, const CheckedStatement& statement,
                                         std::span<const std::int64_t> sizes, const StatementRanges& ranges);

}  // namespace oriel::lang
