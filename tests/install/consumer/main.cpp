// A program that uses only installed files of Oriel.
#include <oriel/oriel.hpp>

#include <cstdio>

int main() {
  const oriel::ShapeTracker tracker = oriel::ShapeTracker(oriel::Shape{2, 3}).permute({1, 0});
  const std::vector<std::int64_t> expected{0, 3, 1, 4, 2, 5};
  if (tracker.table() != expected || !tracker.single()) {
    std::printf("unexpected: %s\n", tracker.str().c_str());
    return 1;
  }
  std::printf("%s is %s\n", tracker.str().c_str(), tracker.index_expression().c_str());

  const auto x = oriel::Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  const auto y = oriel::sum(x.transpose() * 2 + 1, 1);
  if (oriel::explain(y).kernels.size() != 1 || y.to_vector<float>() != std::vector<float>{12, 16, 20}) {
    std::printf("unexpected sum\n");
    return 1;
  }
  return 0;
}
