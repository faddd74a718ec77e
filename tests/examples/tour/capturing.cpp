// A captured function is traced and scheduled at its first call. Later calls run its kernels on new data.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  // The callable captures nothing. A float comes in as a tensor without axes, so that it may change.
  const auto f = oriel::function([](Tensor x, Tensor y, auto k) {
    const Tensor z = concat({x, y}, 0);
    return z.size(0) > 4 ? z * k : z + k;
  });
  const Tensor x = Tensor::of<float>({1, 2}), y = Tensor::of<float>({3, 4, 5});
  std::cout << f(x, y, 10.F) << '\n';      // traced
  std::cout << f(x + 1, y, 0.5F) << '\n';  // the same kernels
  std::cout << f(x, x, 10.F) << '\n';      // other sizes, and one storage twice: traced again

  // bind passes what a lambda would capture: tensors as inputs, floats as arguments, integers as guards.
  auto scaled = oriel::bind(f, y, 2.F);
  std::cout << scaled(x) << '\n';
  std::get<1>(scaled.bound()) = 3.F;
  std::cout << scaled(x) << '\n';
  std::cout << f.explain();
}
