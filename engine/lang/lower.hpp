// From a checked definition with its ranges to the graph.
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
  Interval range;
};

struct Lowered {
  std::vector<graph::NodePtr> results;  // as listed
  std::vector<GatherCheck> checks;
};

/// The definition's results as nodes over the arguments' nodes, one a parameter, whose dtypes and shapes are the
/// parameters'. Each affine access is one raw view of its operand over the statement's loops, with zeros around the
/// operand where a conditional keeps out-of-bounds values from being used; quotients and remainders by constants are a
/// second view below the first; all other indices are gathers.
Lowered lower(const Program& program, const Inference& inference, std::span<const graph::NodePtr> arguments,
              Device device, const graph::Origin& origin);

}  // namespace oriel::lang
