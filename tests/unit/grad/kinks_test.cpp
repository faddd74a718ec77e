// Where a function has a kink, or two operands are equal.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::kinks_test {
namespace {

using Numbers = std::vector<double>;

template <class F>
Numbers gradient(F f, const Tensor& x) {
  return grad([&](Tensor t) { return sum(f(t)); })(x).template to_vector<double>();
}

TEST_CASE("kinks are those of PyTorch") {
  const Tensor x = Tensor::of<double>({-1, 0, 1});
  CHECK(gradient([](Tensor t) { return relu(t); }, x) == Numbers{0, 0, 1});
  CHECK(gradient([](Tensor t) { return abs(t); }, x) == Numbers{-1, 0, 1});
  CHECK(gradient([](Tensor t) { return clamp(t, -1, 1); }, x) == Numbers{1, 1, 1});
  CHECK(gradient([](Tensor t) { return clamp(t, 0, 0.5); }, x) == Numbers{0, 1, 0});
  CHECK(gradient([](Tensor t) { return sign(t) + floor(t); }, x) == Numbers{0, 0, 0});
  CHECK(gradient([](Tensor t) { return relu6(t * 6); }, x) == Numbers{0, 0, 0});
  CHECK(gradient([](Tensor t) { return pow(t, 0.0); }, x) == Numbers{0, 0, 0});
  CHECK(gradient([](Tensor t) { return pow(0.0, t); }, Tensor::of<double>({0, 1})) == Numbers{0, 0});
  CHECK(gradient([](Tensor t) { return sqrt(t); }, Tensor::of<double>({0, 4})) ==
        Numbers{std::numeric_limits<double>::infinity(), 0.25});
  CHECK(gradient([](Tensor t) { return copysign(t, -1.0); }, x) == Numbers{1, 0, -1});
}

TEST_CASE("a softmax is differentiated as a whole") {
  const auto by_hand = [](Tensor t) {
    const Tensor e = exp(t - max(t, {-1}, true));
    return e / sum(e, {-1}, true);
  };
  const auto stopped = [](Tensor t) {
    const Tensor e = exp(t - stop_gradient(max(t, {-1}, true)));
    return e / sum(e, {-1}, true);
  };
  const Tensor x = Tensor::of<double>({1, 3, 3, 0, -1, 2, -2, 0.5}).reshape({2, 4});  // two elements share a maximum
  const Tensor w = uniform(Key(1), {2, 4}, -1, 1, DType::float64).realize();
  const auto by = [&](auto f) { return grad([&](Tensor t) { return sum(f(t) * w); })(x); };
  const auto twice = [&](auto f) {
    return grad([&](Tensor y) { return sum(square(grad([&](Tensor t) { return sum(f(t) * w); })(y))); })(x);
  };
  const auto near = [](const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<double>() < 1e-14; };
  CHECK(near(by(by_hand), by(stopped)));
  CHECK(near(by([](Tensor t) { return softmax(t, -1); }), by(stopped)));
  CHECK(near(by([](Tensor t) { return softmax(t, 0); }).transpose(),
             grad([&](Tensor t) { return sum(stopped(t) * w.transpose()); })(x.transpose())));
  CHECK(near(twice(by_hand), twice(stopped)));
  // What lies between is reached if the derivative is taken by it.
  const Tensor e = exp(x - max(x, {-1}, true)), total = sum(e, {-1}, true), p = e / total;
  CHECK(near(gradients(sum(p * w), {e})[0], (w - sum(w * p, {-1}, true)) / total));
  // The weights of an attention, and the cotangent of the scores, are all that is kept.
  const Tensor q = uniform(Key(2), {2, 64, 32}).realize(), k = uniform(Key(3), {2, 64, 32}).realize(),
               g = uniform(Key(4), {2, 64, 32}).realize();
  const auto attention = [](Tensor a, Tensor b, Tensor c) { return matmul(softmax(matmul(a, b.transpose()), -1), c); };
  const auto all = [&] {
    const auto at = vjp(attention, q, k, k);
    const auto [by_q, by_k, by_v] = at.pull(g);
    return std::vector<Tensor>{at.value, by_q, by_k, by_v};
  }();
  const Explanation explained = explain(all);
  CHECK_MESSAGE(explained.kernels.size() == 6, explained.str());
}

TEST_CASE("no NaN where a function is flat, or a norm is 0") {
  const auto floats = [](auto f, std::initializer_list<float> x) {
    return grad([&](Tensor t) { return sum(f(t)); })(Tensor::of<float>(x)).template to_vector<float>();
  };
  using Floats = std::vector<float>;
  const auto about = [](const Floats& got, const Floats& want) {
    for (std::size_t k = 0; k < want.size(); ++k) CHECK(std::abs(got[k] - want[k]) <= 1e-30F);  // not if it is NaN
  };
  about(floats([](Tensor t) { return sigmoid(t); }, {-90, 90}), {0, 0});
  about(floats([](Tensor t) { return softplus(t); }, {-100, 100}), {0, 1});
  CHECK(floats([](Tensor t) { return elu(t); }, {100}) == Floats{1});
  CHECK(floats([](Tensor t) { return silu(t); }, {-90}) == Floats{0});
  CHECK(floats([](Tensor t) { return norm(t); }, {0, 0}) == Floats{0, 0});
  CHECK(floats([](Tensor t) { return hypot(t, t * 2); }, {0}) == Floats{0});
  CHECK(floats([](Tensor t) { return logsigmoid(t); }, {0}) == Floats{0.5F});
  CHECK(floats([](Tensor t) { return maximum(t, 0); }, {0}) == Floats{0.5F});
}

TEST_CASE("equal elements share a maximum evenly") {
  const Tensor x = Tensor::of<double>({1, 3, 3, 2});
  CHECK(gradient([](Tensor t) { return max(t); }, x) == Numbers{0, 0.5, 0.5, 0});
  CHECK(gradient(
            [](Tensor t) {
              return min(t.reshape({2, 2}), 0);
            },
            Tensor::of<double>({1, 5, 1, 2})) == Numbers{0.5, 0, 0.5, 1});
  CHECK(gradient([](Tensor t) { return maximum(t, t * 1); }, x) == Numbers{1, 1, 1, 1});
  const auto both = grad<0, 1>([](Tensor a, Tensor b) { return sum(maximum(a, b)); });
  const auto [a, b] = both(Tensor::of<double>({1, 2}), Tensor::of<double>({1, 1}));
  CHECK(a.to_vector<double>() == Numbers{0.5, 1});
  CHECK(b.to_vector<double>() == Numbers{0.5, 0});
}

TEST_CASE("positions take all: the last of equal records, the place of a sorted element") {
  CHECK(gradient([](Tensor t) { return cummax(t, 0).values; }, Tensor::of<double>({1, 1, 0})) == Numbers{1, 2, 0});
  const Tensor weights = Tensor::of<double>({10, 20, 30});
  CHECK(gradient([&](Tensor t) { return sort(t) * weights; }, Tensor::of<double>({2, 1, 1})) == Numbers{30, 10, 20});
  CHECK(gradient([](Tensor t) { return topk(t, 1).values; }, Tensor::of<double>({2, 2, 1})) == Numbers{1, 0, 0});
}

TEST_CASE("where masks both sides, also beside infinities") {
  const Tensor x = Tensor::of<double>({0, 4});
  // The double-where trap: the branch that is not taken is infinite at 0, so it is made safe inside.
  CHECK(gradient([](Tensor t) { return where(t > 0, sqrt(where(t > 0, t, 1.0)), 0.0); }, x) == Numbers{0, 0.25});
  const Numbers trapped = gradient([](Tensor t) { return where(t > 0, sqrt(t), 0.0); }, x);
  CHECK(std::isnan(trapped[0]));
  CHECK(gradient([](Tensor t) { return masked_fill(t, t < 1, std::numeric_limits<double>::infinity()); }, x) ==
        Numbers{0, 1});
}

}  // namespace
}  // namespace oriel::testing::kinks_test
