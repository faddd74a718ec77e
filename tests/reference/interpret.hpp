// The oracle: evaluates a graph element by element, with explicit index arithmetic and without views.
#pragma once

#include <string>
#include <vector>

#include "graph/node.hpp"
#include "oriel/tensor.hpp"
#include "reference/number.hpp"

namespace oriel::reference {

/// The expected elements of `root`, row-major. Reads the buffers of leaves and of realised nodes.
std::vector<Number> interpret(const graph::NodePtr& root);

/// The same for a tensor. Does not realise it.
std::vector<Number> interpret(const Tensor& tensor);

/// The elements that the engine computes, as numbers.
std::vector<Number> elements(const Tensor& tensor);

/// Empty if `got` is an acceptable result for `want`, else a text with the first difference and its position.
std::string difference(const Tensor& tensor, const std::vector<Number>& want, const std::vector<Number>& got);

}  // namespace oriel::reference
