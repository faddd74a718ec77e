// Lowers a checked definition with inferred ranges to graph nodes.
#pragma once

#include <span>
#include <vector>

#include "graph/build.hpp"
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

}  // namespace oriel::lang
