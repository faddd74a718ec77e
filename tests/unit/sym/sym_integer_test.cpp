// SymInt and SymBool: plain numbers, numbers that look like addresses, and symbols.
#include <doctest/doctest.h>

#include <type_traits>

#include "oriel/error.hpp"
#include "oriel/shape.hpp"
#include "unit/sym/environments.hpp"

namespace sym_integer_test {

using namespace oriel;

static_assert(sizeof(SymInt) == 8 && std::is_trivially_copyable_v<SymInt>);
static_assert(sizeof(SymBool) == 8 && std::is_trivially_copyable_v<SymBool>);
static_assert(SymInt(6) * 7 == 42);

TEST_CASE("every int64 is a plain number") {
  for (const std::int64_t n : {INT64_MIN, INT64_MIN + 1, INT64_MIN + 12345, INT64_MIN + (std::int64_t(1) << 48) - 1,
                               INT64_MIN + (std::int64_t(1) << 48), std::int64_t(-1), INT64_MAX}) {
    const SymInt number = n;
    CHECK(number.value() == n);
    CHECK_FALSE(number.is_symbolic());
    CHECK((number == n) == true);
    CHECK((number <= n) == true);
    CHECK((number != n) == false);
    CHECK(to_string(number) == std::to_string(n));
    CHECK(std::hash<SymInt>{}(number) == std::hash<SymInt>{}(SymInt(n)));
    if (n < INT64_MAX) {
      CHECK((number + 1).value() == n + 1);
      CHECK((number < number + 1) == true);
      CHECK((number + 1 > number) == true);
      CHECK((number >= number + 1) == false);
    }
    if (n > INT64_MIN) CHECK((number - 1).value() == n - 1);
    CHECK((number / 1).value() == n);
    CHECK((number % 2).value() == (n % 2 == 0 ? 0 : 1));
    CHECK((number * 1).value() == n);
  }
  CHECK((SymInt(INT64_MIN) / 3).value() == INT64_MIN / 3 - 1);
  CHECK(SymInt(INT64_MIN) % 3 == 1);
  CHECK_THROWS_AS(SymInt(INT64_MIN + 5) - 6, OverflowError);
}

TEST_CASE("plain conditions") {
  CHECK((SymBool(true) & SymBool(true)) == true);
  CHECK((SymBool(true) & SymBool(false)) == false);
  CHECK((SymBool(false) | SymBool(true)) == true);
  CHECK(SymBool(false).negated());
  CHECK(to_string(SymBool(true)) == "true");
  CHECK(sym_max(3, 5) == 5);
  CHECK(sym_min(3, 5) == 3);
  CHECK(sym_select(true, 3, 5) == 3);
  CHECK(sym_pow(3, 4) == 81);
  CHECK(sym_pow(-1, 1000001) == -1);
  CHECK_THROWS_AS(sym_pow(3, 64), OverflowError);
  CHECK_THROWS_AS(sym_pow(3, -1), ArgumentError);
}

TEST_CASE("arithmetic on symbols makes expressions, in both orders, and no guards") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 2);
  const auto check = [&](SymInt n, const char* text, std::int64_t value) {
    CHECK(n.is_symbolic());
    CHECK(to_string(n) == text);
    CHECK(env.environment().symbols.at_hints(n.node(), "test") == value);
  };
  check(s + 3, "s + 3", 5);
  check(3 + s, "s + 3", 5);
  check(s - 3, "s - 3", -1);
  check(3 - s, "3 - s", 1);
  check(s * 3, "3*s", 6);
  check(3 * s, "3*s", 6);
  check(5 / s, "5 // s", 2);
  check(s / 5, "s // 5", 0);
  check(5 % s, "5 % s", 1);
  check(-7 / s, "(-7) // s", -4);
  check(s % 5, "s % 5", 2);
  check(-s, "-s", -2);
  check(sym_pow(s, 3), "s*s*s", 8);
  check(sym_min(s, 5), "min(5, s)", 2);
  check(sym_max(5, s), "max(5, s)", 5);
  check(sym_select(s > 1, s, 0), "select(s > 1, s, 0)", 2);
  SymInt n = s;
  n += 1;
  n *= 2;
  n -= s;
  check(n, "s + 2", 4);
  CHECK(to_string(s >= 3) == "s >= 3");
  CHECK(to_string(3 < s) == "3 < s");
  CHECK(to_string(s != 4) == "s != 4");
  CHECK(to_string(s <= 4) == "s <= 4");
  CHECK_THROWS_AS(s / 0, ArgumentError);
  CHECK_THROWS_AS(s % 0, ArgumentError);
  CHECK_THROWS_AS(sym_pow(2, s), ArgumentError);
  CHECK(env.guards().empty());
}

TEST_CASE("what folds is a plain number again") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 2);
  CHECK_FALSE((s - s).is_symbolic());
  CHECK((s - s).value() == 0);
  CHECK((s - s + INT64_MIN + 7).value() == INT64_MIN + 7);
  CHECK_FALSE((s == s).is_symbolic());
}

TEST_CASE("shapes of symbols: count, text and hash need no guard; equality does") {
  ShapeEnv env;
  const SymInt s = env.symbol("s", 2);
  const Shape shape{s, 3, s};
  CHECK(to_string(numel(shape)) == "3*s*s");
  CHECK(to_string(shape) == "(s, 3, s)");
  CHECK(hash_value(shape) == hash_value(Shape{s, 3, s}));
  CHECK(hash_value(shape) != hash_value(Shape{s, 3, s + 1}));
  CHECK(env.guards().empty());
  CHECK(shape == Shape{2, 3, 2});
  CHECK(test::guard_texts(env) == test::Strings{"s == 2"});
}

TEST_CASE("an expression knows whether its environment has ended") {
  SymInt n;
  SymBool condition;
  Shape shape;
  {
    ShapeEnv env;
    const SymInt s = env.symbol("s", 5);
    n = s * 2;
    condition = s > 3;
    shape = {s, 4};
    ShapeEnv moved = std::move(env);
    CHECK(to_string(n) == "2*s");
  }
  const auto ended = doctest::Contains("the environment of the size has ended");
  CHECK(n.is_symbolic());
  CHECK_THROWS_WITH_AS(n.value(), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(n + 1, ended, ArgumentError);
  CHECK_THROWS_WITH_AS(1 % n, ended, ArgumentError);
  CHECK_THROWS_WITH_AS(n == 3, ended, ArgumentError);
  CHECK_THROWS_WITH_AS(to_string(n), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(sym_max(n, 3), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(static_cast<void>(bool(condition)), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(condition & (n == n), ended, ArgumentError);
  CHECK_THROWS_WITH_AS(numel(shape), ended, ArgumentError);
  static_cast<void>(std::hash<SymInt>()(n));
  // Another environment, even one at the same place in memory, is not taken for the old one.
  for (int k = 0; k < 100; ++k) {
    ShapeEnv other;
    CHECK(to_string(other.symbol("t", 7) * 2) == "2*t");
    CHECK_THROWS_AS(to_string(n), ArgumentError);
  }
}

}  // namespace sym_integer_test
