// Products in blocks and reductions over windows keep kernels of their own, and the reason of each cut says so.
#include "schedule/reduction_patterns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "codegen/contraction.hpp"
#include "codegen/windows.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "support/planning.hpp"

namespace reduction_patterns_test {

using namespace oriel;
using namespace oriel::test;

namespace {

runtime::Plan plan_of(const std::vector<Tensor>& roots, const schedule::FusionLimits& limits = {}) {
  std::vector<graph::NodePtr> nodes;
  for (const Tensor& t : roots) nodes.push_back(detail::Access::node(t));
  return plan(nodes, limits);
}

/// The form of each kernel in running order: "product", "windows" or "loops".
std::string forms(const runtime::Plan& p) {
  std::string text;
  for (const runtime::PlannedKernel& k : p.kernels) {
    const bool windows = codegen::windows_in(k.lowered.program.form) != nullptr;
    const codegen::Contraction* product = codegen::contraction_in(k.lowered.program.form);
    const bool blocks = product != nullptr && (!windows || std::min(product->rows, product->columns) > 4);
    text += (text.empty() ? "" : ", ") + std::string(blocks ? "product" : windows ? "windows" : "loops");
  }
  return text;
}
std::string forms(const std::vector<Tensor>& roots) { return forms(plan_of(roots)); }

bool says(const std::vector<Tensor>& roots, const std::string& what) {
  for (const std::string& r : reasons(plan_of(roots)))
    if (r.find(what) != std::string::npos) return true;
  return false;
}

Tensor gelu(const Tensor& x) { return x * 0.5 * (1.0 + erf(x * 0.70710678)); }
Tensor silu(const Tensor& x) { return x * sigmoid(x); }

/// A convolution of x (n, c, h, w) with weights (o, c, k, k) and a margin of k / 2.
Tensor convolution(const Tensor& x, std::int64_t out, std::int64_t k) {
  const SymInt n = x.shape()[0], c = x.shape()[1];
  const Tensor padded = k == 1 ? x : pad(x, Ranges{{0, 0}, {0, 0}, {k / 2, k / 2}, {k / 2, k / 2}});
  const Tensor slid = unfold(unfold(padded, 2, k, 1), 3, k, 1);
  return sum(
      slid.reshape({n, 1, c, x.shape()[2], x.shape()[3], k, k}) * leaf({out, c, k, k}).reshape({1, out, c, 1, 1, k, k}),
      {2, 5, 6});
}

Tensor slid(const Tensor& x, std::int64_t k, std::int64_t step) { return unfold(unfold(x, 1, k, step), 2, k, step); }

}  // namespace

TEST_CASE("sums of products are products in blocks, each of which adds what was stored before it") {
  const Tensor a = leaf({32, 16}), b = leaf({16, 32}), c = leaf({32, 24}), d = leaf({24, 32}), bias = leaf({32});
  const Tensor two = matmul(a, b) + matmul(c, d);
  CHECK(forms({two}) == "product, product");
  CHECK(says({two}, "a product in blocks (32 x 32 x 16) of its own: its kernel has another reduction"));
  CHECK(forms({relu(two + matmul(a, leaf({16, 32})) + bias)}) == "product, product, product");
  CHECK(forms({matmul(a, b) * sigmoid(matmul(c, d))}) == "product, product");
}

TEST_CASE("products that are too small for blocks share a kernel") {
  const Tensor a = leaf({8, 8}), b = leaf({8, 8});
  CHECK(plan_of({matmul(a, b) + matmul(b, a)}).kernels.size() == 1);
  CHECK(plan_of({matmul(a, b), matmul(b, a)}).kernels.size() == 1);
  // The sizes count for one batch.
  const Tensor many = leaf({100, 8, 8});
  CHECK(plan_of({matmul(many, b) * 2.0 + matmul(many, many)}).kernels.size() == 2);  // 800 x 8 x 8, and 8 x 8 x 8
  CHECK(plan_of({matmul(many, many) + matmul(many, many.transpose())}).kernels.size() == 1);
  schedule::FusionLimits limits;
  limits.patterns.product_work = 1 << 20;
  const Tensor large = leaf({32, 32});
  CHECK(plan_of({matmul(large, large) + matmul(large, large.transpose())}, limits).kernels.size() == 1);
  CHECK(plan_of({matmul(large, large) + matmul(large, large.transpose())}).kernels.size() == 2);
}

TEST_CASE("products that are asked for together run each by itself; results of one product share its kernel") {
  const Tensor a = leaf({32, 32}), b = leaf({32, 32});
  CHECK(forms({matmul(a, b), matmul(b, a)}) == "product, product");
  CHECK(forms({relu(matmul(a, b)), exp(matmul(b, a)), matmul(a, a)}) == "product, product, product");
  const Tensor h = matmul(a, b);
  CHECK(forms({h * 2.0, h + 1.0}) == "product");
  CHECK(forms({h, relu(h)}) == "product");
  CHECK(forms({h, relu(h) + matmul(b, a)}) == "product, product");
}

TEST_CASE("a plain reduction beside a product has a kernel of its own") {
  const Tensor a = leaf({32, 32}), x = leaf({32, 32, 6});
  for (const Tensor& y : {matmul(a, a) + max(x, {2}), max(x, {2}) + matmul(a, a)}) {
    const std::string text = forms({y});
    CHECK((text == "loops, product" || text == "product, loops"));
  }
  CHECK(says({matmul(a, a) + max(x, {2})}, "of its own: its kernel has another reduction"));
  CHECK(says({max(x, {2}) + matmul(a, a)}, "a reduction beside a product in blocks (32 x 32 x 32)"));
}

TEST_CASE("a product is not run for padding, nor its results computed for each point of an expand") {
  const Tensor a = leaf({32, 32}), b = leaf({32, 32});
  CHECK(forms({pad(matmul(a, b), Ranges{{0, 0}, {0, 32}}) + 1.0}) == "product, loops");
  CHECK(says({pad(matmul(a, b), Ranges{{0, 0}, {0, 32}}) + 1.0}, "would run for 2048 results, padding included"));
  CHECK(forms({concat({matmul(a, b), matmul(b, a)}, 1)}) == "product, product, loops");
  const Tensor wide = gelu(matmul(a, b)).reshape({32, 1, 32}) * leaf({1, 8, 1});
  CHECK(forms({wide}) == "product, loops");
  CHECK(says({wide}, "made of a product in blocks (32 x 32 x 32)"));
  CHECK(forms({matmul(a, b).reshape({32, 1, 32}) * leaf({1, 8, 1})}) == "product, loops");
  CHECK(says({matmul(a, b).reshape({32, 1, 32}) * leaf({1, 8, 1})}, "loops 8 times over each result"));
  // A plain reduction is not computed for padding either, unless there is little padding.
  const Tensor rows = leaf({200, 40});
  CHECK(plan_of({concat({sum(rows, {1}), max(rows, {1})}, 0)}).kernels.size() == 2);  // both, and the copies of them
  CHECK(
      says({concat({sum(rows, {1}), max(rows, {1})}, 0)}, "would run for 400 results, padding included, to give 200"));
  CHECK(plan_of({pad(sum(rows, {1}), Ranges{{1, 1}})}).kernels.size() == 1);
}

TEST_CASE("a product with a vector shares a kernel with a plain reduction of its matrix, never with another product") {
  const Tensor a = leaf({128, 128}), b = leaf({128, 128}), v = leaf({128});
  CHECK(plan_of({sum(a * v, {1}) / sum(a, {1})}).kernels.size() == 1);
  CHECK(forms({matmul(a, v) + matmul(b, v)}) == "product, product");
  CHECK(says({matmul(a, v) + matmul(b, v)}, "a product with a vector"));
  CHECK(plan_of({a * matmul(a, v.reshape({128, 1}))}).kernels.size() == 1);
  const Tensor powers = exp(a - max(a, {1}, true));
  CHECK(plan_of({powers / sum(powers * v, {1}, true)}).kernels.size() == 1);
  CHECK(plan_of({sum(a * 2.0, {1}) + max(b, {1})}).kernels.size() == 1);  // a sum of scaled elements
  CHECK(plan_of({matmul(a, v.reshape({128, 1})) * v.reshape({1, 128})}).kernels.size() == 2);
  // As loops they would read the matrix only once, but take 1.1 to 3.4 times as long as both in their own forms.
  const Tensor w = leaf({128});
  CHECK(forms({matmul(a, v), matmul(a, w)}) == "product, product");
  CHECK(forms({matmul(v, a), matmul(w, a)}) == "product, product");
  CHECK(forms({matmul(a, v) + matmul(a, w)}) == "product, product");
}

TEST_CASE("a short reduction is no stage of a kernel with long rows, which takes them one by one") {
  const Tensor x = leaf({128, 784}), few = leaf({128, 8});
  CHECK(plan_of({x * sum(few, 1, true)}).kernels.size() == 2);
  CHECK(says({x * sum(few, 1, true)},
             "a reduction of 8 points each: its kernel's rows of 784 points are taken one by one"));
  CHECK(plan_of({x.shrink({{0, 128}, {0, 64}}) * sum(few, 1, true)}).kernels.size() == 1);
  CHECK(plan_of({x.shrink({{0, 16}, {0, 784}}) * sum(few.shrink({{0, 16}, {0, 8}}), 1, true)}).kernels.size() == 1);
  CHECK(plan_of({x * sum(x, 1, true)}).kernels.size() == 1);
  CHECK(plan_of({x * sum(x.shrink({{0, 128}, {0, 8}}), 1, true)}).kernels.size() == 1);
}

TEST_CASE("reductions over windows run each by itself") {
  const Tensor x = leaf({4, 24, 24});
  CHECK(forms({max(slid(x, 3, 1), {3, 4}) + sum(slid(x, 3, 1), {3, 4})}) == "windows, windows");
  CHECK(says({max(slid(x, 3, 1), {3, 4}) + sum(slid(x, 3, 1), {3, 4})},
             "a reduction over windows (1936 of 9) of its own"));
  CHECK(forms({max(slid(x, 3, 1), {3, 4}), sum(slid(x, 3, 1), {3, 4})}) == "windows, windows");
  const Tensor box = sum(slid(x, 3, 1), {3, 4});
  CHECK(forms({sum(slid(x * x, 3, 1), {3, 4}) - box * box}) == "windows, windows");
  const Tensor large = leaf({4, 96, 96});
  CHECK(forms({max(slid(large, 2, 2), {3, 4}) + sum(slid(large, 2, 2), {3, 4})}) == "windows, windows");
  // A few windows are read quickly. Short rows side by side do not count as windows.
  CHECK(plan_of({max(slid(leaf({1, 8, 8}), 3, 1), {3, 4}) + sum(slid(leaf({1, 8, 8}), 3, 1), {3, 4})}).kernels.size() <=
        2);
  CHECK(plan_of({max(slid(leaf({8, 8}).reshape({1, 8, 8}), 3, 1), {3, 4}), sum(slid(leaf({1, 8, 8}), 3, 1), {3, 4})})
            .kernels.size() == 1);
  CHECK(plan_of({softmax(leaf({4096, 4}), {1})}).kernels.size() == 1);
}

TEST_CASE("layers as they are written: every product in blocks") {
  const Tensor x = leaf({64, 32}), h = leaf({64, 32}), c = leaf({64, 32});
  const auto w = [] { return leaf({32, 32}); };
  const std::string p = "product";
  // A gated feed-forward layer.
  CHECK(forms({matmul(silu(matmul(x, leaf({32, 64}))) * matmul(x, leaf({32, 64})), leaf({64, 32}))}) ==
        p + ", " + p + ", " + p);
  // LSTM: two products, then the gates.
  const Tensor z = matmul(x, leaf({32, 128})) + matmul(h, leaf({32, 128})) + leaf({128});
  const auto gate = [&](std::int64_t k) { return z.slice({{}, {.start = k * 32, .stop = k * 32 + 32}}); };
  const Tensor cell = sigmoid(gate(1)) * c + sigmoid(gate(0)) * tanh(gate(2));
  CHECK(forms({sigmoid(gate(3)) * tanh(cell), cell}) == p + ", " + p + ", loops");
  // GRU: six products; the last one computes the result.
  const Tensor r = sigmoid(matmul(x, w()) + matmul(h, w())), u = sigmoid(matmul(x, w()) + matmul(h, w()));
  const Tensor n = tanh(matmul(x, w()) + r * matmul(h, w()));
  CHECK(forms({(1.0 - u) * n + u * h}) == p + ", " + p + ", " + p + ", " + p + ", " + p + ", " + p);
}

TEST_CASE("blocks of layers: convolutions, experts, an encoder") {
  const std::string p = "product";
  const Tensor image = leaf({1, 8, 16, 16}), bias = leaf({1, 8, 1, 1});
  CHECK(forms({relu(convolution(image, 8, 3) + convolution(image, 8, 1))}) == p + ", " + p);
  const Tensor narrow = relu(convolution(relu(convolution(image, 8, 1) + bias), 8, 3) + bias);
  CHECK(forms({relu(convolution(narrow, 16, 1) + convolution(image, 16, 1))}) == p + ", " + p + ", " + p + ", " + p);
  // A function before a convolution is not computed nine times, once for each tap.
  CHECK(forms({convolution(gelu(image), 8, 3)}) == "loops, " + p);
  const Tensor x = leaf({64, 32}), weights = softmax(matmul(x, leaf({32, 2})), {1});
  const auto expert = [&] { return matmul(relu(matmul(x, leaf({32, 64}))), leaf({64, 32})); };
  const auto part = [&](std::int64_t k) { return weights.slice({{}, {.start = k, .stop = k + 1}}); };
  const runtime::Plan mixture = plan_of({part(0) * expert() + part(1) * expert()});
  int products = 0;
  for (const runtime::PlannedKernel& k : mixture.kernels)
    products += codegen::contraction_in(k.lowered.program.form) != nullptr ? 1 : 0;
  CHECK(products == 5);
  CHECK(mixture.kernels.size() == 6);
  // An encoder block: four projections, two products of attention, and two of the feed-forward layer.
  const std::int64_t batch = 2, length = 32, width = 32, heads = 2, size = width / heads;
  const Tensor s = leaf({batch, length, width});
  const auto split = [&](const Tensor& t) { return t.reshape({batch, length, heads, size}).permute({0, 2, 1, 3}); };
  const auto square = [&] { return leaf({width, width}); };
  const auto norm = [&](const Tensor& t) { return layer_norm(t, {-1}) * leaf({width}) + leaf({width}); };
  const Tensor q = split(matmul(s, square())), k = split(matmul(s, square())), v = split(matmul(s, square()));
  const Tensor weighted = matmul(softmax(matmul(q, k.transpose()) * 0.25, {-1}), v);
  const Tensor attended = matmul(weighted.permute({0, 2, 1, 3}).reshape({batch, length, width}), square());
  const Tensor y = norm(s + attended);
  const Tensor out = norm(y + matmul(gelu(matmul(y, leaf({width, 64})) + leaf({64})), leaf({64, width})));
  products = 0;
  for (const runtime::PlannedKernel& kernel : plan_of({out}).kernels)
    products += codegen::contraction_in(kernel.lowered.program.form) != nullptr ? 1 : 0;
  CHECK(products == 8);
}

TEST_CASE("a value that costs much is not computed again for each point of a small expand") {
  CHECK(plan_of({exp(leaf({20000, 1})) + leaf({20000, 8})}).kernels.size() == 2);
  CHECK(says({exp(leaf({20000, 1})) + leaf({20000, 8})}, "that would repeat 56 operations an element (limit 32)"));
  CHECK(plan_of({exp(leaf({20, 1})) + leaf({20, 8})}).kernels.size() == 1);
  CHECK(plan_of({-leaf({20000, 1}) + leaf({20000, 8})}).kernels.size() == 1);
  // Windows compute each element once, however many taps read it.
  CHECK(forms({sum(slid(exp(leaf({4, 96, 96})), 3, 1), {3, 4})}) == "windows");
}

TEST_CASE("forms are found under movements, conversions and functions, and nowhere else") {
  const Tensor a = leaf({32, 16}), b = leaf({16, 32});
  const Tensor flipped = a.flip(0).transpose().flip(1).transpose();
  CHECK(forms({matmul(flipped, pad(leaf({8, 32}), Ranges{{4, 4}, {0, 0}})) + matmul(a, b)}) == "product, product");
  CHECK(forms({matmul(exp(a), b) + matmul(a, b)}) == "loops, product, product");
  const Tensor half = detail::Access::tensor(counting({32, 32}, DType::float16));
  CHECK(forms({matmul(half, half.transpose()) + matmul(half, half)}) == "product, product");
  const Tensor whole = detail::Access::tensor(counting({32, 32}, DType::int32));
  CHECK(forms({matmul(whole, whole.transpose()) + matmul(whole, whole)}) == "product, product");
  // Neither a sum of squares nor a sum of differences is a product of matrices.
  const Tensor x = leaf({64, 64});
  CHECK(plan_of({sum(x * x, {1}) + sum(x, {1})}).kernels.size() == 1);
  const Tensor difference = a.reshape({32, 1, 16}) - b.transpose().reshape({1, 32, 16});
  CHECK(plan_of({sum(difference * difference, {2}) + max(difference, {2})}).kernels.size() == 1);
}

// What lets find_product leave out the search for what factors read.
TEST_CASE("distinct values read an element of their own at each point") {
  const Tensor x = leaf({8, 8}), row = leaf({8});
  const auto distinct = [](const Tensor& t) {
    const Tensor y = t + 1.5F;  // the arena refers to its nodes
    const runtime::Plan p = plan_of({y});
    const std::vector<schedule::ValueProperties> properties = schedule::find_properties(*p.arena);
    return properties[static_cast<std::size_t>((*p.arena)[p.arena->root(0)].source[0])].distinct;
  };
  CHECK(distinct(exp(x)));
  CHECK(distinct(exp(x.transpose().flip(0))));
  CHECK(distinct(exp(x.reshape({4, 16}))));
  CHECK(distinct(x * row));
  CHECK(distinct(exp(sum(x, 1))));
  CHECK(distinct(exp(iota({8}).to(DType::float32))));
  CHECK(!distinct(exp(row.expand({8, 8}))));
  CHECK(!distinct(exp(x.shrink({{0, 4}, {0, 8}}))));
  CHECK(!distinct(exp(pad(x, {{1, 1}, {0, 0}}))));
  CHECK(!distinct(exp(as_strided(x, View::make({6, 3}, {1, 1})))));
}

TEST_CASE("sums of factors that are distinct together are no products") {
  const Tensor x = leaf({64, 64}), y = leaf({64, 64});
  CHECK(forms({sum(exp(x) * y, 1)}) == "loops");
  CHECK(forms({sum((exp(x) * y).transpose(), 1)}) == "loops");
  CHECK(forms({sum(x.reshape({64, 1, 64}).expand({64, 64, 64}) * y.reshape({1, 64, 64}).expand({64, 64, 64}), 2)}) ==
        "product");
}

}  // namespace reduction_patterns_test
