// The public form of the results of inference.
#pragma once

#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::lang {

/// The access over the statement's loops as a view of its row-major operand. The stride of a loop is the sum of its
/// coefficients times the operand's strides. The offset is the position that is read when all loops are at their lower
/// bounds. Loops of extent 1 have stride 0. nullopt if an index is not affine. Throws detail::ArithmeticOverflow.
std::optional<View> access_view(const Inference& inference, const CheckedStatement& statement,
                                const StatementRanges& ranges, std::size_t access, const Program& program);

/// Throws ComprehensionError if the definition does what the options do not allow.
void check_options(const Program& program, const ComprehensionOptions& options);
void check_options(const Program& program, const Inference& inference, const ComprehensionOptions& options);

ComprehensionRanges report(const Program& program, const Inference& inference);

}  // namespace oriel::lang
