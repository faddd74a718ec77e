// A program that knows only what Oriel installs.
#include <oriel/view.hpp>

#include <cstdio>

int main() {
  const oriel::ShapeTracker tracker = oriel::ShapeTracker(oriel::Shape{2, 3}).permute({1, 0});
  const std::vector<std::int64_t> expected{0, 3, 1, 4, 2, 5};
  if (tracker.table() != expected || !tracker.single()) {
    std::printf("unexpected: %s\n", tracker.str().c_str());
    return 1;
  }
  std::printf("%s is %s\n", tracker.str().c_str(), tracker.index_expression().c_str());
  return 0;
}
