// Movements change the view, not the memory.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor x = arange(12).reshape({3, 4});
  std::cout << x << '\n';
  std::cout << x.transpose() << '\n';
  std::cout << x.slice({{.step = 2}, {.start = 1}}) << '\n';  // rows 0 and 2, columns from 1 on
  std::cout << pad(x.flip(0).shrink({{0, 2}, {0, 2}}), {{0, 0}, {1, 1}}) << '\n';

  // The same movements on the bare view: shape, strides, offset, and the mask that padding leaves.
  const ShapeTracker view(Shape{3, 4});
  std::cout << view.flip({0}).shrink({{0, 2}, {0, 2}}).pad({{0, 0}, {1, 1}}).str() << '\n';
}
