// The texts of warnings.
#pragma once

#include <span>
#include <vector>

#include "lang/infer.hpp"
#include "lang/syntax/program.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {

/// The warnings that depend on the definition alone, in the order of its statements.
std::vector<ComprehensionWarning> warnings(const Program& program);
/// All warnings for some shapes, statement by statement. There are none about gathers that check their indices.
std::vector<ComprehensionWarning> warnings(const Program& program, const Inference& inference, Bounds bounds);

/// Passes the warnings to the sink, if there is one (set_comprehension_warning_sink).
void tell(const std::vector<ComprehensionWarning>& warnings);

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
