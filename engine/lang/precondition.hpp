// Checks that an access from which no range was derived stays in bounds.
#pragma once

#include <unordered_map>

#include "lang/infer.hpp"
#include "lang/solve.hpp"

namespace oriel::lang {

/// The trees of a statement's conditionals. Each is built once, because many accesses may be below one conditional.
using GuardTrees = std::unordered_map<ExprId, IndexTree>;

/// The position of the index expression in the text.
Span index_span(const Program& program, const CheckedStatement& statement, const Condition& condition);

/// Sets the status of condition `k`. Precondition: all ranges are known. Throws ComprehensionError
/// (precondition_violated), which gives a point at which the access is out of bounds.
void check_precondition(const Program& program, const CheckedStatement& statement, std::span<const std::int64_t> sizes,
                        StatementRanges& ranges, std::size_t k, GuardTrees& guards, Budget& budget);

}  // namespace oriel::lang
