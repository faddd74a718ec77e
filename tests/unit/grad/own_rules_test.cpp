// Rules that the program states (custom_vjp, custom_jvp, checkpoint, HostOptions::vjp), alone and in mapped functions.
#include <doctest/doctest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::testing::own_rules_test {
namespace {

using test::refusal;
using Numbers = std::vector<double>;

Tensor between(const Shape& shape, double low, double high, std::uint64_t seed = 1) {
  return uniform(Key(seed), shape, low, high, DType::float64).realize();
}
double apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<double>(); }

/// x * sum(p), whose stated derivative is 10 times too large, so that a test sees which one was used.
Tensor tenfold(const Tensor& x, const Tensor& p) {
  return custom_vjp([](Tensor a, Tensor b) { return a * sum(b); },
                    [](Tensor a, Tensor b, Tensor, Tensor g) {
                      return std::tuple(g * sum(b) * 10, broadcast_to(sum(g * a) * 10, b.shape()));
                    })(x, p);
}

TEST_CASE("rules of the program's own") {
  const Tensor x = Tensor::of<double>({0.4, 1.6});
  const auto straight = custom_vjp([](Tensor t) { return round(t); }, [](Tensor, Tensor, Tensor g) { return g * 3; });
  CHECK(straight(x).to_vector<double>() == Numbers{0, 2});
  CHECK(grad([&](Tensor t) { return sum(straight(t * 2)); })(x).to_vector<double>() == Numbers{6, 6});
  CHECK(jvp(straight, x, ones({2}, DType::float64)).tangent.to_vector<double>() == Numbers{3, 3});
  const auto two = custom_vjp([](Tensor a, Tensor b) { return std::pair(a * b, a + b); },
                              [](Tensor a, Tensor b, std::pair<Tensor, Tensor>, std::pair<Tensor, Tensor> g) {
                                return std::tuple(g.first * b, g.first * a * 10 + g.second);
                              });
  const auto [ga, gb] = grad<0, 1>([&](Tensor a, Tensor b) {
    const auto [p, s] = two(a, b);
    return sum(p) + sum(s * 5);
  })(x, x + 1);
  CHECK(apart(ga, x + 1) < 1e-15);
  CHECK(apart(gb, x * 10 + 5) < 1e-14);
  const auto forward = custom_jvp([](Tensor t) { return round(t); }, [](Tensor t, Tensor dt) { return dt * t; });
  CHECK(apart(grad([&](Tensor t) { return sum(forward(t)); })(x), x) == 0);
  CHECK(apart(jvp(forward, x, x).tangent, x * x) < 1e-15);
}

TEST_CASE("the gradient of a mapped function uses the rule, for each entry") {
  const Tensor x = between({4, 3}, -1, 1), p = between({2}, 0.5, 1, 2);
  // Of the argument that is mapped, and of the one that all entries share.
  const auto mapped = [](Tensor a, Tensor b) { return sum(sin(vmap(tenfold, {.in = {0, {}}})(a, b))); };
  const auto [gx, gp] = grad<0, 1>(mapped)(x, p);
  Tensor shared = zeros({2}, DType::float64);
  for (int k = 0; k < 4; ++k) {
    const auto [wx, wp] = grad<0, 1>([](Tensor a, Tensor b) { return sum(sin(tenfold(a, b))); })(x[k], p);
    CHECK(apart(gx[k], wx) < 1e-14);
    shared = shared + wp;
  }
  CHECK(apart(gp, shared) < 1e-13);
}

TEST_CASE("a mapped gradient uses the rule") {
  const Tensor x = between({4, 3}, -1, 1), p = between({2}, 0.5, 1, 2);
  const auto loss = [](Tensor a, Tensor b) { return sum(sin(tenfold(a, b))); };
  const Tensor each = vmap(grad(loss), {.in = {0, {}}})(x, p);
  for (int k = 0; k < 4; ++k) CHECK(apart(each[k], grad(loss)(x[k], p)) < 1e-14);
}

TEST_CASE("mapped twice, and to the second order") {
  const Tensor x = between({2, 4, 3}, -1, 1), p = between({2}, 0.5, 1, 2);
  const auto f = [](Tensor a, Tensor b) { return sum(exp(tenfold(a, b))); };
  const auto twice = vmap(vmap(f, {.in = {0, {}}}), {.in = {0, {}}});
  const Tensor g = grad([&](Tensor a) { return sum(twice(a, p)); })(x);
  const Tensor second =
      grad([&](Tensor a) { return sum(square(grad([&](Tensor t) { return sum(twice(t, p)); })(a))); })(x);
  const Tensor mapped = vmap(vmap(grad(f), {.in = {0, {}}}), {.in = {0, {}}})(x, p);
  const auto one = [&](Tensor a) { return sum(square(grad(f)(a, p))); };
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 4; ++k) {
      CHECK(apart(g[i][k], grad(f)(x[i][k], p)) < 1e-11);
      CHECK(apart(mapped[i][k], g[i][k]) < 1e-11);
      CHECK(apart(second[i][k], grad(one)(x[i][k])) / 1e4 < 1e-11);
    }
}

TEST_CASE("a rule by tangents, forward and backward, in a mapped function") {
  const Tensor x = between({4, 3}, -1, 1), t = between({4, 3}, -1, 1, 2);
  const auto f = custom_jvp([](Tensor a) { return round(a) * 1; }, [](Tensor a, Tensor da) { return da * a * 7; });
  CHECK(apart(grad([&](Tensor a) { return sum(vmap(f)(a)); })(x), x * 7) < 1e-15);
  CHECK(apart(jvp(vmap(f), x, t).tangent, x * t * 7) < 1e-14);
  CHECK(apart(vmap([&](Tensor a, Tensor da) { return jvp(f, a, da).tangent; })(x, t), x * t * 7) < 1e-14);
  CHECK(apart(jacobian(vmap(f))(x).reshape({12, 12}), diag(x.reshape({-1}) * 7)) < 1e-15);
}

TEST_CASE("a checkpoint in a mapped function") {
  const Tensor x = between({4, 3}, -1, 1), w = between({3, 3}, -1, 1, 2);
  const auto layer = [](Tensor a, Tensor b) { return tanh(matmul(b, a)) * a; };
  const auto loss = [&](auto f) {
    return [=](Tensor a, Tensor b) { return sum(square(vmap(f, {.in = {0, {}}})(a, b))); };
  };
  const auto [gx, gw] = grad<0, 1>(loss(checkpoint(layer)))(x, w);
  const auto [wx, ww] = grad<0, 1>(loss(layer))(x, w);
  CHECK(apart(gx, wx) < 1e-15);
  CHECK(apart(gw, ww) < 1e-15);
}

TEST_CASE("a rule that reads what its function does not, and several results") {
  const Tensor x = between({4, 3}, -1, 1);
  // The value is the same for all entries; its stated derivative is not.
  const auto constant = custom_vjp(
      [](Tensor a) { return std::pair(zeros_like(sum(a)), a * 2); },
      [](Tensor a, std::pair<Tensor, Tensor>, std::pair<Tensor, Tensor> g) { return a * g.first + g.second * 3; });
  const Tensor g = grad([&](Tensor a) {
    const auto [none, twice] = vmap(constant)(a);
    return sum(none) * 5 + sum(twice);
  })(x);
  CHECK(apart(g, x * 5 + 3) < 1e-15);
  // Only one of the results is used.
  CHECK(apart(grad([&](Tensor a) { return sum(vmap(constant)(a).second); })(x), full({4, 3}, 3.0, DType::float64)) ==
        0);
}

TEST_CASE("in a captured function of sizes that change") {
  const auto step = oriel::function([](Tensor x, Tensor p) {
    return grad([&](Tensor a) { return sum(sin(vmap(tenfold, {.in = {0, {}}})(a, p))); })(x);
  });
  for (const std::int64_t n : {2, 5, 3}) {
    const Tensor x = between({n, 3}, -1, 1), p = between({2}, 0.5, 1, 2);
    const double s = sum(p).item<double>();
    CHECK(apart(step(x, p), cos(x * s) * (s * 10)) < 1e-13);
  }
  CHECK(step.counts().traces == 2);
}

TEST_CASE("a share that does not fit is the error of the rule, mapped or not") {
  const Tensor x = Tensor::of<double>({1, 2});
  const auto narrow = custom_vjp([](Tensor t) { return t * 1; }, [](Tensor, Tensor, Tensor g) { return sum(g); });
  CHECK(refusal([&] { grad([&](Tensor t) { return sum(narrow(t)); })(x); }) ==
        "grad: cotangent 0 of the rule of custom_vjp is float64 () for a tensor of float64 (2)");
  CHECK(refusal([&] {
          grad([&](Tensor t) { return sum(vmap(narrow)(t)); })(x.reshape({1, 2}));
        }).find("cotangent 0 of the rule of custom_vjp is float64 () for a tensor of float64 (2)") !=
        std::string::npos);
  const auto few = custom_vjp([](Tensor a, Tensor b) { return a * b; },
                              [](Tensor, Tensor, Tensor, Tensor g) { return std::tuple(g); });
  CHECK(refusal([&] { grad([&](Tensor t) { return sum(few(t, t)); })(x); }) ==
        "grad: 1 cotangents of the rule of custom_vjp came for 2 tensors");
}

TEST_CASE("so is one of a function of host memory") {
  const Tensor x = Tensor::of<double>({1, 2});
  const auto twice = [](const HostCall& call) {
    for (std::size_t k = 0; k < call.result.elements<double>().size(); ++k)
      call.result.elements<double>()[k] = 2 * call.operands[0].elements<double>()[k];
  };
  const auto with = [&](auto share) {
    return refusal([&] {
      const HostOptions options{.vjp = [share](std::span<const Tensor>, const Tensor&, const Tensor& g) {
        return std::vector<Tensor>{share(g)};
      }};
      grad([&](Tensor t) { return sum(host_call("twice", twice, {t}, {2}, DType::float64, options)); })(x).realize();
    });
  };
  CHECK(with([](const Tensor& g) { return g * 2; }) == "nothing");
  CHECK(with([](const Tensor& g) { return sum(g); }) ==
        "grad: cotangent 0 of vjp of the host function \"twice\" is float64 () for a tensor of float64 (2)");
  CHECK(with([](const Tensor& g) { return g.to(DType::float32); }) ==
        "grad: cotangent 0 of vjp of the host function \"twice\" is float32 (2) for a tensor of float64 (2)");
}

}  // namespace
}  // namespace oriel::testing::own_rules_test
