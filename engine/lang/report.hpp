// What inference found, as the public types and as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

/// Precondition: all sizes are numbers.
ComprehensionRanges report(const Program& program, const Inference& inference);
/// A table for people, of numbers or of formulas.
std::string ranges_table(const Program& program, const Inference& inference,
                         std::span<const ComprehensionRanges::AccessView> views = {},
                         std::span<const ComprehensionWarning> diagnostics = {});

// What reports are made of.

std::string access_text(const Program& program, const CheckedStatement& statement, std::size_t access);
/// The name of the tensor that an access reads.
std::string_view operand(const Program& program, const CheckedStatement& statement, std::size_t access);
/// Does inference alone not keep it in bounds?
bool is_reported(const Condition& condition);
/// "guarded" or "data_dependent".
std::string_view name(AccessStatus status);

}  // namespace oriel::lang
