// Index notation: loops are implicit, and their ranges are inferred.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  // A one-dimensional convolution. The range of i is inferred: i + k must lie in X for every k.
  const auto convolve = comprehension("def convolve(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i + k) * W(k) }");
  const Tensor x = Tensor::of<float>({1, 2, 4, 8, 16});
  const Tensor y = convolve(x, Tensor::of<float>({1, -1}));
  std::cout << y << '\n';
  const ComprehensionRanges ranges = convolve.ranges({{5}, {2}});
  for (const auto& variable : ranges.statements[0].variables)
    std::cout << variable.name << " in " << variable.lo << ':' << variable.hi << '\n';

  // Several statements. min=! reduces with min.
  const auto closest = comprehension(R"(def closest(float(N, D) A, float(M, D) B) -> (best) {
    distance(n, m) +=! (A(n, d) - B(m, d)) * (A(n, d) - B(m, d))
    best(n) min=! distance(n, m)
  })");
  std::cout << closest(Tensor::of<float>({{0, 0}, {3, 4}}), Tensor::of<float>({{0, 1}, {3, 3}})) << '\n';
}
