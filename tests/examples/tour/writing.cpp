// A write through a view changes all tensors that name the memory, but not results built before.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  Tensor x = zeros({4, 6});
  const Tensor before = x + 1;
  x.select(0, 1).assign(5);                                   // a row
  x.slice({{}, {.step = 3}}) += Tensor::of<float>({10, 20});  // columns 0 and 3
  diagonal(x) *= -1;
  std::cout << x << '\n';
  std::cout << sum(before).item<float>() << '\n';

  // borrow reads the program's own memory without a copy and never writes to it: a write goes to other memory.
  std::vector<float> mine{1, 2, 3, 4};
  Tensor borrowed = Tensor::borrow(mine, {2, 2});
  borrowed.select(1, 0).assign(0);
  std::cout << borrowed << ' ' << mine[0] << '\n';
}
