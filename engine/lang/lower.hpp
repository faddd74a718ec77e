// Lowers a checked definition with inferred ranges to graph nodes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/build.hpp"
#include "lang/builtins.hpp"
#include "lang/infer.hpp"
#include "oriel/settings.hpp"

namespace oriel::lang {

struct Lowered {
  std::vector<graph::NodePtr> results;  // in the order in which the definition lists them
};

class SizeValues;

/// The definition's results as nodes over the arguments' nodes. There is one argument per parameter, with the
/// parameter's dtype and shape. An affine access becomes one raw view of its operand over the statement's loops; if a
/// conditional keeps out-of-bounds values from being used, the operand is padded with zeros. Quotients and remainders
/// by constants become a second view below the first, if all sizes are numbers. All other indices become gathers, which
/// check those of their indices that inference could not prove as `bounds` says. `values` gives the inference's
/// formulas their values; null if all sizes are numbers.
Lowered lower(const Program& program, const Inference& inference, std::span<const graph::NodePtr> arguments,
              Device device, const graph::Origin& origin, Bounds bounds, SizeValues* values = nullptr);

/// The function of operands of one shape and one floating dtype. float16 is computed in float32.
graph::NodePtr call_builtin(Builtin function, std::span<const graph::NodePtr> x, const graph::Origin& origin);

/// The definition's results for arguments of which some have symbolic sizes, for all values that satisfy its
/// preconditions. These become guards at the statements' lines, or deferred checks if a size is unbacked. Returns
/// nullopt, and records nothing, if a range has no formula, or if a precondition does not hold for the hints: inference
/// with numbers may still accept these. Throws ComprehensionError if no sizes are accepted and there are no hints.
std::optional<Lowered> lower_symbolic(const Program& program, std::span<const graph::NodePtr> arguments, Device device,
                                      const graph::Origin& origin, bool zero_origin, Bounds bounds);

}  // namespace oriel::lang
