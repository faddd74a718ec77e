// The least that a program does with tensors: what it links is what the profile small costs.
#include <oriel/oriel.hpp>

#include <cstdio>

int main() {
  const auto x = oriel::Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  const float total = oriel::sum(x.transpose() * 2 + 1).item<float>();
  std::printf("%g\n", static_cast<double>(total));
  return total == 48 ? 0 : 1;
}
