// Errors name the operation, what it was given, what it accepts, and the line of the call.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const auto says = [](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      std::cout << error.message() << '\n';
    }
  };
  const Tensor a = zeros({2, 3}), b = zeros({4, 5});
  says([&] { (void)(a + b); });
  says([&] { (void)matmul(a, b); });
  says([&] { (void)a.reshape({4}); });
  says([&] { a.item<float>(); });
  says([&] { (void)a.to_vector<double>(); });
  says([&] { comprehension("def f(float(N) X) -> (Y) { Y(i) = X(j) }"); });
  says([&] { (void)read_npy("missing.npy"); });
}
