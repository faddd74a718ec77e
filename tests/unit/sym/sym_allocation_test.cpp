// How sizes of inputs become symbols, and what is assumed about them.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "unit/sym/environments.hpp"

namespace sym_allocation_test {

using namespace oriel;
using test::Strings;
using test::symbol_named;

namespace {

Strings entry_texts(const ShapeEnv& env) {
  Strings texts;
  for (const auto& check : env.entry_checks()) texts.push_back(check.str());
  return texts;
}

}  // namespace

TEST_CASE("a size is a symbol of at least 2; 0 and 1 are numbers") {
  ShapeEnv env;
  const SymInt five = env.size(5, "x.size(0)");
  CHECK(to_string(five) == "s0");
  CHECK(symbol_named(env, "s0").range.lo == 2);
  CHECK(symbol_named(env, "s0").source == "x.size(0)");
  CHECK(bool(five != 1));
  CHECK(env.size(1, "x.size(1)").value() == 1);
  CHECK(env.size(0, "x.size(2)").value() == 0);
  CHECK(env.guards().empty());
  CHECK(entry_texts(env) == Strings{"x.size(1) == 1", "x.size(2) == 0"});
  CHECK_THROWS_WITH_AS(env.size(-1, "x"), "size: a size must be at least 0, but -1 came", ArgumentError);
}

TEST_CASE("without specialisation a size is at least 0, and the comparison with 1 is a guard") {
  ShapeEnv env(ShapeEnv::Options{.specialize_zero_one = false});
  CHECK(bool(env.size(5, "x.size(0)") != 1));
  CHECK(symbol_named(env, "s0").range.lo == 0);
  CHECK(env.guards().size() == 1);
  CHECK(env.size(1, "x.size(1)").is_symbolic());
}

TEST_CASE("an integer that is not a size may have any value") {
  ShapeEnv env;
  CHECK(env.integer(1, "k").is_symbolic());
  CHECK_FALSE(symbol_named(env, "s0").range.lo.has_value());
}

TEST_CASE("equal sizes share a symbol, which the entry checks") {
  ShapeEnv env;
  const SymInt a = env.size(5, "x.size(0)");
  const SymInt b = env.size(5, "x.size(1)");
  CHECK(bool(a == b));
  CHECK(env.guards().empty());
  CHECK(entry_texts(env) == Strings{"x.size(1) == x.size(0)"});

  ShapeEnv apart(ShapeEnv::Options{.duck_shape = false});
  CHECK(bool(apart.size(5, "x.size(0)") == apart.size(5, "x.size(1)")));
  CHECK(apart.guards().size() == 1);
  CHECK(entry_texts(apart).empty());
}

TEST_CASE("policies") {
  ShapeEnv env;
  const SymInt duck = env.size(5, "x.size(0)");
  CHECK_FALSE(env.size(5, "x.size(1)", SizePolicy::fixed).is_symbolic());
  CHECK(entry_texts(env) == Strings{"x.size(1) == 5"});
  const SymInt dynamic = env.size(5, "x.size(2)", SizePolicy::dynamic);
  CHECK(to_string(dynamic) != to_string(duck));
  const SymInt unbacked = env.size(5, "x.size(3)", SizePolicy::unbacked);
  CHECK(to_string(unbacked) == "u0");
  CHECK(symbol_named(env, "u0").size_like);
  CHECK(symbol_named(env, "u0").range.lo == 0);
}

TEST_CASE("marks with bounds") {
  ShapeEnv env;
  CHECK_FALSE(env.marked_size(4, "x.size(0)", {4, 4}).is_symbolic());
  CHECK_THROWS_WITH_AS(env.marked_size(5, "x.size(0)", {4, 4}), "mark_dynamic: x.size(0): 5 not in range [4, 4]",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(env.marked_size(6, "x.size(0)", {2, 5}), "mark_dynamic: x.size(0): 6 not in range [2, 5]",
                       ArgumentError);
  const SymInt marked = env.marked_size(4, "x.size(1)", {2, 64});
  CHECK(bool(marked <= 64));
  CHECK(env.guards().empty());
  CHECK(symbol_named(env, to_string(marked)).range.hi == 64);
  CHECK_FALSE(env.marked_size(1, "x.size(2)", {}).is_symbolic());
  CHECK_THROWS_WITH_AS(
      env.marked_size(1, "x.size(2)", {0, 64}),
      "mark_dynamic: x.size(2) is marked with a range, but its size 1 is specialised; call first with a "
      "size of 2 or more",
      ArgumentError);
}

TEST_CASE("the branch on the size of a concatenation") {
  SUBCASE("sizes of at least 2 decide it") {
    ShapeEnv env;
    CHECK(bool(env.size(2, "x.size(0)") + env.size(3, "y.size(0)") > 2));
    CHECK(env.guards().empty());
  }
  SUBCASE("from 0 on it is a guard") {
    ShapeEnv env(ShapeEnv::Options{.specialize_zero_one = false});
    CHECK(bool(env.size(2, "x.size(0)") + env.size(3, "y.size(0)") > 2));
    CHECK(test::guard_texts(env) == Strings{"s0 + s1 > 2"});
  }
  SUBCASE("or its opposite") {
    ShapeEnv env(ShapeEnv::Options{.specialize_zero_one = false, .duck_shape = false});
    CHECK_FALSE(bool(env.size(1, "x.size(0)") + env.size(1, "y.size(0)") > 2));
    CHECK(test::guard_texts(env) == Strings{"s0 + s1 <= 2"});
  }
  SUBCASE("a size of 0 and one of at most 2") {
    ShapeEnv env;
    const SymInt s = env.size(2, "y.size(0)");
    CHECK_FALSE(bool(env.size(0, "x.size(0)") + s > 2));
    CHECK(test::guard_texts(env) == Strings{"s0 <= 2"});
    CHECK(to_string(env.simplify(s)) == "2");
  }
}

}  // namespace sym_allocation_test
