// Inference as its user sees it.
#pragma once

#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {

/// The access over the statement's loops as a view of its row-major operand: the stride of a loop is the sum of its
/// coefficients times the operand's strides, the offset is the place of what is read at all lower bounds. Nothing where
/// an index is not affine. Strides of loops of extent 1 are 0. Throws detail::ArithmeticOverflow.
std::optional<View> access_view(const Inference& inference, const CheckedStatement& statement,
                                const StatementRanges& ranges, std::size_t access, const Program& program);

/// Refuses what the options do not allow. Throws ComprehensionError.
void check_options(const Program& program, const ComprehensionOptions& options);
void check_options(const Program& program, const Inference& inference, const ComprehensionOptions& options);

ComprehensionRanges report(const Program& program, const Inference& inference);

}  // namespace oriel::lang
