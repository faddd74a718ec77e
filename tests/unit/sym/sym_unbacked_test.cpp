// Symbols without a hint: branching on them is refused, and statements about them are checked when the work runs.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "oriel/shape.hpp"
#include "unit/sym/environments.hpp"

namespace sym_unbacked_test {

using namespace oriel;
using test::deferred_texts;
using test::guard_texts;
using test::Strings;
using test::symbol_named;

TEST_CASE("names and ranges") {
  ShapeEnv env;
  const SymInt u0 = env.unbacked("nonzero at main.cpp:3");
  const SymInt u1 = env.unbacked();
  CHECK(to_string(u0 + 2 * u1) == "u0 + 2*u1");
  CHECK_FALSE(symbol_named(env, "u0").range.lo.has_value());
  CHECK_FALSE(symbol_named(env, "u0").hint.has_value());
  CHECK_FALSE(env.known(u0 >= 0).has_value());
}

TEST_CASE("branching names the expression, where it is from, and how to go on") {
  ShapeEnv env;
  const SymInt u0 = env.unbacked("nonzero at main.cpp:3");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(bool(u0 == 0)),
      "branch: 'u0 == 0' depends on u0 (nonzero at main.cpp:3), which is known only when the work runs; "
      "state it with expect_true, bound it with constrain_range, or ask with or_false or or_true",
      DataDependentError);
  CHECK_THROWS_AS(static_cast<void>((u0 + 1).value()), DataDependentError);
  CHECK(env.guards().empty());
}

TEST_CASE("a range is stated without a guard") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  env.constrain_range(u, {3, 7});
  CHECK(bool(u >= 3));
  CHECK(bool(u < 8));
  CHECK_THROWS_AS(static_cast<void>(bool(u == 5)), DataDependentError);
  CHECK(symbol_named(env, "u0").range.lo == 3);
  CHECK(symbol_named(env, "u0").range.hi == 7);
  CHECK(env.guards().empty());
  CHECK_THROWS_WITH_AS(env.constrain_range(u, {5, 4}),
                       "constrain_range: the range [5, 4] is empty; lo must not be above hi", ArgumentError);
  CHECK_THROWS_WITH_AS(env.constrain_range(9, {2, 5}), "constrain_range: 9 is in [9, 9], not in range [2, 5]",
                       ArgumentError);
  env.constrain_range(4, {2, 5});
  CHECK_THROWS_WITH_AS(env.constrain_range(u, {9, 12}), "constrain_range: u0 is in [3, 7], not in range [9, 12]",
                       ArgumentError);
}

TEST_CASE("size-like symbols are at least 0, and count as at least 2 where a question may be careless") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  env.constrain_size(u);
  CHECK(symbol_named(env, "u0").range.lo == 0);
  CHECK(symbol_named(env, "u0").size_like);
  CHECK(bool(u >= 0));
  CHECK_FALSE(env.guard_size_oblivious(u == 1));
  CHECK_FALSE(env.guard_size_oblivious(u == 0));
  CHECK(env.guard_size_oblivious(u != 1));
  CHECK_THROWS_AS(env.guard_size_oblivious(u == 5), DataDependentError);
  CHECK_THROWS_AS(static_cast<void>(bool(u == 1)), DataDependentError);
}

TEST_CASE("stating an equation replaces the symbol") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  env.expect_true(u == 0);
  CHECK(to_string(env.simplify(u + 2)) == "2");
  CHECK(bool(u == 0));
  CHECK(deferred_texts(env) == Strings{"u0: u0 == 0"});
  CHECK_THROWS_WITH_AS(env.expect_true(u == 1), "expect_true: 'u0 == 1' does not hold", ArgumentError);
}

TEST_CASE("a stated comparison is checked later and known from then on") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  const SymInt s = env.symbol("s", 4, {2, {}});
  env.expect_true(u < s);
  CHECK(deferred_texts(env) == Strings{"u0: u0 < s"});
  CHECK(bool(u < s));
  CHECK(bool(u != s));
  CHECK_FALSE(bool(u > s));
  CHECK_FALSE(bool(u >= s));
  CHECK(env.guards().empty());
}

TEST_CASE("a statement on symbols with hints is a guard") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 4, {2, {}});
  env.expect_true(s > 3);
  CHECK(guard_texts(env) == Strings{"s > 3"});
  CHECK_THROWS_WITH_AS(env.expect_true(s > 9), "expect_true: 's > 9' does not hold", ArgumentError);
}

TEST_CASE("a check is filed under the unbacked symbol of the highest number") {
  ShapeEnv env;
  std::vector<SymInt> u;
  for (int k = 0; k < 11; ++k) u.push_back(env.unbacked());
  env.expect_true(u[0] + u[1] == 10);
  CHECK(deferred_texts(env) == Strings{"u1: u0 + u1 == 10"});
  CHECK(bool(u[0] + u[1] == 10));
  SymInt sum = 0;
  for (const SymInt symbol : u) sum += symbol;
  env.expect_true(sum > 0);
  CHECK(env.deferred_checks()[1].symbol == "u10");
}

TEST_CASE("defaults where a condition is not known") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  CHECK_FALSE(env.or_false(u == 3));
  CHECK(env.or_true(u == 3));
  CHECK_FALSE(env.or_false(u != u));
  CHECK_FALSE(env.or_true(u != u));
  CHECK(env.or_false(u == u));
  CHECK(env.guards().empty());
}

TEST_CASE("making shapes of unbacked sizes asks nothing") {
  ShapeEnv env;
  const SymInt u = env.unbacked();
  const Shape shape{u, 2, 3};
  const Ints strides = contiguous_strides(shape);
  CHECK(to_string(strides) == "(6, 3, 1)");
  CHECK(to_string(numel(shape)) == "6*u0");
  CHECK(env.guards().empty());
}

}  // namespace sym_unbacked_test
