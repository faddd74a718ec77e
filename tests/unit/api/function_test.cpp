// Captured functions: what they compute, which calls hit an entry, and which arguments and results they take.
#include "oriel/function.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "schedule/rules.hpp"
#include "support/counted.hpp"

namespace function_test {

using namespace oriel;
using test::counted;

namespace {

using Floats = std::vector<float>;

Floats values(const Tensor& x) { return x.to_vector<float>(); }

struct Dense {
  Tensor w, b;
  bool rectified = false;
};
template <class T>
requires std::same_as<std::remove_const_t<T>, Dense>
auto oriel_members(T& dense) { return std::tie(dense.w, dense.b, dense.rectified); }

}  // namespace

TEST_CASE("a later call traces, schedules and compiles nothing, and computes with the new data") {
  static int traces = 0;
  const auto f = oriel::function([](Tensor x, Tensor w) {
    ++traces;
    return matmul(x, w) + 1;
  });
  CHECK(values(f(counted({2, 3}), counted({3, 2}))) == Floats{11, 14, 29, 41});
  const runtime::Counters before = runtime::counters();
  const Tensor second = f(counted({2, 3}, 1), counted({3, 2}));
  CHECK(second.realized());
  CHECK(values(second) == Floats{17, 23, 35, 50});
  CHECK(values(f(counted({2, 3}), counted({3, 2}, 1))) == Floats{14, 17, 41, 53});
  const runtime::Counters after = runtime::counters();
  CHECK(traces == 1);
  CHECK(after.schedules_built == before.schedules_built);
  CHECK(after.schedules_reused == before.schedules_reused);  // a hit does not make a key either
  CHECK(after.kernels_compiled == before.kernels_compiled);
  CHECK(f.counts().hits == 2);
  CHECK(f.counts().traces == 1);
  CHECK(f.entries().size() == 1);
}

TEST_CASE("dtype, rank, size, order of the elements and kind of view each are guards") {
  const auto f = oriel::function([](Tensor x) { return x * 2 + 1; });
  const auto check = [&](const Tensor& x, std::size_t entries) {
    const Tensor y = f(x);
    CHECK(y.shape() == x.shape());
    CHECK(y.dtype() == (x * 2 + 1).dtype());
    CHECK(y.strides() == (x * 2 + 1).strides());
    CHECK(y.to(DType::float64).to_vector<double>() == (x * 2 + 1).to(DType::float64).to_vector<double>());
    CHECK(f.entries().size() == entries);
  };
  check(counted({4, 6}), 1);
  check(counted({4, 6}, 9), 1);
  check(counted({4, 6}).to(DType::int32), 2);
  check(counted({24}), 3);
  check(counted({4, 5}), 4);
  check(counted({6, 4}).transpose(), 5);
  check(counted({6, 4}, 3).transpose(), 5);
  check((counted({6, 4}).transpose() + 0).realize(), 6);  // the storage is in another order
  check(counted({6, 6}).shrink({{1, 5}, {0, 6}}), 7);
  check(counted({6, 6}).shrink({{2, 6}, {0, 6}}), 8);
  check(counted({6, 6}).shrink({{2, 6}, {0, 6}}), 8);
}

TEST_CASE("a callable may ask for strides: those that only axes of one element show are guards, too") {
  const auto asks = [](Tensor x) { return x.strides()[1] > 1 ? x + 1 : x + 2; };
  const auto f = oriel::function([](Tensor x) { return x.strides()[1] > 1 ? x + 1 : x + 2; });
  const Tensor x = counted({6}).slice({{.step = 2}});
  REQUIRE(x.unsqueeze(1).strides() != x.reshape({3, 1}).strides());
  for (int round = 0; round < 2; ++round) {
    CHECK(values(f(x.unsqueeze(1))) == values(asks(x.unsqueeze(1))));
    CHECK(values(f(x.reshape({3, 1}))) == values(asks(x.reshape({3, 1}))));
  }
  CHECK(f.entries().size() == 2);
}

TEST_CASE("beyond the limit a call runs the callable, and entries go on serving") {
  static int runs = 0;
  const auto f = oriel::function(
      [](Tensor x) {
        ++runs;
        return x + 1;
      },
      {.limit = 2, .dynamic = Dynamic::no});
  runs = 0;
  for (const int n : {1, 2, 3, 3, 1, 2}) {
    const Tensor y = f(counted({n}));
    CHECK(y.realized());
    CHECK(values(y) == values(counted({n}, 1)));
  }
  CHECK(f.counts().traces == 2);
  CHECK(f.counts().plain == 2);
  CHECK(f.counts().hits == 2);
  CHECK(runs == 4);
  const auto none = oriel::function([](Tensor x, auto k) { return x * k; }, {.limit = 0});
  CHECK(values(none(counted({3}), 2.5F)) == Floats{0, 2.5F, 5});
  CHECK(none.counts().plain == 1);
}

TEST_CASE("traces of one callable type are limited in all functions of it") {
  const auto traced = [] {
    const auto f = oriel::function([](Tensor x) { return x - 1; }, {.traces = 3});
    CHECK(values(f(counted({2}))) == Floats{-1, 0});
    return f.counts().traces;
  };
  CHECK(traced() + traced() + traced() + traced() + traced() == 3);
}

TEST_CASE("floats are inputs: another value needs no new trace") {
  const auto f = oriel::function([](Tensor x, auto k) { return x * k; });
  for (const float k : {0.5F, 0.F, 1.F, -1.F, 2.F, 3.25F}) CHECK(values(f(counted({3}), k)) == Floats{0, k, 2 * k});
  CHECK(f.entries().size() == 1);
  // A double argument keeps its precision beside a float64 tensor.
  const Tensor x = Tensor::of<double>({1, 3});
  CHECK(f(x, 0.1).to_vector<double>() == std::vector<double>{0.1, 3 * 0.1});
  CHECK(f(x, 0.2).to_vector<double>() == std::vector<double>{0.2, 3 * 0.2});
  CHECK(f.entries().size() == 2);
  const auto same = oriel::function([](Tensor k) { return k; });
  CHECK(same(1.5F).item<float>() == 1.5F);
  CHECK(same(2.5F).item<float>() == 2.5F);
  CHECK(same.entries().size() == 1);
}

TEST_CASE("integers, bools, enumerations, shapes and devices are guards") {
  enum class Kind { sum, product };
  const auto f = oriel::function([](Tensor x, int n, bool twice, Kind kind, Shape shape) {
    for (int k = 0; k < n; ++k) x = x + 1;
    if (twice) x = x * 2;
    return (kind == Kind::sum ? sum(x) : prod(x)) + zeros(shape);
  });
  CHECK(values(f(counted({2}), 1, false, Kind::sum, Shape{1})) == Floats{3});
  CHECK(values(f(counted({2}), 2, false, Kind::sum, Shape{1})) == Floats{5});
  CHECK(values(f(counted({2}), 2, true, Kind::sum, Shape{1})) == Floats{10});
  CHECK(values(f(counted({2}), 2, true, Kind::product, Shape{1})) == Floats{24});
  CHECK(values(f(counted({2}), 2, true, Kind::product, Shape{2})) == Floats{24, 24});
  CHECK(f.entries().size() == 5);
  CHECK(values(f(counted({2}, 1), 2, false, Kind::sum, Shape{1})) == Floats{7});
  CHECK(f.entries().size() == 5);
}

TEST_CASE("bound values: tensors are inputs, floats arguments, integers guards") {
  const Tensor w = counted({3, 2});
  auto g = oriel::bind([](Tensor x, Tensor weights, auto k, int n) { return matmul(x, weights) * k + n; }, w, 0.5F, 1);
  const Tensor x = counted({1, 3});
  CHECK(values(g(x)) == Floats{6, 7.5F});
  std::get<1>(g.bound()) = 2;
  CHECK(values(g(x)) == Floats{21, 27});
  std::get<0>(g.bound()) = w + 1;
  CHECK(values(g(x)) == Floats{27, 33});
  CHECK(g.entries().size() == 1);
  std::get<2>(g.bound()) = 0;
  CHECK(values(g(x)) == Floats{26, 32});
  CHECK(g.entries().size() == 2);
  // Bound versions of one function share its entries.
  const auto f = oriel::function([](Tensor a, Tensor b) { return a + b; });
  CHECK(values(oriel::bind(f, counted({2}))(counted({2}))) == Floats{0, 2});
  CHECK(values(oriel::bind(f, counted({2}, 5))(counted({2}))) == Floats{5, 7});
  CHECK(values(oriel::function(oriel::bind(f, counted({2})))(counted({2}))) == Floats{0, 2});
  CHECK(f.counts().traces == 1);
}

TEST_CASE("tuples, arrays, vectors, optionals and structs go in and out") {
  const auto f = oriel::function([](const Dense& d, std::vector<Tensor> xs, std::optional<Tensor> bias) {
    std::vector<Tensor> out;
    for (const Tensor& x : xs) {
      Tensor y = matmul(x, d.w) + d.b;
      if (bias) y = y + *bias;
      out.push_back(d.rectified ? relu(y) : y);
    }
    return std::tuple(Dense{d.w * 2, d.b, d.rectified}, out, std::array<Tensor, 2>{d.w, d.b + 1}, 7);
  });
  const Dense dense{counted({2, 2}, -1), counted({2}), true};
  const Tensor x = counted({1, 2}, 1);
  const std::vector<Tensor> xs{x, x + 1};
  for (int round = 0; round < 2; ++round) {
    const auto [d, ys, pair, seven] = f(dense, xs, std::optional<Tensor>());
    CHECK(values(d.w) == Floats{-2, 0, 2, 4});
    CHECK(values(d.b) == Floats{0, 1});
    CHECK(d.rectified);
    REQUIRE(ys.size() == 2);
    CHECK(values(ys[0]) == Floats{1, 5});
    CHECK(values(ys[1]) == Floats{1, 7});
    CHECK(values(pair[0]) == Floats{-1, 0, 1, 2});
    CHECK(values(pair[1]) == Floats{1, 2});
    CHECK(seven == 7);
  }
  CHECK(f.entries().size() == 1);
  CHECK(std::get<1>(f(dense, std::vector{x}, std::optional<Tensor>())).size() == 1);  // another length: another entry
  CHECK(values(std::get<1>(f(dense, xs, std::optional(counted({2}, 10))))[0]) == Floats{11, 16});
  CHECK(values(std::get<1>(f(Dense{dense.w, dense.b, false}, xs, std::optional<Tensor>()))[0]) == Floats{1, 5});
  CHECK(f.entries().size() == 4);
}

TEST_CASE("a result that is an argument, or a view of one, names its storage") {
  const auto f = oriel::function([](Tensor x, Tensor y) { return std::tuple(x, y.transpose(), y.flip(0), x + y); });
  for (int round = 0; round < 2; ++round) {
    Tensor x = counted({2, 2}), y = counted({2, 2}, 4);
    auto [same, turned, flipped, sum] = f(x, y);
    CHECK(values(turned) == Floats{4, 6, 5, 7});
    CHECK(values(flipped) == Floats{6, 7, 4, 5});
    CHECK(values(sum) == Floats{4, 6, 8, 10});
    same += 100;
    turned += 200;
    CHECK(values(x) == Floats{100, 101, 102, 103});
    CHECK(values(y) == Floats{204, 205, 206, 207});
    CHECK(values(flipped) == Floats{206, 207, 204, 205});
  }
  // Two results may name the same new storage.
  const auto two = oriel::function([](Tensor x) {
    const Tensor y = x * 2;
    return std::pair(y, y.reshape({4}));
  });
  for (int round = 0; round < 2; ++round) {
    auto [y, flat] = two(counted({2, 2}));
    flat += 1;
    CHECK(values(y) == Floats{1, 3, 5, 7});
  }
}

TEST_CASE("a storage that is passed twice, and views of it") {
  const auto f = oriel::function([](Tensor x, Tensor y) { return x * 10 + y; });
  const Tensor a = counted({2, 2}), b = counted({2, 2}, 1);
  CHECK(values(f(a, b)) == Floats{1, 12, 23, 34});
  CHECK(values(f(a, a)) == Floats{0, 11, 22, 33});
  CHECK(values(f(a, a.transpose())) == Floats{0, 12, 21, 33});
  CHECK(f.entries().size() == 3);
  CHECK(values(f(b, b)) == Floats{11, 22, 33, 44});
  CHECK(values(f(b, a)) == Floats{10, 21, 32, 43});
  CHECK(f.entries().size() == 3);
  // With three arguments the entry depends on which two name one storage.
  const auto three = oriel::function([](Tensor x, Tensor y, Tensor z) {
    z += 100;
    return x + y * 2;
  });
  const auto call = [&](std::size_t z) {
    const std::vector<Tensor> xs{counted({2}), counted({2}, 10)};
    return values(three(xs[0], xs[1], xs[z]));
  };
  CHECK(call(0) == Floats{120, 123});
  CHECK(call(1) == Floats{220, 223});
  CHECK(call(0) == Floats{120, 123});
  CHECK(three.entries().size() == 2);
}

TEST_CASE("pending, empty, scalar and borrowed inputs, and views that were computed by themselves") {
  const auto f = oriel::function([](Tensor x) { return x + 1; });
  const Tensor base = counted({3});
  const Tensor pending = base * 2;
  CHECK(values(f(pending)) == Floats{1, 3, 5});
  CHECK(pending.realized());
  CHECK(values(f(ones({3}))) == Floats{2, 2, 2});
  CHECK(f(zeros({0, 4})).shape() == Shape{0, 4});
  CHECK(f(zeros({0, 4})).shape() == Shape{0, 4});
  CHECK(f(scalar(2.5F)).item<float>() == 3.5F);
  CHECK(f.entries().size() == 3);
  Floats memory{5, 6, 7};
  CHECK(values(f(Tensor::borrow(memory, {3}))) == Floats{6, 7, 8});
  CHECK(f.entries().size() == 3);
  const Tensor view = counted({2, 3}).transpose();
  CHECK(values(f(view)) == Floats{1, 4, 2, 5, 3, 6});
  view.to_vector<float>();
  view.realize();
  CHECK(values(f(view)) == Floats{1, 4, 2, 5, 3, 6});
  const Tensor constant = ones({2, 3}).realize().transpose();  // a view of a number in memory
  CHECK(values(f(constant)) == Floats{2, 2, 2, 2, 2, 2});
  CHECK(f.entries().size() == 4);
  CHECK(f(Tensor()).shape() == Shape{0});
}

TEST_CASE("results without inputs, constants, and nothing to compute") {
  const auto made = oriel::function([] { return std::pair(ones({2}), Tensor::of<float>({3, 4})); });
  for (int round = 0; round < 2; ++round) {
    auto [a, b] = made();
    CHECK(values(a) == Floats{1, 1});
    CHECK(values(b) == Floats{3, 4});
    a += 1;
    b += 1;  // must not change the entry's constant
  }
  const auto scaled = oriel::function([](Tensor x) { return x * Tensor::of<float>({1, 10}); });
  CHECK(values(scaled(counted({2}))) == Floats{0, 10});
  CHECK(values(scaled(counted({2}, 1))) == Floats{1, 20});
  const auto nothing = oriel::function([](Tensor) {});
  nothing(counted({2}));
  nothing(counted({2}));
  CHECK(nothing.counts().hits == 1);
}

TEST_CASE("a captured function inside a captured one is part of its trace") {
  static const auto inner = oriel::function([](Tensor x, auto k) { return x * k; });
  const auto outer = oriel::function([](Tensor x) { return inner(x, 3.F) + inner(x + 1, 2.F); });
  CHECK(values(outer(counted({2}))) == Floats{2, 7});
  CHECK(values(outer(counted({2}, 1))) == Floats{7, 12});
  CHECK(inner.entries().empty());
  CHECK(outer.entries().size() == 1);
}

TEST_CASE("switching a rule off, devices and the default bounds are guards") {
  const auto f = oriel::function([](Tensor x) { return take(x + 0, Tensor::of<std::int64_t>({1, 0}), 0); });
  CHECK(values(f(counted({2}))) == Floats{1, 0});
  schedule::set_rule_enabled("x+0 -> x", false);
  CHECK(values(f(counted({2}))) == Floats{1, 0});
  schedule::set_rule_enabled("x+0 -> x", true);
  CHECK(f.entries().size() == 2);
  set_default_bounds(Bounds::zero);
  CHECK(values(f(counted({2}))) == Floats{1, 0});
  set_default_bounds(Bounds::checked);
  CHECK(f.entries().size() == 3);  // an entry traced under other bounds is not used

  const auto plus = oriel::function([](Tensor x) { return x + 1; });
  CHECK(values(plus(counted({2}))) == Floats{1, 2});
  CHECK(plus(counted({2}).to(Device::null())).device().kind == DeviceKind::null);
  CHECK(plus.entries().size() == 2);

  const Device own = default_device();
  set_default_device(Device::null());
  const auto made = oriel::function([] { return ones({2}); });
  CHECK(made().device().kind == DeviceKind::null);
  set_default_device(own);
  CHECK(values(made()) == Floats{1, 1});
  CHECK(made.entries().size() == 2);
}

TEST_CASE("temporaries between kernels are kept while they are small") {
  const auto f = oriel::function([](Tensor x) { return sort(sort(x, 0) * 2, 1); });
  const Tensor x = counted({8, 8});
  const Floats wanted = values(sort(sort(x, 0) * 2, 1));
  for (int round = 0; round < 3; ++round) CHECK(values(f(x)) == wanted);
  const FunctionEntry entry = f.entries()[0];
  CHECK(entry.kernels.size() >= 2);
  CHECK(entry.calls == 3);
  CHECK(entry.kept_bytes > 0);
  const Tensor large = counted({1024, 512});
  const Floats sorted = values(sort(sort(large, 0) * 2, 1));
  for (int round = 0; round < 2; ++round) CHECK(values(f(large)) == sorted);
  CHECK(f.entries()[1].kept_bytes == 0);
}

}  // namespace function_test
