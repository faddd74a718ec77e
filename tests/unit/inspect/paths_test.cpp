// The path of each kernel, and its estimated time.
#include <doctest/doctest.h>

#include <string>

#include "oriel/oriel.hpp"

namespace paths_test {

using namespace oriel;

namespace {

Tensor values(const Shape& shape, DType dtype = DType::float32) {
  // Data in memory: constants would not be factors.
  const std::vector<float> data(static_cast<std::size_t>(numel(shape).value()), 1.5F);
  return Tensor::from(data, shape).to(dtype).realize();
}

ExplainedKernel only(const Tensor& x) {
  const Explanation e = explain(x);
  REQUIRE(e.kernels.size() == 1);
  return e.kernels[0];
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("each kernel says which path it takes, in its text too") {
  const Tensor a = values({64, 96}), b = values({96, 80});
  CHECK(only(matmul(a, b)).path == "blocked products");
  CHECK(only(matmul(values({2, 256}), values({256, 256}))).path == "streamed products");
  CHECK(only(matmul(values({256, 512}), values({512}))).path == "dot products");
  CHECK(only(sum(unfold(values({4096}), 0, 8, 1) * values({8}), -1)).path == "windows");
  CHECK(only(a * 2 + 1).path == "elementwise tiles");
  CHECK(only(softmax(a)).path == "reductions tile by tile");
  const Tensor q = values({64, 16}), k = values({64, 16}), v = values({64, 16});
  CHECK(only(matmul(softmax(matmul(q, k.transpose())), v)).path ==
        "online softmax: blocked products, reductions tile by tile");
  const std::string text = explain(matmul(a, b)).str();
  CHECK(has(text, "\n  runs on blocked products\n  contraction: batch 1, 64 x 80 x 96"));
}

TEST_CASE("products that are rounded before they are summed miss the blocks") {
  const Tensor a = values({128, 1, 128}, DType::float16), b = values({1, 128, 128}, DType::float16);
  const ExplainedKernel k = only(sum(a * b, 2));
  CHECK(k.path == "reductions tile by tile");
  // The operands are arranged as matmul does it.
  const ExplainedKernel right = only(matmul(a.reshape({128, 128}), b.reshape({128, 128}).transpose()));
  CHECK(right.path == "blocked products");
  CHECK(right.estimated_nanoseconds < k.estimated_nanoseconds / 3);
}

TEST_CASE("many small matrices are multiplied side by side") {
  const Tensor a = values({100, 3, 3}), b = values({100, 3, 3});
  const ExplainedKernel k = only(matmul(a, b));
  CHECK(k.path == "small products side by side");
  CHECK(only(matmul(a, b) + 1).path == "small products side by side");
  // Fewer matrices than half of the lanes.
  CHECK(only(matmul(values({4, 3, 3}), values({4, 3, 3}))).path == "reductions tile by tile");
}

TEST_CASE("three factors become a product of matrices, in whichever order they were multiplied") {
  const Tensor a = values({128, 1, 128}), b = values({1, 128, 128}), c = values({128});
  for (const Tensor& x : {sum((a * b) * c, 2), sum(a * (b * c), 2)}) {
    const Explanation e = explain(x);
    REQUIRE(e.kernels.size() == 2);
    CHECK(e.kernels.back().path == "blocked products");
  }
}

TEST_CASE("estimates are the same in every run, and grow with the work") {
  const auto estimate = [](std::int64_t n) {
    return only(matmul(values({n, n}), values({n, n}))).estimated_nanoseconds;
  };
  CHECK(estimate(128) == estimate(128));
  CHECK(estimate(256) > 4 * estimate(128));
}

}  // namespace paths_test
