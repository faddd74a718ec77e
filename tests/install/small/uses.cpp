// Calls a function of each part that a static program has by use (engine/base/by_use.hpp), and looks at the numbers.
#include <oriel/oriel.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using oriel::Tensor;
using Floats = std::vector<float>;

int failures = 0;

void check(const char* what, const Tensor& x, const Floats& wanted) {
  if (x.to_vector<float>() == wanted) return;
  std::printf("%s is wrong\n", what);
  ++failures;
}

}  // namespace

int main() {
  const Tensor x = Tensor::of<float>({3, 1, 2});
  check("sort", oriel::sort(x), {1, 2, 3});
  check("cumsum", oriel::cumsum(x, 0), {3, 4, 6});
  check("max", oriel::max(x), {3});
  check("prod", oriel::prod(x), {6});
  check("exp", oriel::exp(x * 0), {1, 1, 1});
  check("segment_sum", oriel::segment_sum(x, Tensor::of<std::int64_t>({1, 0, 1}), 2), {1, 5});
  const auto twice = [](const oriel::HostCall& c) {
    for (int i = 0; i < 3; ++i) c.result.elements<float>()[i] = 2 * c.operands[0].elements<float>()[i];
  };
  check("host_call", oriel::host_call("twice", twice, {x}, {3}, oriel::DType::float32), {6, 2, 4});
  const Tensor many = oriel::ones({1000, 2, 2});
  check("matmul", oriel::max(oriel::matmul(many, many)), {2});
  oriel::profile::start();
  check("sum", oriel::sum(x + 1), {9});
  if (oriel::profile::take().kernels.empty() || oriel::explain(x * 3).kernels.size() != 1) {
    std::printf("nothing was reported\n");
    ++failures;
  }
  return failures;
}
