#include "oriel/report.hpp"

#include "formula/call.hpp"
#include "inspect/collect.hpp"

namespace oriel {

void report(ListOf<Tensor> tensors, const std::string& path) {
  const std::vector<graph::NodePtr> roots = detail::Access::nodes(tensors);
  runtime::write_report(roots, path);
}

}  // namespace oriel
