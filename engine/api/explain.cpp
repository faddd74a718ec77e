#include "oriel/explain.hpp"

#include "formula/call.hpp"
#include "runtime/explain.hpp"

namespace oriel {

Explanation explain(ListOf<Tensor> tensors) {
  std::vector<graph::NodePtr> roots;
  roots.reserve(tensors.size());
  for (const Tensor& t : tensors) roots.push_back(detail::Access::node(t));
  return runtime::explain(roots);
}

Explanation explain(const Tensor& tensor) { return explain(std::span(&tensor, 1)); }

}  // namespace oriel
