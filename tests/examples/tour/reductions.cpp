// Reductions, and what is computed from them in the same kernel.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {1, 1, 4}});
  std::cout << sum(x).item<float>() << ' ' << mean(x, 0) << ' ' << max(x, 1) << ' ' << argmax(x, 1) << '\n';

  // keepdim keeps the reduced axis with one element, so that the result broadcasts against x.
  const Tensor centred = x - mean(x, 1, /*keepdim=*/true);
  std::cout << centred << '\n';

  // Softmax by hand: two reductions and three elementwise operations are one kernel.
  const Tensor shifted = exp(x - max(x, 1, true));
  const Tensor weights = shifted / sum(shifted, 1, true);
  std::cout << explain(weights).kernels.size() << " kernel\n" << weights << '\n';
  std::cout << std::boolalpha << allclose(weights, softmax(x)) << '\n';
}
