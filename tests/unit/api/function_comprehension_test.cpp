// Comprehensions in captured functions over symbolic sizes: ranges are formulas, conditions on sizes are guards or
// deferred checks.
#include <doctest/doctest.h>

#include "formula/call.hpp"
#include "graph/build.hpp"
#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_comprehension_test {

using namespace oriel;
using test::numbers;
using test::same;
using test::size_guards;
using test::with;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ranges that hold for all sizes take no guard") {
  const auto f = [](Tensor x, Tensor w) {
    return comprehension("def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }")(x, w)
        .tensor();
  };
  const auto captured = function(f, with(Dynamic::yes));
  same(captured, f, 1, numbers({3, 4}), numbers({4, 5}));
  same(captured, f, 1, numbers({7, 2}), numbers({2, 6}));
  CHECK(size_guards(captured.entries()[0]) ==
        Texts{"x.size(0) >= 2", "x.size(1) >= 2", "y.size(1) >= 2", "x.size(1) == y.size(0)"});
  const auto halves = [](Tensor x) {
    return comprehension("def f(float(N) X) -> (Y) { Y(i) = X(N - 1 - 2*i) * N + i }")(x).tensor();
  };
  const auto half = function(halves, with(Dynamic::yes));
  for (const std::int64_t n : {5, 8, 2, 31}) same(half, halves, 1, numbers({n}));
  CHECK(size_guards(half.entries()[0]) == Texts{"x.size(0) >= 2"});
}

TEST_CASE("what a range needs is a guard at the line of the statement") {
  const auto f = [](Tensor x, Tensor w) {
    return comprehension("def conv(float(I) B, float(N) K) -> (A) {\n  A(i) +=! B(i + k) * K(k)\n}", {}, "conv.tc")(x,
                                                                                                                    w)
        .tensor();
  };
  const auto captured = function(f, with(Dynamic::yes));
  same(captured, f, 1, numbers({9}), numbers({3}));
  same(captured, f, 1, numbers({20}), numbers({4}));
  same(captured, f, 1, numbers({4}), numbers({4}));
  const Texts guards = size_guards(captured.entries()[0]);
  REQUIRE(guards.size() == 3);
  CHECK(guards[2] == "y.size(0) <= x.size(0) (conv.tc:2)");
  CHECK_THROWS_WITH_AS(captured(numbers({3}), numbers({4})).to_vector<float>(),
                       doctest::Contains("no value of 'i' keeps its accesses in bounds"), ComprehensionError);
}

TEST_CASE("preconditions of other accesses, declared sizes and sizes of one name are guards") {
  const auto sums = [](Tensor x, Tensor y, Tensor z) {
    return comprehension("def f(float(I) B, float(K) C, float(J) D) -> (A) { A(i, j) = B(i) * C(i + j) * D(j) }")(x, y,
                                                                                                                  z)
        .tensor();
  };
  const auto captured = function(sums, with(Dynamic::yes));
  same(captured, sums, 1, numbers({4}), numbers({7}), numbers({3}));
  same(captured, sums, 1, numbers({5}), numbers({11}), numbers({6}));
  CHECK_THROWS_WITH_AS(captured(numbers({5}), numbers({8}), numbers({6})), doctest::Contains("precondition_violated"),
                       ComprehensionError);
  const auto both = [](Tensor x, Tensor y) {
    return comprehension("def f(float(I) A, float(I) B) -> (Y) { Y(i) = A(i) * B(I - 1 - i) }")(x, y).tensor();
  };
  const auto apart = function(both, with(Dynamic::yes));
  same(apart, both, 1, numbers({4}), numbers({4}));
  same(apart, both, 1, numbers({9}), numbers({9}));
  CHECK_THROWS_WITH_AS(apart(numbers({4}), numbers({5})), doctest::Contains("size_mismatch"), ComprehensionError);
}

TEST_CASE("guarded accesses, quotients and several statements serve other sizes") {
  for (const char* text : {
           "def f(float(N) X) -> (Y) { Y(i) = i < N ? X(i) : X(i - N) where i in 0:2*N }",
           "def f(float(N) X) -> (Y) { Y(i) = X(i / 2) where i in 0:2*N }",
           "def f(float(N) X) -> (Y) { Y(i) = X(i % N) where i in 0:3*N }",
           "def f(float(N) X) -> (Y) { Y(i) +=! (i + k - 1 >= 0 && i + k - 1 < N ? X(i + k - 1) : 0.5) where i in 0:N, "
           "k in 0:3 }",
           "def f(float(N) X) -> (Z) { Y(i) = X(i - 1)  Z(i) = Y(2*i) }",
           "def f(float(N) X) -> (Y) { Y(i) = X(i)  Y(i) += X(N - 1 - i) }",
           "def f(float(N) X) -> (Y) { Y(i) = X(max(min(2*i, N - 1), 0)) where i in 0:N }",
       }) {
    CAPTURE(text);
    static const char* current;
    current = text;
    const auto f = [](Tensor x) { return comprehension(current)(x).tensor(); };
    const auto captured = function(f, with(Dynamic::yes));
    for (const std::int64_t n : {5, 8, 2, 31}) same(captured, f, 1, numbers({n}));
    CHECK(size_guards(captured.entries()[0]) == Texts{"x.size(0) >= 2"});
  }
}

TEST_CASE("a range without a formula fixes its sizes") {
  const auto f = [](Tensor x) { return comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i*i) }")(x).tensor(); };
  const auto captured = function(f, with(Dynamic::yes));
  same(captured, f, 1, numbers({9}));
  same(captured, f, 2, numbers({16}));
}

TEST_CASE("conditions on unbacked sizes are checked when the work runs") {
  ShapeEnv env;
  const SymInt n = env.unbacked();
  const SymInt k = env.unbacked();
  env.constrain_range(n, {1, {}});
  env.constrain_range(k, {1, {}});
  const auto tensor = [](SymInt size) {
    return detail::Access::tensor(graph::size_constant(1, DType::float32, {size}));
  };
  const auto conv = comprehension("def conv(float(I) B, float(N) K) -> (A) { A(i) +=! B(i + k) * K(k) }");
  const Tensor y = conv(tensor(n), tensor(k)).tensor();
  CHECK(to_string(y.shape()) == "(u0 - u1 + 1)");
  const auto deferred = env.deferred_checks();
  REQUIRE(deferred.size() == 1);
  CHECK(to_string(deferred[0].condition) == "u1 <= u0");
  CHECK(env.guards().empty());
  const SymInt most = env.unbacked();
  env.constrain_range(most, {1, 3});
  CHECK_THROWS_WITH_AS(conv(tensor(most), Tensor::generate({5}, [](auto) { return 1.0F; })),
                       doctest::Contains("'i' needs a value that keeps its accesses in bounds, which no sizes satisfy"),
                       ComprehensionError);
}

TEST_CASE("a text that divides by a size takes one that depends on data") {
  constexpr const char* kFlat = "def f(float(N, M) X) -> (Y) { Y(k) = X(k / M, k % M) where k in 0:N*M }";
  static const char* const text = kFlat;
  const auto chosen = [](const Tensor& x) { return take(x, nonzero(sum(x, 1) > 0).reshape({-1}), 0); };
  static const auto& rows = chosen;
  const auto check = [](const auto& program) {
    const auto f = function(program, with(Dynamic::yes));
    for (const std::int64_t positive : {3, 1, 2, 5}) {
      const Tensor x = Tensor::generate(
          {5, 4}, [&](auto i) { return i[0] < positive ? static_cast<float>(i[0] * 4 + i[1] + 1) : -1.0F; });
      const Tensor got = f(x), want = program(x);
      CHECK(got.shape() == want.shape());
      CHECK(got.to_vector<float>() == want.to_vector<float>());
    }
    const Tensor none = full({5, 4}, -1.0F);
    CHECK_THROWS_AS(f(none), UserError);  // a where clause over symbolic sizes must have a value
    CHECK(f.counts().traces == 1);
  };
  check([](Tensor x) { return comprehension(text)(rows(x)).tensor(); });
  check([](Tensor x) { return comprehension(text)(rows(x).transpose()).tensor(); });
}

}  // namespace function_comprehension_test
