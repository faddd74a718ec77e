// Sizes that a captured function returns, and sizes that its callable keeps elsewhere.
#include <doctest/doctest.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/captured_functions.hpp"

namespace function_sizes_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Measured {
  Tensor scaled;
  SymInt count;
  SymBool even;
  Shape halves;
};
auto oriel_members(Measured& m) { return std::tie(m.scaled, m.count, m.even, m.halves); }
auto oriel_members(const Measured& m) { return std::tie(m.scaled, m.count, m.even, m.halves); }

Measured measured(const Tensor& x) {
  return {x * 2, x.size(0) * x.size(1) - 1, x.size(0) % 2 == 0, {x.size(0) / 2, 3, x.size(1) / 2}};
}

std::optional<SymInt> kept_size;
std::optional<SymBool> kept_condition;
std::optional<Tensor> kept_tensor;

}  // namespace

TEST_CASE("sizes among the results are numbers of the call, and live as long as they like") {
  SymInt n;
  {
    const auto f =
        oriel::function([](Tensor x) { return std::tuple<Tensor, SymInt>(x * 2, x.size(0) * 2); }, with(Dynamic::yes));
    n = std::get<1>(f(ones({3})));
    CHECK(to_string(n) == "6");
    CHECK(!n.is_symbolic());
    CHECK(std::get<1>(f(ones({5}))) == 10);
    CHECK(f.counts().traces == 1);
  }
  CHECK(to_string(n) == "6");
}

TEST_CASE("conditions, shapes and structs of them are numbers of the call, too") {
  const auto f = oriel::function([](Tensor x) { return measured(x); }, with(Dynamic::yes));
  for (const auto& [rows, columns] : {std::pair(4, 7), std::pair(5, 6), std::pair(8, 2)}) {
    const Tensor x = numbers({rows, columns});
    const Measured got = f(x);
    const Measured want = measured(x);
    CHECK(got.scaled.to_vector<float>() == want.scaled.to_vector<float>());
    CHECK(!got.count.is_symbolic());
    CHECK(got.count == want.count);
    CHECK(!got.even.is_symbolic());
    CHECK(static_cast<bool>(got.even) == static_cast<bool>(want.even));
    CHECK(to_string(got.halves) == to_string(want.halves));
  }
  CHECK(f.counts().traces == 1);
  const auto fixed = oriel::function([](Tensor x) { return measured(x); }, with(Dynamic::no));
  CHECK(fixed(numbers({4, 7})).count == 27);
  CHECK(fixed(numbers({4, 6})).count == 23);
}

TEST_CASE("counts that depend on data are results") {
  const auto f = oriel::function(
      [](Tensor x) {
        const Tensor some = masked_select(x, x > 1);
        return std::pair(sum(some), some.size(0) * 2);
      },
      with(Dynamic::yes));
  CHECK(f(Tensor::of<float>({0, 1, 2, 3})).second == 4);
  CHECK(f(Tensor::of<float>({5, 6, 2, 3, 9})).second == 10);
  CHECK(f.counts().traces == 1);
}

TEST_CASE("a size that has no value in a call is an error of the call") {
  const auto f = oriel::function(
      [](Tensor x) {
        const SymInt n = x.size(0) * std::int64_t{1} * (std::int64_t{1} << 60);
        return std::pair(x, n);
      },
      with(Dynamic::yes));
  CHECK(f(ones({3})).second == SymInt(3) * (std::int64_t{1} << 60));
  CHECK_THROWS_WITH_AS(f(ones({9})), doctest::Contains("that it returns does not fit a signed 64-bit integer"),
                       OverflowError);
}

TEST_CASE("a function inside another one returns the sizes of the trace") {
  const auto inner = oriel::function([](Tensor x) { return std::pair(x + 1, x.size(0) + 1); }, with(Dynamic::yes));
  static const auto& called = inner;
  const auto outer = oriel::function(
      [](Tensor x) {
        const auto [y, n] = called(x);
        return std::pair(y * n, n * 2);
      },
      with(Dynamic::yes));
  CHECK(outer(ones({3})).second == 8);
  CHECK(outer(ones({6})).second == 14);
  CHECK(outer(ones({6})).first.to_vector<float>() == std::vector<float>(6, 14));
  CHECK(outer.counts().traces == 1);
}

TEST_CASE("a size or tensor that the callable keeps elsewhere is refused") {
  {
    const auto f = oriel::function(
        [](Tensor x) {
          kept_size = x.size(0) * 2;
          kept_condition = x.size(0) > 7;
          kept_tensor = x * 2;
          return x + 1;
        },
        with(Dynamic::yes));
    f(ones({3}));
    const auto over = doctest::Contains("is a size of a captured function's trace, which has ended");
    CHECK_THROWS_WITH_AS(kept_size->value(), over, ArgumentError);
    CHECK_THROWS_WITH_AS(static_cast<void>(static_cast<bool>(*kept_condition)), over, ArgumentError);
    CHECK_THROWS_WITH_AS(kept_tensor->size(0).value(), over, ArgumentError);
    CHECK_THROWS_AS(kept_tensor->to_vector<float>(), Error);
    CHECK(f(ones({4})).size(0) == 4);
  }
  const auto ended = doctest::Contains("the environment of the size has ended");
  CHECK(kept_size->is_symbolic());
  CHECK_THROWS_WITH_AS(kept_size->value(), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(to_string(*kept_size), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(*kept_size + 1, ended, ArgumentError);
  CHECK_THROWS_WITH_AS(static_cast<void>(static_cast<bool>(*kept_condition)), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(to_string(*kept_condition), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(kept_tensor->str(), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(to_string(kept_tensor->size(0)), ended, ArgumentError);
  CHECK_THROWS_AS(*kept_tensor + 1, Error);
  CHECK_THROWS_AS(kept_tensor->to_vector<float>(), Error);
  kept_tensor.reset();
}

TEST_CASE("a quotient whose divisor may be 0 takes a guard that it is not") {
  const auto callable = [](Tensor x) { return x * (SymInt(6) / (x.size(0) % 2)); };
  const auto f = oriel::function(callable, with(Dynamic::yes));
  CHECK_THROWS_WITH_AS(callable(ones({4})), doctest::Contains("by zero"), ArgumentError);
  CHECK_THROWS_WITH_AS(f(ones({4})), doctest::Contains("the divisor must not be 0"), ArgumentError);
  CHECK(f(ones({5})).to_vector<float>() == std::vector<float>(5, 6));
  CHECK(f(ones({7})).to_vector<float>() == std::vector<float>(7, 6));
  CHECK(f.counts().traces == 1);
  CHECK_THROWS_AS(f(ones({8})), ArgumentError);
}

}  // namespace function_sizes_test
