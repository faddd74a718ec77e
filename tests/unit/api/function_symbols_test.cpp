// Which sizes of captured functions become symbols, and how often a function is traced.
#include <doctest/doctest.h>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/captured_functions.hpp"

namespace function_symbols_test {

using namespace oriel;
using test::numbers;
using test::same;
using test::size_guards;
using test::with;

namespace {

using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

/// Calls `f` on one tensor of each length and returns the number of traces.
template <class F>
std::uint64_t traces(const F& f, std::initializer_list<std::int64_t> lengths) {
  for (const std::int64_t n : lengths) {
    const Tensor x = numbers({n});
    CHECK(f(x).template to_vector<float>() == (x * 2).to_vector<float>());
  }
  return f.counts().traces;
}

const auto twice = [](Tensor x) { return x * 2; };

}  // namespace

TEST_CASE("how often a size is traced, by what may be a symbol") {
  // f(x) = 2*x on one axis.
  CHECK(traces(function(twice), {3, 3, 3}) == 1);
  CHECK(traces(function(twice), {3, 4, 5, 6}) == 2);
  CHECK(traces(function(twice), {3, 2, 1, 0}) == 4);
  CHECK(traces(function(twice, with(Dynamic::no)), {3, 4, 5, 3}) == 3);
  CHECK(traces(function(twice, with(Dynamic::yes)), {3, 4, 5}) == 1);
  CHECK(traces(function(twice, with(Dynamic::yes)), {3, 4, 5, 1}) == 2);
  CHECK(traces(function(twice, with(Dynamic::yes)), {3, 4, 0}) == 2);
}

TEST_CASE("a size that was seen is not scheduled again, a new one is not traced") {
  const auto f = function(twice, with(Dynamic::yes));
  traces(f, {3, 4});
  const runtime::Counters before = runtime::counters();
  const Tensor x = numbers({4});
  const Floats got = f(x).to_vector<float>();
  CHECK(runtime::counters().schedules_built == before.schedules_built);
  CHECK(got == (x * 2).to_vector<float>());
  CHECK(f.entries()[0].sizes == 2);
  CHECK(f.entries()[0].calls == 3);
  CHECK(f.counts().hits == 2);
}

TEST_CASE("sizes that were different in an earlier call are not taken for one where they are equal") {
  const auto product = [](Tensor x, Tensor y) { return matmul(x, y); };
  const auto f = function(product, with(Dynamic::yes));
  same(f, product, 1, numbers({3, 3}), numbers({3, 7}));
  same(f, product, 2, numbers({5, 7}), numbers({7, 7}));
  same(f, product, 2, numbers({2, 7}), numbers({7, 5}));
  CHECK(f.entries()[1].symbols.size() == 3);
  // Those that were always equal still share a symbol.
  const auto scaled = function(twice, with(Dynamic::yes));
  same(scaled, twice, 1, numbers({3, 3, 3, 5}));
  same(scaled, twice, 2, numbers({4, 4, 5, 5}));
  CHECK(scaled.entries()[1].symbols.size() == 3);
  same(scaled, twice, 2, numbers({7, 7, 8, 9}));
  same(scaled, twice, 3, numbers({7, 8, 8, 9}));
}

TEST_CASE("the sizes that changed become symbols, the others stay") {
  const auto f = function(twice, with(Dynamic::automatic));
  same(f, twice, 1, numbers({2, 3}));
  same(f, twice, 2, numbers({4, 3}));
  same(f, twice, 2, numbers({6, 3}));
  same(f, twice, 3, numbers({6, 5}));
  same(f, twice, 3, numbers({7, 8}));
  CHECK(size_guards(f.entries()[1]) == Texts{"x.size(1) == 3", "x.size(0) >= 2"});
  CHECK(size_guards(f.entries()[2]) == Texts{"x.size(0) >= 2", "x.size(1) >= 2"});
  CHECK(f.entries()[2].symbols == Texts{"s0 = x.size(0), at least 2", "s1 = x.size(1), at least 2"});
}

TEST_CASE("equal sizes share a symbol where all are dynamic, and not where they changed") {
  const auto shared = function(twice, with(Dynamic::yes));
  same(shared, twice, 1, numbers({4, 4}));
  same(shared, twice, 1, numbers({5, 5}));
  same(shared, twice, 2, numbers({4, 5}));
  CHECK(size_guards(shared.entries()[0]) == Texts{"x.size(0) >= 2", "x.size(0) == x.size(1)"});
  const auto apart = function(twice, with(Dynamic::automatic));
  same(apart, twice, 1, numbers({4, 4}));
  same(apart, twice, 2, numbers({5, 5}));
  same(apart, twice, 2, numbers({4, 5}));
}

TEST_CASE("marked sizes") {
  const auto f = function(twice, with(Dynamic::no));
  Tensor x = numbers({4, 3});
  mark_dynamic(x, 0, {.name = "batch", .hi = 8, .multiple_of = 2});
  same(f, twice, 1, x);
  same(f, twice, 1, numbers({8, 3}));
  same(f, twice, 2, numbers({10, 3}));
  same(f, twice, 3, numbers({5, 3}));
  CHECK(size_guards(f.entries()[0]) ==
        Texts{"x.size(1) == 3", "x.size(0) >= 2", "x.size(0) <= 8", "x.size(0) % 2 == 0"});

  const auto pair = [](Tensor a, Tensor b) { return a + b; };
  const auto g = function(pair, with(Dynamic::no));
  Tensor y = numbers({4, 3});
  mark_dynamic(y, 0, {.name = "batch"});
  same(g, pair, 1, x, y);
  same(g, pair, 1, numbers({6, 3}), numbers({6, 3}));
  Tensor longer = numbers({6, 3});
  mark_dynamic(longer, 0, {.name = "batch"});
  CHECK_THROWS_WITH_AS(function(pair)(x, longer), doctest::Contains("sizes of one name must be equal"), ArgumentError);

  // Each of two sizes of one name keeps its own statement.
  const auto both = function(pair, with(Dynamic::no));
  Tensor left = numbers({4, 3}), right = numbers({4, 3});
  mark_dynamic(left, 0, {.name = "rows", .hi = 8});
  mark_dynamic(right, 0, {.name = "rows", .lo = 3, .multiple_of = 2});
  same(both, pair, 1, left, right);
  same(both, pair, 1, numbers({8, 3}), numbers({8, 3}));
  same(both, pair, 2, numbers({2, 3}), numbers({2, 3}));
  same(both, pair, 3, numbers({5, 3}), numbers({5, 3}));
  same(both, pair, 4, numbers({10, 3}), numbers({10, 3}));

  const auto h = function(twice, with(Dynamic::yes));
  Tensor z = numbers({4, 3});
  mark_static(z, 1);
  same(h, twice, 1, z);
  same(h, twice, 1, numbers({7, 3}));
  same(h, twice, 2, numbers({7, 4}));

  CHECK_THROWS_AS(mark_dynamic(x, 2), ShapeError);
  CHECK_THROWS_WITH_AS(mark_dynamic(x, 0, {.lo = 5}), doctest::Contains("stated to be from 5"), ArgumentError);
  CHECK_THROWS_WITH_AS(
      mark_dynamic(x.transpose(), 0),
      doctest::Contains("is a view, and only a tensor with memory of its own can be marked; mark the tensor that it "
                        "shows, or a copy of the view (x + 0), or let FunctionOptions::dynamic choose"),
      ArgumentError);
  CHECK_THROWS_WITH_AS(mark_dynamic(x, 0, {.multiple_of = 0}), doctest::Contains("at least 1"), ArgumentError);
}

TEST_CASE("a mark that the trace breaks is an error and leaves no entry") {
  const auto f = function([](Tensor x) { return x.size(0) == 4 ? x + 1 : x; }, with(Dynamic::no));
  Tensor x = numbers({4});
  mark_dynamic(x, 0);
  CHECK_THROWS_WITH_AS(f(x), doctest::Contains(", but the trace needs it to be 4 (guards: x.size(0) == 4"),
                       ArgumentError);
  CHECK(f.entries().empty());
}

}  // namespace function_symbols_test
