// Finds indices that have no range for any shapes.
#pragma once

#include <span>
#include <vector>

#include "lang/syntax/program.hpp"

namespace oriel::lang {

/// Throws ComprehensionError (unresolved_variable, unconstrained_output_index) if inference cannot find a range for an
/// index whatever the shapes: every index expression that names it reads a tensor, or has several such indices. Cases
/// that sizes may decide are left to inference.
void check_resolvable(const Program& program);

/// Throws for a left index that occurs in no access and no where clause.
[[noreturn]] void fail_unconstrained(const Program& program, const Variable& variable);
/// Throws for the variables of the statement that are not resolved; there is one at least. `notes`: why.
[[noreturn]] void fail_unresolved(const Program& program, const CheckedStatement& statement,
                                  std::span<const char> resolved, const std::vector<Note>& notes);

}  // namespace oriel::lang
