#include "oriel/explain.hpp"

#include "formula/call.hpp"
#include "runtime/explain.hpp"

namespace oriel {

Explanation explain(ListOf<Tensor> tensors) {
  const std::vector<graph::NodePtr> roots = detail::Access::nodes(tensors);
  return runtime::explain(roots);
}

Explanation explain(const Tensor& tensor) { return explain(std::span(&tensor, 1)); }

}  // namespace oriel
