#include "oriel/report.hpp"

#include "formula/call.hpp"
#include "inspect/collect.hpp"

namespace oriel {

void report(ListOf<Tensor> tensors, const std::string& path) {
  std::vector<graph::NodePtr> roots;
  roots.reserve(tensors.size());
  for (const Tensor& t : tensors) roots.push_back(detail::Access::node(t));
  runtime::write_report(roots, path);
}

}  // namespace oriel
