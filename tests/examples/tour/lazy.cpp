// Nothing runs until a result is asked for; then few kernels run.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const Tensor x = Tensor::generate({4, 5}, [](auto i) { return float(i[0] + i[1]); });
  const Tensor bias = Tensor::of<float>({1, 2, 3, 4, 5});

  // Shapes broadcast as in NumPy: (5) with (4, 5). So far y is only a graph.
  const Tensor y = exp(-(x - bias) * (x - bias)) + 1;
  std::cout << explain(y).kernels.size() << " kernel: " << explain(y).kernels[0].name << '\n';

  // Printing, to_vector, item, data and realize run it. A realised tensor holds its elements.
  std::cout << y << '\n';
  std::cout << explain(y).kernels.size() << " kernels\n";
}
