// Choosing elements: masks, positions from data, sorting.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor x = Tensor::of<float>({3, -1, 4, -1, 5, -9});
  std::cout << where(x < 0, 0, x) << '\n';
  std::cout << take(x, argsort(x, 0, /*descending=*/true)) << '\n';

  // One row of a table for each index.
  const Tensor table = arange(8).reshape({4, 2});
  std::cout << take(table, Tensor::of<std::int64_t>({3, 0, 3})) << '\n';

  // A position outside is an error, unless you ask for the form that checks nothing and reads 0.
  std::cout << take(x, Tensor::of<std::int64_t>({1, 17}), 0, Bounds::zero) << '\n';
  try {
    (void)take(x, Tensor::of<std::int64_t>({1, 17}));
  } catch (const IndexError& error) {
    std::cout << error.message() << '\n';
  }
}
