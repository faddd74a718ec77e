// Whether an access that solved nothing stays in bounds.
#pragma once

#include "lang/infer.hpp"

namespace oriel::lang {

/// Where the index expression stands in the text.
Span index_span(const Program& program, const CheckedStatement& statement, const Condition& condition);

/// Sets the status of condition `k`, with all ranges known. Throws ComprehensionError (precondition_violated) with a
/// point at which the access leaves its tensor.
void check_precondition(const Program& program, const CheckedStatement& statement, std::span<const std::int64_t> sizes,
                        StatementRanges& ranges, std::size_t k);

}  // namespace oriel::lang
