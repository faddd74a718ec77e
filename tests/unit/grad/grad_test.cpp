// The derivative of each function beside central differences, in float64.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "oriel/oriel.hpp"

namespace oriel::testing::grad_test {
namespace {

Tensor between(const Shape& shape, double low, double high, std::uint64_t seed = 1) {
  return uniform(Key(seed), shape, low, high, DType::float64).realize();
}

using F = std::function<Tensor(const Tensor&)>;
using Cases = std::map<std::string, F>;

void check(const Cases& cases, const Tensor& x) {
  for (const auto& [name, f] : cases) {
    const GradientCheck found = check_gradient(f, x);
    CHECK_MESSAGE(found.ok, name, ": ", found.str());
  }
}

/// Second derivatives: the gradient of a sum of squares of the function is compared.
void check_twice(const Cases& cases, const Tensor& x) {
  for (const auto& [name, f] : cases) {
    const auto loss = [&f = f](const Tensor& y) { return sum(square(f(y))); };
    const GradientCheck found = check_gradient(grad(loss), x);
    CHECK_MESSAGE(found.ok, name, ": ", found.str());
  }
}

const Cases kUnary = {
    {"neg", [](const Tensor& x) { return -x; }},
    {"abs", [](const Tensor& x) { return abs(x); }},
    {"exp", [](const Tensor& x) { return exp(x); }},
    {"exp2", [](const Tensor& x) { return exp2(x); }},
    {"expm1", [](const Tensor& x) { return expm1(x); }},
    {"sin", [](const Tensor& x) { return sin(x); }},
    {"cos", [](const Tensor& x) { return cos(x); }},
    {"tan", [](const Tensor& x) { return tan(x); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"erf", [](const Tensor& x) { return erf(x); }},
    {"erfc", [](const Tensor& x) { return erfc(x); }},
    {"asin", [](const Tensor& x) { return asin(x); }},
    {"acos", [](const Tensor& x) { return acos(x); }},
    {"atan", [](const Tensor& x) { return atan(x); }},
    {"sinh", [](const Tensor& x) { return sinh(x); }},
    {"cosh", [](const Tensor& x) { return cosh(x); }},
    {"asinh", [](const Tensor& x) { return asinh(x); }},
    {"atanh", [](const Tensor& x) { return atanh(x); }},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"silu", [](const Tensor& x) { return silu(x); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }},
    {"mish", [](const Tensor& x) { return mish(x); }},
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.1); }},
    {"clamp", [](const Tensor& x) { return clamp(x, -0.5, 0.5); }},
    {"sinc", [](const Tensor& x) { return sinc(x); }},
    {"square", [](const Tensor& x) { return square(x); }},
    {"remainder", [](const Tensor& x) { return remainder(x, 0.37); }},
    {"fmod", [](const Tensor& x) { return fmod(x, 0.37); }},
    {"copysign", [](const Tensor& x) { return copysign(x, -x); }},
    {"where", [](const Tensor& x) { return where(x > 0.1, x * 2, exp(x)); }},
    {"maximum", [](const Tensor& x) { return maximum(x, 0.1 - x); }},
    {"minimum", [](const Tensor& x) { return minimum(x, x * x); }},
};
const Cases kPositive = {
    {"log", [](const Tensor& x) { return log(x); }},
    {"log2", [](const Tensor& x) { return log2(x); }},
    {"log10", [](const Tensor& x) { return log10(x); }},
    {"log1p", [](const Tensor& x) { return log1p(x); }},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }},
    {"rsqrt", [](const Tensor& x) { return rsqrt(x); }},
    {"reciprocal", [](const Tensor& x) { return reciprocal(x); }},
    {"acosh", [](const Tensor& x) { return acosh(x + 1); }},
    {"pow", [](const Tensor& x) { return pow(x, x * 2); }},
    {"pow number", [](const Tensor& x) { return pow(x, 2.5); }},
    {"number pow", [](const Tensor& x) { return pow(2.5, x); }},
    {"div", [](const Tensor& x) { return 1.5 / x + x / (x + 1); }},
    {"atan2", [](const Tensor& x) { return atan2(x, x * x + 1); }},
    {"hypot", [](const Tensor& x) { return hypot(x, 2 - x); }},
    {"lgamma", [](const Tensor& x) { return lgamma(x + 1); }},
    {"xlogy", [](const Tensor& x) { return xlogy(x, x + 1); }},
    {"logit", [](const Tensor& x) { return logit(x * 0.4); }},
};
const Cases kMovements = {
    {"reshape",
     [](const Tensor& x) {
       return x.reshape({2, 6}) * 3;
     }},
    {"transpose", [](const Tensor& x) { return x.transpose(0, 1) * 2; }},
    {"expand",
     [](const Tensor& x) {
       return x.unsqueeze(1).expand({3, 5, 4});
     }},
    {"slice",
     [](const Tensor& x) {
       return x.slice({{0, 3, 2}, {1, 4}});
     }},
    {"negative slice",
     [](const Tensor& x) {
       return x.slice({{}, {3, 0, -2}});
     }},
    {"flip", [](const Tensor& x) { return flip(x, Axes(1)); }},
    {"pad",
     [](const Tensor& x) {
       return pad(x, {{1, 2}, {0, 1}});
     }},
    {"unfold", [](const Tensor& x) { return unfold(x, 1, 2, 1); }},
    {"unfold of one axis", [](const Tensor& x) { return unfold(x.reshape({12}), 0, 5, 2); }},
    {"unfold apart", [](const Tensor& x) { return unfold(x.reshape({12}), 0, 3, 3); }},
    {"diagonal", [](const Tensor& x) { return diagonal(x, 1); }},
    {"roll", [](const Tensor& x) { return roll(x, 1, 1); }},
    {"concat",
     [](const Tensor& x) {
       return concat({x, x * 2}, 1);
     }},
    {"tril", [](const Tensor& x) { return tril(x); }},
    {"trace", [](const Tensor& x) { return trace(x); }},
    {"repeat",
     [](const Tensor& x) {
       return tile(x, {2, 3});
     }},
    {"take",
     [](const Tensor& x) {
       return take(x, Tensor::of<int>({2, 0, 2}), 0);
     }},
    {"take of work",
     [](const Tensor& x) {
       return take(x * x, Tensor::of<int>({2, 0, 2, 3}), 1);
     }},
    {"masked_fill", [](const Tensor& x) { return masked_fill(x * x, x < 0, 0.5); }},
};
const Cases kReductions = {
    {"sum", [](const Tensor& x) { return sum(x, 0); }},
    {"mean", [](const Tensor& x) { return mean(x, 1); }},
    {"prod", [](const Tensor& x) { return prod(x, 1); }},
    {"prod of all", [](const Tensor& x) { return prod(x); }},
    {"max", [](const Tensor& x) { return max(x, 1); }},
    {"min", [](const Tensor& x) { return min(x); }},
    {"var", [](const Tensor& x) { return var(x, 1); }},
    {"norm", [](const Tensor& x) { return norm(x); }},
    {"norm of p", [](const Tensor& x) { return norm(x, 3, 1); }},
    {"logsumexp", [](const Tensor& x) { return logsumexp(x, 1); }},
    {"softmax", [](const Tensor& x) { return softmax(x, -1); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }},
    {"layer_norm", [](const Tensor& x) { return layer_norm(x); }},
    {"cumsum", [](const Tensor& x) { return cumsum(x, 1); }},
    {"cumprod", [](const Tensor& x) { return cumprod(x, 0); }},
    {"cummax", [](const Tensor& x) { return cummax(x, 1).values; }},
    {"cummin", [](const Tensor& x) { return cummin(x, 1).values; }},
    {"sort", [](const Tensor& x) { return sort(x, 1, true); }},
    {"topk", [](const Tensor& x) { return topk(x, 2, 1).values; }},
    {"median", [](const Tensor& x) { return median(x, 1).values; }},
    {"quantile", [](const Tensor& x) { return quantile(x, 0.3, 1); }},
    {"matmul", [](const Tensor& x) { return matmul(x, x.transpose(0, 1)); }},
    {"recurrence", [](const Tensor& x) { return linear_recurrence(x, x * x, 1); }},
    {"max_pool",
     [](const Tensor& x) {
       return max_pool2d(x.reshape({1, 1, 3, 4}), {2, 2});
     }},
    {"avg_pool",
     [](const Tensor& x) {
       return avg_pool2d(x.reshape({1, 1, 3, 4}), {2, 2});
     }},
};

TEST_CASE("elementwise functions") {
  check(kUnary, between({3, 4}, -0.9, 0.9));
  check(kPositive, between({3, 4}, 0.3, 1.9));
}

TEST_CASE("movements, and reads at positions") { check(kMovements, between({3, 4}, -1, 1)); }

TEST_CASE("reductions, scans, sorts and products") { check(kReductions, between({3, 4}, -1, 1)); }

TEST_CASE("second derivatives") {
  check_twice(kUnary, between({2, 3}, -0.9, 0.9));
  check_twice(kPositive, between({2, 3}, 0.3, 1.9));
  check_twice(kMovements, between({3, 4}, -1, 1));
  check_twice(kReductions, between({3, 4}, -1, 1));
}

TEST_CASE("a product beside zeros is exact to the second order") {
  const Tensor x = Tensor::of<double>({2, 0, 3, 0, 4, 5}).reshape({2, 3});
  CHECK(grad([](Tensor t) { return sum(prod(t, 1)); })(x).to_vector<double>() ==
        std::vector<double>{0, 6, 0, 20, 0, 0});
  const Tensor h = hessian([](Tensor t) { return prod(t); })(Tensor::of<double>({0, 0, 3}));
  CHECK(h.to_vector<double>() == std::vector<double>{0, 3, 0, 3, 0, 0, 0, 0, 0});
  const Tensor c = grad([](Tensor t) { return sum(cumprod(t, 0)); })(Tensor::of<double>({2, 0, 3}));
  CHECK(c.to_vector<double>() == std::vector<double>{1, 2 + 6, 0});
}

TEST_CASE("convolutions, attention, scatters and writes by each operand") {
  const auto ok = [](const GradientCheck& found) { CHECK_MESSAGE(found.ok, found.str()); };
  ok(check_gradient(
      [](Tensor x, Tensor w) {
        return conv2d(x, w, {.stride = {2, 1}, .padding = {1, 1}});
      },
      between({2, 3, 7, 6}, -1, 1), between({4, 3, 3, 2}, -1, 1, 2)));
  ok(check_gradient(
      [](Tensor x, Tensor w) {
        return conv2d(x, w, {.dilation = {2, 1}, .groups = 2});
      },
      between({1, 4, 7, 5}, -1, 1), between({4, 2, 3, 2}, -1, 1, 2)));
  ok(check_gradient(
      [](Tensor x, Tensor w) {
        return conv_transpose2d(x, w, {.stride = {2, 1}});
      },
      between({1, 2, 3, 4}, -1, 1), between({2, 3, 3, 2}, -1, 1, 2)));
  ok(check_gradient([](Tensor q, Tensor k, Tensor v) { return scaled_dot_product_attention(q, k, v); },
                    between({2, 3, 4}, -1, 1), between({2, 5, 4}, -1, 1, 2), between({2, 5, 4}, -1, 1, 3)));
  const Tensor index = Tensor::of<int>({1, 1, 0});
  ok(check_gradient([&](Tensor x, Tensor v) { return put_add(x, index, v, 0); }, between({3, 2}, -1, 1),
                    between({3, 2}, -1, 1, 2)));
  ok(check_gradient([&](Tensor x, Tensor v) { return put(x, index, v, 0); }, between({3, 2}, -1, 1),
                    between({3, 2}, -1, 1, 2)));
  ok(check_gradient(
      [](Tensor x, Tensor v) {
        Tensor y = x * 1;
        y.slice({{0, 3, 2}, {1, 3}}) = v;
        return y * x;
      },
      between({3, 4}, -1, 1), between({2, 2}, -1, 1, 2)));
  ok(check_gradient([](Tensor a, Tensor b) { return linear_recurrence(a, b, 0); }, between({5, 2}, -1, 1),
                    between({5, 2}, -1, 1, 2)));
  for (const Combine how : {Combine::sum, Combine::prod, Combine::mean, Combine::amax, Combine::amin}) {
    ok(check_gradient(
        [&](Tensor x, Tensor v) {
          return scatter_reduce(x, Tensor::of<int>({1, 1, 0, 2, 1}), v, 0, how);
        },
        between({4}, -1, 1), between({5}, -1, 1, 2)));
  }
}

}  // namespace
}  // namespace oriel::testing::grad_test
