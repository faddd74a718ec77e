#include "oriel/report.hpp"

#include "formula/call.hpp"
#include "inspect/collect.hpp"

namespace oriel {

void report(std::span<const Tensor> tensors, const std::string& path) {
  std::vector<graph::NodePtr> roots;
  roots.reserve(tensors.size());
  for (const Tensor& t : tensors) roots.push_back(detail::Access::node(t));
  runtime::write_report(roots, path);
}

void report(std::initializer_list<Tensor> tensors, const std::string& path) {
  report(std::span<const Tensor>(tensors.begin(), tensors.size()), path);
}

}  // namespace oriel
