// A captured function in a file: written by one program, run by another that lacks the callable.
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>

int main() {
  using namespace oriel;
  const auto f =
      oriel::function([](Tensor x, auto k) { return sum(x * k, 1); }, {.dynamic = Dynamic::yes, .names = {"x", "k"}});
  f(ones({4, 3}), 2.0F);  // traced for any two sizes
  f.save("rows.oriel");

  const auto g = load_function<Tensor(Tensor, float)>("rows.oriel");
  std::cout << g(ones({2, 5}), 0.5F) << '\n';
  try {
    g(ones({1, 5}), 0.5F);  // sizes 0 and 1 are traced apart, and there is nothing to trace
  } catch (const ArgumentError& error) {
    std::cout << error.message() << '\n';
  }
  try {
    load_function<Tensor(Tensor)>("rows.oriel");
  } catch (const ArgumentError& error) {
    std::cout << error.message() << '\n';
  }
  std::remove("rows.oriel");
}
