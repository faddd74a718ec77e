// Whether an access that solved nothing stays in bounds.
#pragma once

#include <unordered_map>

#include "lang/infer.hpp"
#include "lang/solve.hpp"

namespace oriel::lang {

/// The trees of a statement's conditionals, each made once: many accesses may stand below one of them.
using GuardTrees = std::unordered_map<ExprId, IndexTree>;

/// Where the index expression stands in the text.
Span index_span(const Program& program, const CheckedStatement& statement, const Condition& condition);

/// Sets the status of condition `k`, with all ranges known. Throws ComprehensionError (precondition_violated) with a
/// point at which the access leaves its tensor.
void check_precondition(const Program& program, const CheckedStatement& statement, std::span<const std::int64_t> sizes,
                        StatementRanges& ranges, std::size_t k, GuardTrees& guards, Budget& budget);

}  // namespace oriel::lang
