// The path of each kernel, the faster paths that it missed and why, and warnings about kernels that are far from their
// limits.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "backend/backend.hpp"
#include "backend/path.hpp"
#include "backend/tile_cost.hpp"
#include "oriel/oriel.hpp"
#include "support/planning.hpp"

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
  CHECK_FALSE(has(text, "not on"));
  CHECK_FALSE(has(text, "warning"));
}

TEST_CASE("products that are rounded before they are summed miss the blocks") {
  const Tensor a = values({128, 1, 128}, DType::float16), b = values({1, 128, 128}, DType::float16);
  const ExplainedKernel k = only(sum(a * b, 2));
  CHECK(k.path == "reductions tile by tile");
  REQUIRE(k.missed.size() == 1);
  CHECK(k.missed[0].path == "blocked products");
  CHECK(has(k.missed[0].text, "converted before they are summed"));
  CHECK(k.missed[0].factor > 3);
  CHECK(has(k.warning, "not on blocked products"));
  // The operands are arranged as matmul does it.
  const ExplainedKernel right = only(matmul(a.reshape({128, 128}), b.reshape({128, 128}).transpose()));
  CHECK(right.path == "blocked products");
  CHECK(right.missed.empty());
  CHECK(right.estimated_nanoseconds < k.estimated_nanoseconds / 3);
}

TEST_CASE("many small matrices are multiplied side by side") {
  const Tensor a = values({100, 3, 3}), b = values({100, 3, 3});
  const ExplainedKernel k = only(matmul(a, b));
  CHECK(k.path == "small products side by side");
  CHECK(k.missed.empty());
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
    CHECK(e.kernels.back().missed.empty());
  }
}

TEST_CASE("reductions that share a kernel lose their path, each is told once with its count") {
  // Two products in one loop program, which the scheduler would not make by itself.
  schedule::FusionLimits limits;
  limits.patterns = {.product_work = INT64_MAX, .vector_work = -1, .window_work = -1};
  const auto product = [] {
    const auto matrix = [](Shape shape) { return test::counting(shape); };
    const graph::NodePtr a = graph::expand(matrix({128, 1, 128}), {128, 128, 128});
    const graph::NodePtr b = graph::expand(matrix({1, 128, 128}), {128, 128, 128});
    return graph::reduce(graph::Op::Sum, graph::binary(graph::Op::Mul, a, b), {2});
  };
  const runtime::Plan plan = test::plan({graph::binary(graph::Op::Add, product(), product())}, limits);
  REQUIRE(plan.kernels.size() == 1);
  const codegen::LoopProgram& program = plan.kernels[0].lowered.program;
  const backend::PathReport report = backend::backend_for(Device::eigen()).paths(program);
  CHECK(report.path == backend::KernelPath::Reductions);
  REQUIRE(report.missed.size() == 1);
  CHECK(report.missed[0].times == 2);
  CHECK(report.missed[0].obstacle == backend::PathObstacle::SharedKernel);
  CHECK(report.missed[0].factor > 5);
  CHECK(report.over_limit() > backend::kFarFromLimit);
  CHECK(has(backend::text(report.missed[0]), "batch 1, 128 x 128 x 128, 2 alike"));
  CHECK(has(backend::warning(report), "it is not on blocked products"));
  // The path of the part as a kernel of its own is a product.
  const auto one = backend::alone(program, 0, 0);
  REQUIRE(one.has_value());
  CHECK(backend::backend_for(Device::eigen()).paths(*one).path == backend::KernelPath::Blocked);
}

TEST_CASE("a factor read element by element gets a warning") {
  const Tensor x = values({1, 16, 32, 32});
  const Tensor big = x.reshape({1, 16, 32, 1, 32, 1}).expand({1, 16, 32, 2, 32, 2}).reshape({1, 16, 64, 64});
  const Tensor windows = unfold(unfold(pad(big, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 2, 3, 1), 3, 3, 1);
  const ExplainedKernel k = only(sum(windows.unsqueeze(1) * values({1, 16, 16, 1, 1, 3, 3}), {2, 5, 6}));
  CHECK(k.path == "blocked products");
  CHECK(has(k.warning, "it reads in0 through up to 3 views, element by element"));
  CHECK(k.limit_nanoseconds < k.estimated_nanoseconds / 4);
}

TEST_CASE("estimates are the same in every run, and grow with the work") {
  const auto estimate = [](std::int64_t n) {
    return only(matmul(values({n, n}), values({n, n}))).estimated_nanoseconds;
  };
  CHECK(estimate(128) == estimate(128));
  CHECK(estimate(256) > 4 * estimate(128));
}

}  // namespace paths_test
