// What a ShapeEnv records and learns when conditions become bools.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "unit/sym/environments.hpp"

namespace sym_guards_test {

using namespace oriel;
using test::guard_texts;
using test::Strings;
using test::symbol_named;

namespace {
constexpr SymBounds kSize{2, {}};
}

TEST_CASE("ranges decide without a guard") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  CHECK((s0 != 1) == true);
  CHECK_FALSE(bool(s0 == 0));
  CHECK(bool(s0 > 0));
  CHECK(bool(s0 >= 2));
  CHECK(bool(sym_select(s0 >= 2, 1, 0) == 1));  // the truth value of a comparison, as a size
  CHECK(guard_texts(env).empty());
}

TEST_CASE("a stronger guard takes the place of a weaker one, and repeats add nothing") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 5, kSize);
  CHECK(bool(s0 > 1));
  CHECK(bool(s0 > 2));
  CHECK(bool(s0 > 2));
  CHECK(bool(2 < s0));
  CHECK_FALSE(bool(s0 <= 2));
  CHECK(guard_texts(env) == Strings{"s0 > 2"});
  CHECK(bool(s0 > 3));
  CHECK(guard_texts(env) == Strings{"s0 > 3"});
}

TEST_CASE("an equation makes a constant") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 4, kSize);
  CHECK(bool(s0 == 4));
  CHECK(to_string(env.simplify(s0 + 3)) == "7");
  CHECK_FALSE(bool(s0 > 10));
  CHECK(guard_texts(env) == Strings{"s0 == 4"});
  CHECK(symbol_named(env, "s0").replacement == "4");
}

TEST_CASE("sums of sizes") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 2, kSize);
  const SymInt s1 = env.symbol("s1", 3, kSize);
  CHECK(bool(s0 + s1 > 2));
  CHECK(guard_texts(env).empty());
  CHECK(bool(s0 + s1 > 4));
  CHECK(guard_texts(env) == Strings{"s0 + s1 > 4"});
}

TEST_CASE("an equation replaces the symbol of the larger hint") {
  SUBCASE("a multiple") {
    ShapeEnv env;
    const SymInt s0 = env.symbol("s0", 6, kSize);
    const SymInt s1 = env.symbol("s1", 3, kSize);
    CHECK(bool(s0 == 2 * s1));
    CHECK(guard_texts(env) == Strings{"s0 == 2*s1"});
    CHECK(symbol_named(env, "s0").replacement == "2*s1");
    CHECK(to_string(env.simplify(s0 - 2 * s1)) == "0");
  }
  SUBCASE("a sum") {
    ShapeEnv env;
    const SymInt s0 = env.symbol("s0", 3, kSize);
    const SymInt s1 = env.symbol("s1", 4, kSize);
    CHECK(bool(s0 + s1 == 7));
    CHECK(guard_texts(env) == Strings{"s0 + s1 == 7"});
    CHECK(symbol_named(env, "s1").replacement == "7 - s0");
    CHECK(to_string(env.simplify(s0 + s1)) == "7");
    CHECK(symbol_named(env, "s0").range.hi == 5);  // because s1 is at least 2
  }
  SUBCASE("a product, which has no solution in integers") {
    ShapeEnv env;
    const SymInt s0 = env.symbol("s0", 3, kSize);
    const SymInt s1 = env.symbol("s1", 4, kSize);
    CHECK(bool(s0 * s1 == 12));
    CHECK((s0 * s1).value() == 12);  // its guard is the one recorded before
    CHECK(guard_texts(env) == Strings{"s0*s1 == 12"});
    CHECK(symbol_named(env, "s0").replacement.empty());
    CHECK(symbol_named(env, "s1").replacement.empty());
  }
}

TEST_CASE("a remainder that is known makes divisions exact") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 10, kSize);
  CHECK(bool(s0 % 5 == 0));
  CHECK(bool(2 * s0 % 2 == 0));
  CHECK(bool(s0 / 5 * 5 == s0));
  CHECK(bool(s0 % 10 == 0) == true);
  CHECK(guard_texts(env) == Strings{"s0 % 10 == 0"});
}

TEST_CASE("a condition that the hints refuse is recorded as its negation") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 10, kSize);
  CHECK_FALSE(bool(s0 < 5));
  CHECK_FALSE(bool(s0 == 3));  // decided by s0 >= 5
  CHECK(guard_texts(env) == Strings{"s0 >= 5"});
  CHECK_FALSE(bool(s0 == 7));
  CHECK(guard_texts(env) == Strings{"s0 >= 5", "s0 != 7"});
}

TEST_CASE("products of sizes") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 3, kSize);
  const SymInt s1 = env.symbol("s1", 7, kSize);
  CHECK(bool(s0 * s1 > s1));
  CHECK(bool(s0 * s1 >= 4));
  CHECK(guard_texts(env).empty());
  CHECK(bool(s0 * s1 > 4));
  CHECK(guard_texts(env) == Strings{"s0*s1 > 4"});
}

TEST_CASE("turning a size into an int records a guard, and then the size is a constant everywhere") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 5);
  CHECK(s.value() == 5);
  CHECK(guard_texts(env) == Strings{"s == 5"});
  CHECK(to_string(env.simplify(s * 2)) == "10");
  CHECK(s.value() == 5);
  CHECK(guard_texts(env).size() == 1);
  ShapeEnv other;
  CHECK(other.symbol("s", 2).value() == 2);
  CHECK(guard_texts(other) == Strings{"s == 2"});
}

TEST_CASE("comparing a selection guards on all of it") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 7);
  const SymInt chosen = sym_select(s > 3, s, 2 * s);
  CHECK(guard_texts(env).empty());
  CHECK_FALSE(bool(chosen == 5));
  CHECK(guard_texts(env) == Strings{"select(s > 3, s, 2*s) != 5"});
}

TEST_CASE("joining conditions records nothing, nor does a constant condition") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 7);
  const SymInt t = env.symbol("t", 3);
  const SymBool both = (s > 3) & (t == 3);
  const SymBool one = (s > 3) | (t == 3);
  const SymBool neither = both.negated();
  CHECK(to_string(both) == "s > 3 and t == 3");
  CHECK(to_string(one) == "s > 3 or t == 3");
  CHECK(to_string(neither) == "s <= 3 or t != 3");
  CHECK(bool((s > 3) | SymBool(true)));
  CHECK(bool(s == s));
  CHECK(guard_texts(env).empty());
  CHECK(bool(both));
  CHECK(guard_texts(env) == Strings{"s > 3 and t == 3"});
  CHECK(to_string(env.simplify(t)) == "3");
}

TEST_CASE("held divisibility makes a quotient of quotients static") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 8, kSize);
  CHECK(bool(s % 2 == 0));
  CHECK(bool(s % (s / 2) == 0));
  CHECK(bool(2 * (s / 2) == s));
  const std::size_t before = env.guards().size();
  CHECK(bool(s / (s / 2) == 2));
  CHECK(env.guards().size() == before);
  CHECK(env.known(s / (s / 2) == 2) == true);
}

TEST_CASE("ranges that guards narrow") {
  SUBCASE("one inequality narrows both sides") {
    ShapeEnv env;
    const SymInt x = env.symbol("x", 80, {0, 100});
    const SymInt y = env.symbol("y", 60, {50, 150});
    CHECK(bool(x > y));
    CHECK(symbol_named(env, "x").range.lo == 51);
    CHECK(symbol_named(env, "x").range.hi == 100);
    CHECK(symbol_named(env, "y").range.hi == 99);
  }
  SUBCASE("a range of one value is a constant") {
    ShapeEnv env;
    const SymInt s = env.symbol("s", 2, kSize);
    CHECK(bool(s <= 2));
    CHECK(guard_texts(env) == Strings{"s <= 2"});
    CHECK(symbol_named(env, "s").replacement == "2");
  }
  SUBCASE("a hole at the end") {
    ShapeEnv env;
    const SymInt s = env.symbol("s", 5, kSize);
    CHECK(bool(s != 2));
    CHECK(bool(s >= 3));
    CHECK(guard_texts(env) == Strings{"s != 2"});
  }
}

TEST_CASE("conditions that a guard on one symbol decides") {
  const auto known = [](std::int64_t hint, auto ask, auto then) {
    ShapeEnv env;
    const SymInt s = env.symbol("s", hint);
    static_cast<void>(bool(ask(s)));
    CHECK(env.guards().size() == 1);
    return env.known(then(s));
  };
  const auto more_than_4 = [&](auto then) {
    CHECK(known(
              10, [](SymInt s) { return 4 < s; }, then) ==
          known(
              10, [](SymInt s) { return s > 4; }, then));
    CHECK(known(
              10, [](SymInt s) { return s >= 5; }, then) ==
          known(
              10, [](SymInt s) { return s > 4; }, then));
    CHECK(known(
              10, [](SymInt s) { return 5 <= s; }, then) ==
          known(
              10, [](SymInt s) { return s > 4; }, then));
    return known(
        10, [](SymInt s) { return s > 4; }, then);
  };
  CHECK(more_than_4([](SymInt s) { return s != 3; }) == true);
  CHECK(more_than_4([](SymInt s) { return s != 4; }) == true);
  CHECK_FALSE(more_than_4([](SymInt s) { return s != 5; }).has_value());
  CHECK(more_than_4([](SymInt s) { return s > 4; }) == true);
  CHECK(more_than_4([](SymInt s) { return s >= 5; }) == true);
  const auto refused = [&](auto then) {
    return known(
        2, [](SymInt s) { return s > 4; }, then);
  };
  CHECK(refused([](SymInt s) { return s <= 4; }) == true);
  CHECK(refused([](SymInt s) { return s < 5; }) == true);
  CHECK(refused([](SymInt s) { return s != 5; }) == true);
  CHECK_FALSE(refused([](SymInt s) { return s != 4; }).has_value());
  const auto less_than_4 = [&](auto then) {
    return known(
        2, [](SymInt s) { return s < 4; }, then);
  };
  CHECK(less_than_4([](SymInt s) { return s != 4; }) == true);
  CHECK(less_than_4([](SymInt s) { return s != 5; }) == true);
  CHECK_FALSE(less_than_4([](SymInt s) { return s != 3; }).has_value());
  CHECK(less_than_4([](SymInt s) { return s <= 3; }) == true);
}

TEST_CASE("several guards leave one point") {
  ShapeEnv env;
  const SymInt a = env.symbol("a", 5, kSize);
  const SymInt b = env.symbol("b", 5, kSize);
  CHECK(bool(a >= b));
  CHECK(bool(a <= b));
  CHECK(bool(a + b == 10));
  CHECK(to_string(env.simplify(a)) == "5");
  CHECK(to_string(env.simplify(b)) == "5");
  CHECK(bool(a == 5));
  CHECK(env.guards().size() == 3);
}

TEST_CASE("a guard that later ones imply is dropped") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 12, kSize);
  CHECK(bool(s0 * s0 / 2 > 39));
  CHECK(bool(s0 + s0 > 18));
  CHECK(guard_texts(env) == Strings{"2*s0 > 18"});
}

TEST_CASE("guards name the lines that branched") {
  ShapeEnv env;
  const SymInt s0 = env.symbol("s0", 12, kSize, "x.size(0)");
  CHECK(env.guard(s0 > 4));
  const int line = __LINE__ - 1;
  CHECK(env.guards()[0].site.line == line);
  CHECK(env.guards()[0].str() == "s0 > 4");
  CHECK(env.symbols()[0].source == "x.size(0)");
  CHECK(bool(s0 > 5));
  CHECK(env.guards()[0].site.file == nullptr);
}

TEST_CASE("a condition without a value at the hints is an error, and records nothing") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 2);
  CHECK_THROWS_AS(static_cast<void>(bool(5 / (s - 2) == 1)), ArgumentError);
  CHECK_THROWS_AS(static_cast<void>(bool(s * INT64_MAX > 3)), OverflowError);
  CHECK(env.guards().empty());
}

TEST_CASE("questions about sizes near the largest number have answers") {
  // The search for a counterexample steps around the hint, and tries multiples of it.
  ShapeEnv env;
  const SymInt s = env.symbol("s", INT64_MAX - 3, kSize);
  const SymInt t = env.symbol("t", INT64_MAX / 64, kSize);
  CHECK(bool(s % 7 == (INT64_MAX - 3) % 7));
  CHECK(bool(t % 5 == INT64_MAX / 64 % 5));
  CHECK_FALSE(bool(t % 3 == (INT64_MAX / 64 + 1) % 3));
  CHECK(env.guards().size() == 3);
}

TEST_CASE("symbols are checked") {
  ShapeEnv env;
  ShapeEnv other;
  const SymInt s = env.symbol("s", 4);
  CHECK_THROWS_WITH_AS(env.symbol("s", 4), "symbol: there is a symbol 's' already", ArgumentError);
  CHECK_THROWS_WITH_AS(env.symbol("a b", 4), "symbol: 'a b' is no name; use letters, digits and underscores",
                       ArgumentError);
  CHECK_THROWS_WITH_AS(env.symbol("t", 6, {2, 5}), "symbol: 6 not in range [2, 5] of t", ArgumentError);
  CHECK_THROWS_WITH_AS(other.known(s > 2), "symbolic size: 's > 2' belongs to another environment", ArgumentError);
  CHECK_THROWS_WITH_AS(s + other.symbol("s", 4), "symbolic size: expressions of two environments do not mix",
                       ArgumentError);
}

}  // namespace sym_guards_test
