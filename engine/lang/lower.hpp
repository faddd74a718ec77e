// Lowers a checked definition with inferred ranges to graph nodes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/build.hpp"
#include "lang/infer.hpp"

namespace oriel::lang {

/// A gather whose indices inference could not prove: where `bad` is true, `index` lies outside of [0, extent).
struct GatherCheck {
  graph::NodePtr index;  // int64, in the tensor's coordinates
  graph::NodePtr bad;    // bool, of the same shape
  std::string access;
  std::string tensor;
  std::size_t dimension = 0;
  SymInt lo;    // the first position of the dimension
  SymInt size;  // and how many it has
};

struct Lowered {
  std::vector<graph::NodePtr> results;  // in the order in which the definition lists them
  std::vector<GatherCheck> checks;
};

class SizeValues;

/// The definition's results as nodes over the arguments' nodes. There is one argument per parameter, with the
/// parameter's dtype and shape. An affine access becomes one raw view of its operand over the statement's loops; if a
/// conditional keeps out-of-bounds values from being used, the operand is padded with zeros. Quotients and remainders
/// by constants become a second view below the first, if all sizes are numbers. All other indices become gathers.
/// `values` gives the inference's formulas their values; null if all sizes are numbers.
Lowered lower(const Program& program, const Inference& inference, std::span<const graph::NodePtr> arguments,
              Device device, const graph::Origin& origin, SizeValues* values = nullptr);

}  // namespace oriel::lang
