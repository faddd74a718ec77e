// Captured functions over symbolic sizes: what is guarded, and what the plans compute.
#include <doctest/doctest.h>

#include <algorithm>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_dynamic_test {

using namespace oriel;
using test::numbers;
using test::same;
using test::size_guards;
using test::with;

namespace {

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

const auto twice = [](Tensor x) { return x * 2; };

}  // namespace

TEST_CASE("a branch on sizes is a guard over the sizes of inputs") {
  const auto branch = [](Tensor x, Tensor y) {
    const Tensor z = concat({x, y}, 0);
    return z.size(0) > 7 ? z * 2 : z + 2;
  };
  const auto f = function(branch, with(Dynamic::yes));
  same(f, branch, 1, numbers({2}), numbers({3}));
  same(f, branch, 1, numbers({2}), numbers({4}));
  same(f, branch, 2, numbers({6}), numbers({3}));
  same(f, branch, 2, numbers({60}), numbers({30}));
  CHECK(size_guards(f.entries()[0]).back().starts_with("x.size(0) + y.size(0) <= 7"));
  CHECK(size_guards(f.entries()[1]).back().starts_with("x.size(0) + y.size(0) > 7"));
  // Sizes of at least 2 decide it: no guard.
  const auto g = function(
      [](Tensor x, Tensor y) {
        return concat({x, y}, 0).size(0) > 2 ? x * 2 : x;
      },
      with(Dynamic::yes));
  g(numbers({2}), numbers({3}));
  CHECK(size_guards(g.entries()[0]) == Texts{"x.size(0) >= 2", "y.size(0) >= 2"});
}

TEST_CASE("programs that need no guard take none") {
  const auto guards = [](const auto& program, const auto&... x) {
    const auto f = function(program, with(Dynamic::yes));
    f(x...);
    Texts out;
    for (const std::string& guard : size_guards(f.entries()[0]))
      if (guard.find(">= 2") == std::string::npos) out.push_back(guard);
    return out;
  };
  const auto add = [](Tensor x, Tensor y) { return x + y; };
  const Tensor x = numbers({3, 4});
  CHECK(guards(add, x, numbers({4})) == Texts{"x.size(1) == y.size(0)"});  // one symbol, by their values
  CHECK(guards(add, numbers({3, 1}), numbers({1, 4})) == Texts{"x.size(1) == 1", "y.size(0) == 1"});
  CHECK(guards(twice, x) == Texts{});
  CHECK(guards([](Tensor a, Tensor b) { return matmul(a, b); }, x, numbers({4, 5})) == Texts{"x.size(1) == y.size(0)"});
  CHECK(guards([](Tensor a) { return a.reshape({-1}) * 2; }, x) == Texts{});
  CHECK(guards([](Tensor a) { return a.transpose() + 1; }, x) == Texts{});
  CHECK(guards([](Tensor a) { return a.unsqueeze(0).expand({5, -1, -1}) + 1; }, x) == Texts{});
  CHECK(guards([](Tensor a) { return softmax(a, 1) + mean(a, 0) + layer_norm(a, 1); }, x) == Texts{});
  CHECK(guards([](Tensor a) { return pad(a.flip(0), {{1, 2}, {0, 0}}) + 1; }, x) == Texts{});
}

TEST_CASE("every kind of node serves other sizes") {
  const auto check = [](const auto& program, auto inputs, std::initializer_list<std::pair<int, int>> sizes,
                        std::uint64_t traced = 1) {
    const auto f = function(program, with(Dynamic::yes));
    for (const auto& [n, m] : sizes)
      std::apply([&](const auto&... x) { same(f, program, traced, x...); }, inputs(n, m));
  };
  const auto one = [](int n, int m) { return std::tuple{numbers({n, m})}; };
  const auto sizes = {std::pair{3, 4}, {5, 4}, {3, 7}, {16, 33}, {64, 5}};
  check([](Tensor x) { return mean(x, 1) + var(x, 1); }, one, sizes);
  check([](Tensor x) { return var(x, 0, true, 0) * 2; }, one, sizes);
  check([](Tensor x) { return sum(x); }, one, sizes);
  check([](Tensor x) { return softmax(x, 1); }, one, sizes);
  check([](Tensor x) { return layer_norm(x, 1) + mean(x); }, one, sizes);
  check([](Tensor x) { return argmax(x, 1); }, one, sizes);
  check([](Tensor x) { return x.reshape({-1}); }, one, sizes);
  check([](Tensor x) { return x.reshape({x.size(1), x.size(0)}) + 1; }, one, {{3, 4}, {5, 4}, {16, 33}});
  // At some sizes a movement changes nothing, and must not change strides either.
  check([](Tensor x) { return (x.slice({{}, {1}}) * 2).flip(1); }, one, {{2, 3}, {4, 2}, {2, 2}});
  check([](Tensor x) { return x.slice({{}, {1}}).flip(1); }, one, {{2, 3}, {4, 2}, {2, 2}});
  check(
      [](Tensor x) {
        return x.slice({{}, {1}}).transpose().reshape({x.size(0), x.size(1) - 1});
      },
      one, {{4, 3}, {3, 4}, {5, 6}});
  check([](Tensor x) { return x.transpose(); }, one, sizes);
  check([](Tensor x) { return x.transpose() * x.transpose(); }, one, sizes);
  check([](Tensor x) { return pad(x.flip(0), {{1, 2}, {0, 3}}); }, one, sizes);
  check([](Tensor x) { return tril(x) + triu(x, 1) * 2; }, one, sizes);
  check([](Tensor x) { return where(x > 2, x, 0 - x); }, one, sizes);
  // Elsewhere it is a network, which is built for one length.
  if (default_device().kind == DeviceKind::eigen) check([](Tensor x) { return sort(x, 1); }, one, sizes);
  check([](Tensor x) { return x.unsqueeze(1).expand({-1, 3, -1}) * 2; }, one, sizes);
  check([](Tensor x) { return x.slice({{1}, {{}, -1}}); }, one, sizes);
  check([](Tensor x) { return x.slice({{0, x.size(0) / 2}}) + 1; }, one, {{4, 5}, {6, 4}, {9, 3}, {16, 33}});
  check([](Tensor x) { return x.select(0, -1) + x.select(0, x.size(0) - 1); }, one, sizes);
  check([](Tensor x) { return concat({x, x + 1, x}, 1); }, one, sizes);
  check([](Tensor x) { return repeat(x, {2, 3}); }, one, sizes);
  check([](Tensor x) { return ones({x.size(0), 2}) * 3 + arange(2); }, one, sizes);
  check([](Tensor x) { return x.to(MemoryFormat::contiguous) + full({x.size(1)}, 2); }, one, sizes);
  // Sizes as numbers.
  check([](Tensor x) { return sum(x, 0) / x.size(0) + x.size(1) * 2; }, one, sizes);
  check([](Tensor x) { return full({2}, x.numel()) + scalar(x.size(0)); }, one, sizes);
  check([](Tensor x) { return arange(x.size(0)); }, one, sizes);
  check([](Tensor x) { return linspace(-0.3, 7, x.size(0), DType::float64) * x.size(1); }, one, sizes);
  check([](Tensor x) { return arange(x.size(0), -x.size(1), -3) + x.size(0); }, one, sizes);
  check([](Tensor x) { return arange(x.size(1), x.size(0), 2); }, one, sizes);
  const auto two = [](int n, int m) { return std::tuple{numbers({n, m}), numbers({m, n})}; };
  check([](Tensor x, Tensor w) { return matmul(x, w); }, two, {{3, 4}, {5, 4}, {16, 33}, {64, 65}});
  check([](Tensor x, Tensor w) { return matmul(softmax(matmul(x, w), 1), x); }, two, {{3, 4}, {5, 4}, {16, 33}});
}

TEST_CASE("gathers and diagonals serve other sizes, without guards") {
  const auto check = [](const auto& program) {
    const auto f = function(program, with(Dynamic::yes));
    for (const auto& [n, m] : {std::pair{3, 4}, {5, 4}, {3, 7}, {16, 33}, {64, 5}, {70, 3}})
      same(f, program, 1, numbers({n, m}), numbers({m}).to(DType::int64));
    for (const std::string& guard : size_guards(f.entries()[0]))
      CHECK_MESSAGE((guard.ends_with(">= 2") || guard == "x.size(1) == y.size(0)"), guard);
  };
  check([](Tensor x, Tensor) { return take(x, Tensor::of<std::int64_t>({0, 2, -1}), 0); });
  check([](Tensor x, Tensor y) { return take(x, y, 0); });
  check([](Tensor x, Tensor y) { return take(x, y, 1); });
  check([](Tensor x, Tensor y) { return gather(x, y.reshape({1, -1}), 0); });
  check([](Tensor x, Tensor y) { return take(x.transpose(), y, 1); });
  check([](Tensor x, Tensor y) { return take(x.flip(1), y, 1); });
  check([](Tensor x, Tensor y) { return take(pad(x, {{1, 2}, {0, 1}}), y, 0); });
  check([](Tensor x, Tensor y) { return take(x.reshape({-1}), y, 0); });
  check([](Tensor x, Tensor y) { return take(x.transpose().reshape({-1}), y, 0); });
  check([](Tensor x, Tensor y) { return take(exp(x) * 2 + x.slice({{}, {0, 1}}), y, 0); });
  check([](Tensor x, Tensor y) { return take(x.unsqueeze(1).expand({-1, 3, -1}), y, 2) + 1; });
  check([](Tensor x, Tensor y) { return take(concat({x, x * 2}, 0), y, 0); });
  check([](Tensor x, Tensor y) { return take(take(x, y, 0), y, 1); });
  check([](Tensor x, Tensor y) { return take(arange(x.size(0)) * x.size(1), y, 0); });
  check([](Tensor x, Tensor) { return diagonal(x) + 1; });
  check([](Tensor x, Tensor) { return diagonal(x, 1) * 2; });
  check([](Tensor x, Tensor) { return diagonal(x, -1); });
}

TEST_CASE("views of arguments and of one fresh storage, writes and constants at other sizes") {
  const auto f = function(
      [](Tensor x, Tensor y) {
        x += y;
        const Tensor z = x * 2;
        const Tensor weights = Tensor::of<float>({1, 2, 3});
        return std::tuple{x, x.slice({{1, x.size(0)}}), z, z.transpose(), x.slice({{0, 2}}) + weights};
      },
      with(Dynamic::yes));
  for (const int n : {4, 6, 9}) {
    Tensor x = numbers({n, 3});
    const Floats before = x.to_vector<float>();
    const Tensor y = numbers({n, 3}, 7);
    const auto [a, b, c, d, e] = f(x, y);
    const Tensor want = Tensor::from(before, {n, 3}) + y;
    CHECK(x.to_vector<float>() == want.to_vector<float>());
    CHECK(a.to_vector<float>() == want.to_vector<float>());
    CHECK(b.shape() == Shape{n - 1, 3});
    CHECK(b.to_vector<float>() == want.slice({{1}}).to_vector<float>());
    CHECK(c.to_vector<float>() == (want * 2).to_vector<float>());
    CHECK(d.shape() == Shape{3, n});
    CHECK(d.to_vector<float>() == (want * 2).transpose().to_vector<float>());
    CHECK(e.to_vector<float>() == (want.slice({{0, 2}}) + Tensor::of<float>({1, 2, 3})).to_vector<float>());
    Tensor(a).assign(0);
    CHECK(sum(x).item<float>() == 0);  // a names the storage of x
    CHECK(sum(b).item<float>() == 0);
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("views of larger storages serve other sizes and places") {
  const auto program = [](Tensor x, Tensor y) { return matmul(x, y) + sum(x); };
  const auto check = [&](Dynamic dynamic, std::uint64_t traced, const auto& view) {
    const auto f = function(program, with(dynamic));
    std::uint64_t calls = 0;
    for (const auto& [n, m] : {std::pair{3, 4}, {5, 4}, {7, 6}, {16, 33}, {40, 5}})
      same(f, program, dynamic == Dynamic::yes ? traced : std::min(++calls, traced), view(n, m), numbers({m, 2}));
  };
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({m, n}).transpose(); });
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({n + 3, m}).slice({{2, n + 2}}); });
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({n * m}).reshape({n, m}); });
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({1, m}).expand({n, m}); });
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({m, 11, n}).select(1, 1).transpose().flip(0); });
  check(Dynamic::yes, 1, [](int n, int m) { return numbers({n, 2 * m}).reshape({n, m, 2}).select(2, 0); });

  // Batches of one array: only the place changes.
  const Tensor data = numbers({64, 3});
  const auto g = function(twice, with(Dynamic::automatic));
  for (std::int64_t k = 0; k < 64; k += 8) same(g, twice, k == 0 ? 1 : 2, data.slice({{k, k + 8}}));
  CHECK(g.entries()[1].symbols == Texts{"o0 = x.slice.start(0), at least 0"});

  // A view of a view of an argument keeps its own strides, also where it has the argument's shape.
  const auto again = [](Tensor x) { return x.reshape({-1}).reshape({2, x.numel() / 2}); };
  const auto folded = function(again, with(Dynamic::yes));
  for (const int n : {4, 2, 6}) same(folded, again, 1, numbers({n, n}).transpose());

  // A reshape states how sizes depend on each other.
  const auto h = function(twice, with(Dynamic::yes));
  same(h, twice, 1, numbers({6, 4}).reshape({24}));
  same(h, twice, 1, numbers({5, 7}).reshape({35}));
  CHECK(h.explain().find("x.reshape(0)") != std::string::npos);

  // Two views of one storage, one of which is written.
  const auto shift = function(
      [](Tensor x, Tensor y) {
        x += y * 2;
        return y + 0;
      },
      with(Dynamic::yes));
  for (const int n : {4, 6, 9}) {
    const Tensor base = numbers({2 * n, 3});
    Tensor low = base.slice({{0, n}});
    const Tensor high = base.slice({{n, 2 * n}});
    const Floats before = low.to_vector<float>(), other = high.to_vector<float>();
    CHECK(shift(low, high).to_vector<float>() == other);
    for (std::size_t k = 0; k < before.size(); ++k) CHECK(low.to_vector<float>()[k] == before[k] + other[k] * 2);
  }
  CHECK(shift.counts().traces == 1);  // the steps of a slice nest, so the write meets each element once at every size
}

TEST_CASE("sizes without hints serve 0 and 1 too, and may not decide") {
  const auto f = function(twice, with(Dynamic::unbacked));
  std::uint64_t traced = 0;
  for (const int n : {3, 2, 1, 0, 70, 1}) same(f, twice, traced = std::min<std::uint64_t>(traced + 1, 2), numbers({n}));
  const auto branch = [](Tensor x) { return x.size(0) > 2 ? x + 1 : x; };
  const auto g = function(branch, with(Dynamic::unbacked));
  same(g, branch, 1, numbers({3}));  // the first trace has numbers
  CHECK_THROWS_AS(g(numbers({4})), DataDependentError);
  CHECK(g.entries().size() == 1);
}

TEST_CASE("one size marked as without a hint serves 0 and 1 too, with one trace") {
  const auto f = function(twice, with(Dynamic::automatic));
  const Tensor x = numbers({3});
  mark_unbacked(x, 0);
  same(f, twice, 1, x);
  for (const int n : {2, 1, 0, 70}) same(f, twice, 1, numbers({n}));
  CHECK(f.entries()[0].symbols == Texts{"u0 = x.size(0), at least 0"});

  const auto g = function(twice, with(Dynamic::no));
  const Tensor matrix = numbers({3, 4});
  mark_unbacked(matrix, -2);
  same(g, twice, 1, matrix);
  same(g, twice, 1, numbers({1, 4}));
  same(g, twice, 2, numbers({1, 5}));  // the other axis has a size
  mark_static(matrix, 0);
  const auto fixed = function(twice, with(Dynamic::no));
  same(fixed, twice, 1, matrix);
  same(fixed, twice, 2, numbers({2, 4}));

  const auto branch = [](Tensor t) { return t.size(0) > 2 ? t + 1 : t; };
  CHECK_THROWS_AS(function(branch)(x), DataDependentError);
  const auto stated = function([](Tensor t) {
    expect_true(t.size(0) > 2);
    return t.size(0) > 1 ? t + 1 : t;
  });
  CHECK(stated(x).to_vector<float>() == (x + 1).to_vector<float>());
  CHECK_THROWS_AS(stated(numbers({2})), ArgumentError);
  CHECK(stated.counts().traces == 1);
  const auto three = function([](Tensor t) {
    expect_true(t.size(0) == 3);
    return t + 1;
  });
  CHECK_THROWS_AS(three(x), ArgumentError);  // marked, but the trace needs one value
  CHECK_THROWS_AS(mark_unbacked(matrix.slice({{0, 2}}), 0), ArgumentError);
  CHECK_THROWS_AS(mark_unbacked(matrix, 2), ShapeError);
}

TEST_CASE("reports name the line that a size came from and the line that decided on it") {
  const auto here = [](int line) { return "function_dynamic_test.cpp:" + std::to_string(line); };
  const auto f = function([](Tensor x) { return x.reshape({2, x.size(0) / 2}); }, with(Dynamic::yes));
  const int decided = __LINE__ - 1;
  const Tensor x = arange(6);
  const int made = __LINE__ - 1;
  f(x);
  const Tensor y = zeros({9, 8});
  mark_dynamic(y, 1);
  const int marked = __LINE__ - 1;
  const auto g = function(twice, with(Dynamic::automatic));
  g(y);

  const FunctionEntry entry = f.entries()[0];
  CHECK(entry.origins == Texts{"made at " + here(made)});
  REQUIRE(entry.decisions.size() == 1);
  CHECK(entry.decisions[0] ==
        "x.size(0) == 2*(x.size(0) // 2), decided at " + here(decided) + "; x.size(0) made at " + here(made));
  CHECK(f.explain().find("  guard    " + entry.decisions[0] + "\n") != std::string::npos);
  CHECK(g.entries()[0].origins == Texts{"marked at " + here(marked)});
  CHECK(g.explain().find("symbol   s0 = x.size(1), at least 2, marked at " + here(marked)) != std::string::npos);
}

TEST_CASE("a size that too many guards name is fixed") {
  const auto picky = [](Tensor x) {
    const SymInt n = x.size(0);
    return n % 2 == 0 || n % 3 == 0 || n % 5 == 0 ? x + 1 : x * 2;
  };
  FunctionOptions options = with(Dynamic::yes);
  const auto free = function(picky, options);
  same(free, picky, 1, numbers({7}));
  same(free, picky, 1, numbers({11}));
  options.guards_per_size = 2;
  const auto limited = function(picky, options);
  same(limited, picky, 1, numbers({7}));
  same(limited, picky, 2, numbers({11}));
  same(limited, picky, 2, numbers({7}));
  same(limited, picky, 3, numbers({4}));  // one guard
  same(limited, picky, 3, numbers({8}));
  const Tensor x = numbers({7});
  mark_dynamic(x, 0);
  CHECK_THROWS_AS(function(picky, options)(x), ArgumentError);
}

TEST_CASE("an entry keeps plans for 4096 sets of sizes, and serves all others") {
  set_default_device(Device::null());
  const auto f = function(twice, with(Dynamic::yes));
  for (std::int64_t n = 2; n < 4110; ++n) f(zeros({n}).realize());
  f(zeros({4109}).realize());
  set_default_device(Device::eigen());
  CHECK(f.entries()[0].sizes == 4096);
  CHECK(f.entries()[0].calls == 4109);
  CHECK(f.counts().traces == 1);
}

TEST_CASE("a miss names the guard over sizes and the values") {
  const auto f = function([](Tensor x, Tensor y) { return x.size(0) > y.size(0) ? x + 1 : x; }, with(Dynamic::yes));
  f(numbers({5}), numbers({3}));
  f(numbers({3}), numbers({5}));
  const FunctionMiss miss = f.entries()[1].misses[0];
  CHECK(miss.guard.starts_with("x.size(0) > y.size(0)"));
  CHECK(miss.value == "x.size(0) = 3, y.size(0) = 5");
  CHECK(f.explain().find("symbol   s0 = x.size(0), at least 2") != std::string::npos);
  CHECK(f.explain().find("input    x: float32 (s0) on") != std::string::npos);
}

TEST_CASE("an operation that asks for a number fixes the size, with a guard") {
  const auto f = function([](Tensor x) { return x * static_cast<double>(x.size(0)); }, with(Dynamic::yes));
  f(numbers({5}));
  CHECK(size_guards(f.entries()[0]) == Texts{"x.size(0) == 5"});
  const Tensor x = numbers({6});
  CHECK(f(x).to_vector<float>() == (x * 6).to_vector<float>());
  CHECK(f.counts().traces == 2);
}

TEST_CASE("running sums along a symbolic axis: one trace") {
  const auto sums = [](Tensor x) { return cumsum(x, 0); };
  const auto f = function(sums, with(Dynamic::yes));
  for (const int n : {3, 5, 64, 2, 33}) same(f, sums, 1, numbers({n, 4}));
  for (const int n : {65, 700, 128, 129, 4160}) same(f, sums, 1, numbers({n, 2}));
  same(f, sums, 1, numbers({4161, 2}));
  const auto products = [](Tensor x) { return cumprod(x.transpose(), -1) + 1; };
  const auto g = function(products, with(Dynamic::yes));
  for (const int n : {3, 7, 20}) same(g, products, 1, numbers({n, 2}));
}

TEST_CASE("errors of the callable at symbolic sizes name the sizes") {
  const auto f = function([](Tensor x, Tensor y) { return x + y; }, with(Dynamic::yes));
  CHECK_THROWS_AS(f(numbers({3}), numbers({4})), ShapeError);
  CHECK(f.entries().empty());
}

TEST_CASE("the root of a size is an operand") {
  const auto scores = [](Tensor q, Tensor k) { return matmul(q, k.transpose()) / sqrt(q.size(1)); };
  const auto f = function(scores, with(Dynamic::yes));
  for (const int d : {4, 9, 16, 7})
    same(
        f, [](Tensor q, Tensor k) { return matmul(q, k.transpose()) / sqrt(q.size(1)); }, 1, numbers({3, d}),
        numbers({5, d}));
}

TEST_CASE("every n-th element of a symbolic axis") {
  const auto halved = [](Tensor x) { return every(x, {2}) * 2; };
  const auto f = function(halved, with(Dynamic::yes));
  for (const std::int64_t n : {5, 6, 9, 10}) same(f, halved, 1, numbers({n}));
  // Views of this kind are arguments too: their steps are guarded, their sizes are not.
  const auto g = function(twice, with(Dynamic::yes));
  for (const std::int64_t n : {5, 6, 11}) same(g, twice, 1, every(numbers({n}), {2}));
  same(g, twice, 2, every(numbers({9}), {3}));
}

}  // namespace function_dynamic_test
