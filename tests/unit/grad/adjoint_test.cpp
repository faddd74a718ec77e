// The adjoints of views: neither scatters nor buffers of zeros, and one kernel for each gradient.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::adjoint_test {
namespace {

Tensor between(const Shape& shape, std::uint64_t seed = 1) { return uniform(Key(seed), shape, -1, 1).realize(); }

/// One kernel that scatters nothing?
void check_one_kernel(const Tensor& gradient, const std::string& method = {}) {
  const Explanation e = explain(gradient);
  CHECK_MESSAGE(e.kernels.size() == 1, e.str());
  const std::string text = e.str();
  CHECK_MESSAGE(text.find("scatter") == std::string::npos, text);
  if (!method.empty() && !e.kernels.empty())
    CHECK_MESSAGE(e.kernels[0].method.find(method) != std::string::npos, e.kernels[0].method, "\n", text);
}

TEST_CASE("gradients of a convolution are one kernel each, and contractions") {
  const Tensor x = between({2, 8, 16, 16}), w = between({12, 8, 3, 3}, 2);
  for (const std::int64_t stride : {1, 2}) {
    const auto at = vjp([&](Tensor a, Tensor b) { return conv2d(a, b, {.stride = {stride}, .padding = {1}}); }, x, w);
    const Tensor g = between(at.value.shape(), 3);
    const auto [gx, gw] = at.pull(g);
    check_one_kernel(gx);
    check_one_kernel(gw, "packed along the depth");
    // The gradient of the input is the transposed convolution.
    const Tensor wanted = conv_transpose2d(g, w, {.stride = {stride}, .padding = {1}}, stride == 2 ? Ints{1} : Ints{0});
    CHECK(max(abs(gx - wanted)).item<float>() < 1e-4F);
  }
}

TEST_CASE("views give back what they show in one kernel") {
  const Tensor x = between({12, 10});
  const auto gradient = [&](auto f) {
    const auto at = vjp(f, x);
    return at.pull(between(at.value.shape(), 5));
  };
  check_one_kernel(gradient([](Tensor t) { return unfold(t, 1, 3, 1); }));
  check_one_kernel(gradient([](Tensor t) { return unfold(t, 1, 4, 2); }));
  check_one_kernel(gradient([](Tensor t) { return unfold(unfold(t, 0, 3, 1), 1, 2, 2); }));
  check_one_kernel(gradient([](Tensor t) { return diagonal(t); }));
  check_one_kernel(gradient([](Tensor t) { return roll(pad(t, {{1, 1}, {0, 2}}), 1, 0); }));
  check_one_kernel(gradient([](Tensor t) { return t.slice({{1, 11, 3}, {9, 2, -2}}); }));
  check_one_kernel(gradient([](Tensor t) { return concat({t, flip(t)}, 0); }));
  check_one_kernel(gradient([](Tensor t) { return avg_pool2d(t.reshape({1, 1, 12, 10}), {2}); }));
}

TEST_CASE("the number of terms depends on the overlap, not on the size") {
  const auto terms = [](std::int64_t n, std::int64_t size, std::int64_t step) {
    const Tensor x = between({n});
    const auto at = vjp([&](Tensor t) { return unfold(t, 0, size, step); }, x);
    const Explanation e = explain(at.pull(between(at.value.shape(), 5)));
    return e.kernels.at(0).domain_before;
  };
  // | (the terms of the sum); none where windows lie apart.
  CHECK(terms(101, 3, 2).find("(2)") != std::string::npos);
  CHECK(terms(1001, 3, 2).find("(2)") != std::string::npos);
  CHECK(terms(99, 3, 3).find('|') == std::string::npos);
  CHECK(terms(100, 3, 1).find("(3)") != std::string::npos);
  CHECK(terms(101, 5, 2).find("(3)") != std::string::npos);
  // Elements of a window that lie apart are as many terms as the window has.
  const Tensor x = between({1, 1, 1, 40}), w = between({1, 1, 1, 3});
  const auto at = vjp([&](Tensor t) { return conv2d(t, w, {.dilation = {1, 2}}); }, x);
  const Explanation e = explain(at.pull(between(at.value.shape(), 5)));
  CHECK_MESSAGE(e.kernels.at(0).domain_before.find(", 3)") != std::string::npos, e.kernels.at(0).domain_before);
}

}  // namespace
}  // namespace oriel::testing::adjoint_test
