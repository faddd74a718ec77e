// softmax reads each row once: its three passes (maximum, sum, quotient) are stages of one kernel.
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

namespace {

std::vector<float> plain_softmax(std::vector<float> x, std::size_t columns) {
  for (std::size_t begin = 0; begin < x.size(); begin += columns) {
    const std::span<float> row(x.data() + begin, columns);
    const float most = *std::max_element(row.begin(), row.end());
    double total = 0;
    for (float& v : row) total += v = std::exp(v - most);
    for (float& v : row) v = static_cast<float>(v / total);
  }
  return x;
}

}  // namespace

int main() {
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kColumns = 1000;
  const oriel::Tensor x = oriel::Tensor::generate({kRows, kColumns}, [](std::span<const std::int64_t> i) {
    return static_cast<float>((i[0] * 37 + i[1] * 101) % 211) / 10.0F;
  });
  const oriel::Tensor y = exp(x - max(x, -1, true)) / sum(exp(x - max(x, -1, true)), -1, true);

  const oriel::Explanation plan = oriel::explain(y);
  std::cout << plan.str();
  if (plan.kernels.size() != 1) {
    std::cerr << "expected one kernel\n";
    return 1;
  }

  const std::vector<float> got = y.to_vector<float>();
  const std::vector<float> expected = plain_softmax(x.to_vector<float>(), kColumns);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(got[i] - expected[i]) <= 1e-5F * expected[i])) {
      std::cerr << "element " << i << " is " << got[i] << ", a plain loop gives " << expected[i] << '\n';
      return 1;
    }
  }
  std::cout << "equal to a plain loop, within 1e-5 of each element\n";
}
