// Products of matrices, and convolutions written with views.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor a = arange(6).reshape({2, 3}).to(DType::float32);
  const Tensor b = arange(12).reshape({3, 4}).to(DType::float32);
  std::cout << matmul(a, b) << '\n';
  // The same sum of products from views: (2, 3, 1) times (1, 3, 4), summed over the 3. Oriel recognises it.
  std::cout << std::boolalpha << allclose(sum(a.unsqueeze(2) * b.unsqueeze(0), 1), matmul(a, b)) << '\n';

  // unfold gives overlapping windows without a copy; a convolution is a product with them.
  const Tensor signal = Tensor::of<float>({0, 0, 1, 2, 3, 3, 3});
  const Tensor kernel = Tensor::of<float>({-1, 0, 1});
  std::cout << unfold(signal, 0, 3, 1) << '\n';
  std::cout << sum(unfold(signal, 0, 3, 1) * kernel, 1) << '\n';
}
