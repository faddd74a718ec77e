// Finds statements that, because of range inference, may read less than intended.
#pragma once

#include <span>
#include <vector>

#include "lang/infer.hpp"

namespace oriel::lang {

/// The warnings of one statement. Precondition: all ranges are known, and none is empty.
/// partial_read considers all accesses to one dimension of an operand together, so that a stencil counts as reading its
/// operand whole. The dimension is read in part if these accesses leave out one of its ends, another access bounds an
/// index of the outermost of them, and without that bound the index would reach farther. A rest due to a stride that
/// does not divide the extent does not count, nor does an end that a where clause or `exists` has set.
/// narrowing_guard: an access below a conditional has set an end, and the conditional names the index and holds at
/// every point, so that it has no effect. There is one warning per index, and none if an operand is already reported as
/// read in part because of it.
std::vector<RangeWarning> range_warnings(IndexBuilder& builder, const Program& program,
                                         const CheckedStatement& statement, std::span<const sym::Expr> sizes,
                                         const StatementRanges& ranges);

}  // namespace oriel::lang
