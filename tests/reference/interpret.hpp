// The oracle: a graph evaluated element by element, with explicit index arithmetic and no views.
#pragma once

#include <string>
#include <vector>

#include "graph/node.hpp"
#include "oriel/tensor.hpp"
#include "reference/number.hpp"

namespace oriel::reference {

/// What the elements of `root` should be, row-major. Reads the buffers of leaves and of realised nodes.
std::vector<Number> interpret(const graph::NodePtr& root);

/// The same for a tensor, which stays as it is.
std::vector<Number> interpret(const Tensor& tensor);

/// The elements that the engine gives, as numbers.
std::vector<Number> elements(const Tensor& tensor);

/// Empty where `got` is an allowed answer for `want`, else what differs first, with its position.
std::string difference(const Tensor& tensor, const std::vector<Number>& want, const std::vector<Number>& got);

}  // namespace oriel::reference
