// Runs comprehensions on arguments whose sizes are symbols.
#pragma once

#include <optional>
#include <span>

#include "lang/lower.hpp"

namespace oriel::lang {

/// The definition's results for arguments of which some have symbolic sizes, for all values that satisfy its
/// preconditions. These become guards at the statements' lines, or deferred checks if a size is unbacked. Returns
/// nullopt, and records nothing, if a range has no formula, or if a precondition does not hold for the hints: inference
/// with numbers may still accept these. Throws ComprehensionError if no sizes are accepted and there are no hints.
std::optional<Lowered> lower_symbolic(const Program& program, std::span<const graph::NodePtr> arguments, Device device,
                                      const graph::Origin& origin, bool zero_origin, Bounds bounds);

}  // namespace oriel::lang
