// grad, vjp, jvp, vmap and what they do to each other; errors.
#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/refusal.hpp"

namespace oriel::testing::transforms_test {
namespace {

using Numbers = std::vector<double>;

Tensor between(const Shape& shape, double low, double high, std::uint64_t seed = 1) {
  return uniform(Key(seed), shape, low, high, DType::float64).realize();
}
double apart(const Tensor& a, const Tensor& b) { return max(abs(a - b)).item<double>(); }

struct Layer {
  Tensor w, b;
};
auto oriel_members(Layer& l) { return std::tie(l.w, l.b); }
auto oriel_members(const Layer& l) { return std::tie(l.w, l.b); }

TEST_CASE("a gradient has the structure of its argument") {
  const Layer layer{between({3, 2}, -1, 1), between({2}, -1, 1, 2)};
  const Tensor x = between({4, 3}, -1, 1, 3);
  const auto loss = [](Layer l, Tensor in) { return sum(square(matmul(in, l.w) + l.b)); };
  const Layer g = grad(loss)(layer, x);
  const Tensor y = matmul(x, layer.w) + layer.b;
  CHECK(apart(g.b, sum(y * 2, 0)) < 1e-12);
  CHECK(apart(g.w, matmul(x.transpose(0, 1), y * 2)) < 1e-12);
  const auto [value, both] = value_and_grad<0, 1>(loss)(layer, x);
  CHECK(value.item<double>() == doctest::Approx(sum(square(y)).item<double>()));
  CHECK(apart(std::get<1>(both), matmul(y * 2, layer.w.transpose(0, 1))) < 1e-12);
  CHECK(apart(std::get<0>(both).w, g.w) == 0);
  const std::vector<Layer> several{layer, layer};
  CHECK(apart(grad([&](std::vector<Layer> all) { return loss(all[1], x); })(several)[1].w, g.w) == 0);
  CHECK(max(abs(grad([&](std::vector<Layer> all) { return loss(all[1], x); })(several)[0].w)).item<double>() == 0);
}

TEST_CASE("arguments that are chosen when the program runs") {
  const Tensor a = Tensor::of<double>({1, 2}), b = Tensor::of<double>({3, 4}), c = Tensor::of<double>({5, 6});
  const auto f = [](Tensor x, Tensor y, Tensor z) { return sum(x * y * z); };
  const std::vector<Tensor> g = grad(f, {.arguments = {0, 2}})(a, b, c);
  REQUIRE(g.size() == 2);
  CHECK(g[0].to_vector<double>() == Numbers{15, 24});
  CHECK(g[1].to_vector<double>() == Numbers{3, 8});
}

TEST_CASE("what is returned beside the loss comes back") {
  const auto f = [](Tensor x) { return std::pair(sum(x * x), x * 3); };
  const auto [value, g] = value_and_grad(f)(Tensor::of<double>({1, 2}));
  CHECK(value.first.item<double>() == 5);
  CHECK(value.second.to_vector<double>() == Numbers{3, 6});
  CHECK(g.to_vector<double>() == Numbers{2, 4});
}

TEST_CASE("a gradient of complex numbers is that by both parts") {
  const Complex z(Tensor::of<double>({1, 2}), Tensor::of<double>({3, -1}));
  const Complex g = grad([](Complex w) { return sum(square(real(w)) + square(imag(w))); })(z);
  CHECK(real(g).to_vector<double>() == Numbers{2, 4});
  CHECK(imag(g).to_vector<double>() == Numbers{6, -2});
}

TEST_CASE("orders") {
  const auto f = [](Tensor x) { return x * x * x * x; };
  const auto scalar_at = [](double x) { return Tensor::of<double>({x}).reshape(Shape{}); };
  const auto d1 = grad(f);
  const Tensor x = scalar_at(2);
  CHECK(d1(x).item<double>() == 32);
  CHECK(grad(d1)(x).item<double>() == 48);
  CHECK(grad(grad(d1))(x).item<double>() == 48);
  CHECK(grad(grad(grad(d1)))(x).item<double>() == 24);
  CHECK(grad(grad(grad(grad(d1))))(x).item<double>() == 0);
}

TEST_CASE("a variable of an outer derivative is a constant of the inner one") {
  // d/dx [x * d/dy (x + y)] = 1, which perturbations that are confused make 2.
  const auto f = [](Tensor x) {
    return x * grad([&](Tensor y) { return x + y; })(Tensor::of<double>({1}).reshape(Shape{}));
  };
  CHECK(grad(f)(Tensor::of<double>({3}).reshape(Shape{})).item<double>() == 1);
}

TEST_CASE("vjp and jvp are adjoint") {
  const Tensor x = between({3, 4}, -1, 1), w = between({4, 2}, -1, 1, 2);
  const auto f = [](Tensor a, Tensor b) { return tanh(matmul(a, b)) / (1 + cumsum(square(matmul(a, b)), 0)); };
  const Tensor tx = between({3, 4}, -1, 1, 3), tw = between({4, 2}, -1, 1, 4), g = between({3, 2}, -1, 1, 5);
  const auto at = vjp(f, x, w);
  const auto [gx, gw] = at.pull(g);
  const auto [value, tangent] = jvp(f, std::tuple(x, w), std::tuple(tx, tw));
  CHECK(apart(value, at.value) == 0);
  CHECK(sum(tangent * g).item<double>() == doctest::Approx((sum(gx * tx) + sum(gw * tw)).item<double>()));
  const auto line = linearize([&](Tensor a) { return f(a, w); }, x);
  CHECK(apart(line.push(tx), jvp([&](Tensor a) { return f(a, w); }, x, tx).tangent) < 1e-15);
  const double h = 1e-6;
  CHECK(apart(line.push(tx), (f(x + tx * h, w) - f(x - tx * h, w)) / (2 * h)) < 1e-8);
}

TEST_CASE("products of a Hessian with a vector, forward over reverse") {
  const auto f = [](Tensor x) { return sum(exp(x) * sin(flip(x))); };
  const Tensor x = between({5}, -1, 1), v = between({5}, -1, 1, 2);
  const Tensor forward = jvp(grad(f), x, v).tangent;
  const Tensor reverse = grad([&](Tensor t) { return sum(grad(f)(t) * v); })(x);
  CHECK(apart(forward, reverse) < 1e-14);
  CHECK(apart(matmul(hessian(f)(x), v), reverse) < 1e-14);
}

TEST_CASE("jacobians, either way") {
  const Tensor x = between({3}, -1, 1);
  const auto f = [](Tensor t) { return outer(t, square(t)); };
  const Tensor reverse = jacobian(f, JacobianMode::reverse)(x), forward = jacobian(f, JacobianMode::forward)(x);
  CHECK(reverse.shape() == Shape{3, 3, 3});
  CHECK(apart(reverse, forward) < 1e-15);
  CHECK(reverse.at({0, 1, 1}).item<double>() == doctest::Approx(2 * (x.at({0}) * x.at({1})).item<double>()));
}

TEST_CASE("vmap runs a function of one on many") {
  const Tensor x = between({5, 3, 4}, -1, 1), w = between({4, 2}, -1, 1, 2);
  const auto f = [](Tensor a, Tensor b) {
    Tensor y = softmax(matmul(a, b), 0);
    y.slice({{0, 1}}) = cumsum(y.slice({{1, 2}}), 1);
    return concat({y, sort(y, 0), take(y, Tensor::of<int>({2, 0}), 0), pad(flip(y), {{1, 0}, {0, 0}})}, 0);
  };
  const Tensor all = vmap(f, {.in = {0, {}}})(x, w);
  for (int k = 0; k < 5; ++k) CHECK(apart(all[k], f(x[k], w)) < 1e-14);
  const Tensor last = vmap(f, {.in = {0, {}}, .out = -1})(x, w);
  CHECK(apart(last, all.permute({1, 2, 0})) == 0);
  // Positions that differ from entry to entry.
  const Tensor index = Tensor::of<int>({0, 2, 1, 1, 0}).reshape({5, 1});
  const auto reads = [](Tensor a, Tensor i) { return take(a, i, 0) + put_add(a, i, 1.0, 0).slice({{0, 1}}); };
  const Tensor read = vmap(reads)(x, index);
  for (int k = 0; k < 5; ++k) CHECK(apart(read[k], reads(x[k], index[k])) < 1e-15);
}

TEST_CASE("gradients of each entry, and the gradient of a mapped function") {
  const Tensor x = between({5, 3}, -1, 1), w = between({3}, -1, 1, 2);
  const auto loss = [](Tensor p, Tensor in) { return sum(tanh(p * in)); };
  const Tensor each = vmap(grad(loss), {.in = {{}, 0}})(w, x);
  for (int k = 0; k < 5; ++k) CHECK(apart(each[k], grad(loss)(w, x[k])) < 1e-15);
  const Tensor whole = grad([&](Tensor p) { return sum(vmap([&](Tensor in) { return loss(p, in); })(x)); })(w);
  CHECK(apart(whole, sum(each, 0)) < 1e-14);
}

TEST_CASE("a function may ask for elements") {
  const auto f = [](Tensor x) {
    Tensor y = x;
    while (max(abs(y)).item<double>() < 100) y = y * 2;
    return sum(y);
  };
  CHECK(grad(f)(Tensor::of<double>({1, 3})).to_vector<double>() == Numbers{64, 64});
  const auto [value, g] = value_and_grad(f)(Tensor::of<double>({1, 3}));
  CHECK(value.item<double>() == 256);
}

TEST_CASE("gradients of a pending loss") {
  const Tensor a = between({3}, -1, 1), b = between({3}, -1, 1, 2);
  const std::vector<Tensor> g = gradients(sum(a * b * b), {a, b, between({2}, 0, 1)});
  CHECK(apart(g[0], b * b) == 0);
  CHECK(apart(g[1], a * b * 2) < 1e-15);
  CHECK(g[2].to_vector<double>() == Numbers{0, 0});
  const Tensor gone = (a * 3).realize();
  const std::string why = test::refusal([&] { gradients(sum(gone * 2), {a}); });
  CHECK(why.find("transforms_test.cpp:") != std::string::npos);
  CHECK(why.find("was realised") != std::string::npos);
}

TEST_CASE("stop_gradient") {
  const Tensor x = Tensor::of<double>({1, 2});
  CHECK(grad([](Tensor t) { return sum(t * stop_gradient(t)); })(x).to_vector<double>() == Numbers{1, 2});
  CHECK(jvp([](Tensor t) { return t * stop_gradient(t); }, x, ones({2}, DType::float64)).tangent.to_vector<double>() ==
        Numbers{1, 2});
}

TEST_CASE("in captured functions, of sizes that change") {
  const auto step = oriel::function([](Tensor w, Tensor x) {
    const auto [loss, g] = value_and_grad([&](Tensor p) { return mean(square(matmul(x, p))); })(w);
    return std::pair(loss, w - g * 0.1);
  });
  for (const std::int64_t n : {4, 7, 9, 5}) {
    const Tensor w = between({3, 2}, -1, 1), x = between({n, 3}, -1, 1, 7);
    const auto [loss, next] = step(w, x);
    const Tensor y = matmul(x, w);
    CHECK(loss.item<double>() == doctest::Approx(mean(square(y)).item<double>()));
    CHECK(apart(next, w - matmul(x.transpose(0, 1), y) * (0.2 / static_cast<double>(2 * n))) < 1e-12);
  }
  CHECK(step.counts().traces == 2);
  const auto direct = oriel::function(grad([](Tensor t) { return sum(sin(t)); }));
  const Tensor x = between({5}, -1, 1);
  CHECK(apart(direct(x), cos(x)) == 0);
}

TEST_CASE("a checkpoint computes its values again") {
  const auto layers = [](auto layer) {
    return [layer](Tensor x) {
      for (int k = 0; k < 6; ++k) x = layer(x);
      return sum(x);
    };
  };
  const Tensor w = between({64, 64}, -0.1, 0.1), x = between({256, 64}, -1, 1, 2);
  const auto plain = [w](Tensor t) { return sin(matmul(t, w)) * t; };
  const auto [value, g] = value_and_grad(layers(plain))(x);
  const auto [same, again] = value_and_grad(layers(checkpoint(plain)))(x);
  const auto kernels = [](const Tensor& a, const Tensor& b) { return explain({a, b}).kernels.size(); };
  CHECK(kernels(same, again) > kernels(value, g));
  CHECK(value.item<double>() == same.item<double>());
  CHECK(apart(g, again) < 1e-15);
}

TEST_CASE("a number that is not finite is traced to its line, forward or backward") {
  const Tensor x = Tensor::of<double>({0, 4});
  const auto found = [&] { return test::refusal([&] { grad([](Tensor t) { return sum(sqrt(t)); })(x).realize(); }); };
  CHECK(found() == "nothing");
  set_result_check(ResultCheck::infinite);
  const std::string why = found();
  set_result_check(ResultCheck::off);
  CHECK_MESSAGE(why.find("transforms_test.cpp:") != std::string::npos, why);
}

TEST_CASE("constants of a captured function go into checkpoints") {
  const auto f = oriel::function([](Tensor x) {
    const auto layer = checkpoint([](Tensor a, Tensor b) { return tanh(a) * b; });
    return grad([&](Tensor t) { return sum(layer(t, full({3}, 2.0, DType::float64))); })(x);
  });
  const Tensor x = between({3}, -1, 1);
  CHECK(apart(f(x), 2 * (1 - square(tanh(x)))) < 1e-15);
}

TEST_CASE("convolutions and windows of symbolic sizes have gradients") {
  const auto f = oriel::function([](Tensor x, Tensor w) {
    return grad<0, 1>([](Tensor a, Tensor b) {
      return sum(square(max_pool2d(conv2d(a, b, {.padding = {1}}), {2, 2})));
    })(x, w);
  });
  for (const std::int64_t n : {2, 3, 5}) {
    const Tensor x = between({n, 2, 6, 6}, -1, 1), w = between({3, 2, 3, 3}, -1, 1, 2);
    const auto [gx, gw] = f(x, w);
    const auto loss = [](Tensor a, Tensor b) {
      return sum(square(max_pool2d(conv2d(a, b, {.padding = {1}}), {2, 2})));
    };
    const auto [wx, ww] = grad<0, 1>(loss)(x, w);
    CHECK(apart(gx, wx) < 1e-12);
    CHECK(apart(gw, ww) < 1e-12);
  }
  CHECK(f.counts().traces == 2);
}

TEST_CASE("writes to an argument are differentiated, and stay inside") {
  const Tensor x = Tensor::of<double>({1, 2});
  const auto f = [](Tensor t) {
    t *= t;
    t[0] = 5.0;
    return sum(t * t);
  };
  CHECK(grad(f)(x).to_vector<double>() == Numbers{0, 32});
  CHECK(x.to_vector<double>() == Numbers{1, 2});
  const auto g = checkpoint([](Tensor t) {
    t += 1.0;
    return t * t;
  });
  const Tensor y = Tensor::of<double>({1, 2});
  CHECK(grad([&](Tensor t) { return sum(g(t)); })(y).to_vector<double>() == Numbers{4, 6});
}

TEST_CASE("captured functions and chosen elements inside of derivatives") {
  static const auto cube = oriel::function([](Tensor t) { return t * t * t; });
  const Tensor x = Tensor::of<double>({1, 2});
  cube(x);
  CHECK(grad([](Tensor t) { return sum(cube(t)); })(x).to_vector<double>() == Numbers{3, 12});
  CHECK(vmap(cube)(x).to_vector<double>() == Numbers{1, 8});
  const auto chosen = [](Tensor t) { return sum(square(masked_select(t, t > 1))) + sum(unique(t)); };
  CHECK(grad(chosen)(x).to_vector<double>() == Numbers{1, 5});
}

TEST_CASE("a mapped function that asks for elements is refused, and a long one is not cut") {
  const Tensor x = between({2, 3}, -1, 1);
  CHECK(test::refusal([&] { vmap([](Tensor t) { return t * sum(t).item<double>(); })(x); }).find("vmap") !=
        std::string::npos);
  Tensor leak;
  vmap([&](Tensor t) {
    leak = t * 2;
    return sum(t);
  })(x);
  CHECK(test::refusal([&] { leak.to_vector<double>(); }).find("vmap") != std::string::npos);
  const auto many = [](Tensor t) {
    for (int k = 0; k < 9000; ++k) t = t + 1;
    return t;
  };
  CHECK(apart(vmap(many)(x), x + 9000) < 1e-9);
}

TEST_CASE("without elements") {
  const Tensor w = between({4, 3, 3, 3}, -1, 1);
  const auto loss = [](Tensor x, Tensor v) { return sum(conv2d(x, v)); };
  const auto [gx, gw] = grad<0, 1>(loss)(zeros({0, 3, 5, 5}, DType::float64), w);
  CHECK(gx.shape() == Shape{0, 3, 5, 5});
  CHECK(max(abs(gw)).item<double>() == 0);
  CHECK(grad([](Tensor t) { return sum(unfold(t, 0, 2, 1)); })(zeros({3, 0}, DType::float64)).shape() == Shape{3, 0});
}

TEST_CASE("errors say what came and what would do") {
  using test::refusal;
  const Tensor x = Tensor::of<double>({1, 2}), k = Tensor::of<int>({1, 2});
  CHECK(refusal([&] { grad([](Tensor t) { return t; })(x); }).find("the loss has shape (2)") != std::string::npos);
  CHECK(refusal([&] { grad([](Tensor t) { return sum(t); })(k); }).find("argument 0 holds int32 (2)") !=
        std::string::npos);
  CHECK(refusal([&] { grad([](Tensor t) { return any(t > 0); })(x); }).find("the loss is bool") != std::string::npos);
  CHECK(refusal([&] {
          vjp([](Tensor t) { return t; }, x).pull(zeros({3}, DType::float64));
        }).find("cotangent 0 is float64 (3)") != std::string::npos);
  CHECK(refusal([&] {
          grad([](Tensor t) { return sum(t); }, {.arguments = {3}})(x);
        }).find("argument 3 of a function of 1") != std::string::npos);
  CHECK(refusal([&] { vmap([](Tensor a, Tensor b) { return a + b; })(x, zeros({3})); }).find("3") != std::string::npos);
}

TEST_CASE("transforms of callables without state are captured as they are") {
  const auto cube = [](Tensor t) { return sum(t * t * t); };
  const auto rows = oriel::function(vmap(cube));
  const auto slopes = oriel::function(vmap(grad(cube)));
  const auto second = oriel::function(hessian(cube));
  const auto both = oriel::function(value_and_grad(checkpoint(cube)));
  const auto stated = oriel::function(
      grad(custom_vjp([](Tensor t) { return sum(t); }, [](Tensor t, Tensor, Tensor g) { return t * g; })));
  for (const std::int64_t n : {2, 3, 5}) {
    const Tensor x = between({n, 3}, -1, 1, static_cast<std::uint64_t>(n)), line = between({n}, -1, 1);
    CHECK(apart(rows(x), sum(x * x * x, 1)) < 1e-12);
    CHECK(apart(slopes(x), x * x * 3) < 1e-12);
    CHECK(apart(second(line), diag(line * 6)) < 1e-12);
    CHECK(apart(both(x).value, sum(x * x * x)) < 1e-12);
    CHECK(apart(both(x).gradient, x * x * 3) < 1e-12);
    CHECK(apart(stated(x), x) == 0);
  }
  CHECK(rows.counts().traces == 2);  // the second one is for any number of rows
}

}  // namespace
}  // namespace oriel::testing::transforms_test
