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

  // A position outside gives 0, or an error if you ask for one.
  std::cout << take(x, Tensor::of<std::int64_t>({1, 17})) << '\n';
  try {
    (void)take(x, Tensor::of<std::int64_t>({1, 17}), 0, Bounds::checked);
  } catch (const IndexError& error) {
    std::cout << error.message() << '\n';
  }
}
