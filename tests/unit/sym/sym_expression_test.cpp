// Expressions: canonical form, printing, simplification, values and substitution.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "oriel/error.hpp"
#include "oriel/shape.hpp"
#include "sym/build.hpp"
#include "sym/print.hpp"
#include "sym/program.hpp"
#include "unit/sym/environments.hpp"

namespace sym_expression_test {

using namespace oriel;
using namespace oriel::sym;
using test::read;

namespace {

// Prints an expression over symbols without bounds in the notebook's notation.
std::string notebook(const std::string& text) {
  Pool pool;
  return to_string(read(pool, text), Notation::notebook);
}

std::string infix(const std::string& text, Interval bounds = {}) {
  Pool pool;
  return to_string(read(pool, text, bounds));
}

}  // namespace

TEST_CASE("numbers stand first in products, symbols in the order of names, and zeros vanish") {
  CHECK(notebook("x3*x1*x2") == "x1*x2*x3");
  CHECK(notebook("s0*2") == "2*s0");
  CHECK(notebook("max(1, x)*5") == "5*Max(1, x)");
  CHECK(notebook("s10*s9") == "s9*s10");
  CHECK(infix("x*0 + y") == "y");
  CHECK(infix("2*3 + 4") == "10");
  CHECK(notebook("x*x*y") == "x**2*y");
  CHECK(infix("x*x*y") == "x*x*y");
}

TEST_CASE("sums are in the order of names, and equal sums are one expression") {
  CHECK(infix("s1 + s0") == "s0 + s1");
  CHECK(infix("x + x") == "2*x");
  CHECK(infix("(a + b) - b") == "a");
  CHECK(infix("7 - s0") == "7 - s0");
  CHECK(infix("s0 - s1") == "s0 - s1");
  CHECK(infix("s1 - s0") == "s1 - s0");
  CHECK(infix("-(a // 4)") == "-(a // 4)");
  CHECK(infix("3 - a // 4") == "3 - a // 4");
  CHECK(infix("2*(a % 4) - 1") == "2*(a % 4) - 1");
  Pool pool;
  CHECK(read(pool, "a + 2*b + c*d") == read(pool, "d*c + b + a + b"));
  CHECK(read(pool, "(a + b)*(a - b)") == read(pool, "a*a - b*b"));
  CHECK(read(pool, "8*a + 8*b") == read(pool, "8*(b + a)"));
}

TEST_CASE("extremes: constants first, flat, and without arguments that are never the extreme") {
  CHECK(notebook("max(x, 1)") == "Max(1, x)");
  CHECK(notebook("max(1, max(257, u))") == "Max(257, u)");
  CHECK(infix("max(a, max(b, a))") == "max(a, b)");
  CHECK(infix("max(a, a + 1)") == "a + 1");
  CHECK(infix("min(a, min(b, c))") == "min(a, b, c)");
  CHECK(infix("max(1, p)", Interval::at_least(1)) == "p");
  CHECK(infix("min(3, p)", Interval::at_least(4)) == "3");
}

TEST_CASE("equations keep their sides; equal forms are true") {
  CHECK(notebook("y1 == x3") == "Eq(y1, x3)");
  CHECK(notebook("not y1 == x3") == "Ne(y1, x3)");
  CHECK(notebook("2 == 3") == "False");
  CHECK(notebook("x + y == y + x") == "True");
  CHECK(infix("not (a < b)") == "a >= b");
  CHECK(infix("not (a <= b and c == d)") == "a > b or c != d");
  CHECK(infix("2*x == 7") == "False");
  CHECK(infix("x < y or x >= y") == "True");
  CHECK(infix("x < y and x < y and True") == "x < y");
  CHECK(notebook("x == 1 or (y == 2 and z == 3)") == "Eq(x, 1) | (Eq(y, 2) & Eq(z, 3))");
}

TEST_CASE("division: common factors cancel and multiples leave") {
  CHECK(notebook("a // b // c") == "FloorDiv(FloorDiv(a, b), c)");  // the sign of c is open
  CHECK(infix("a // 2 // 3") == "a // 6");
  CHECK(infix("a // b // c", Interval::at_least(1)) == "a // (b*c)");
  CHECK(infix("(4*a + b) // 4") == "a + b // 4");
  CHECK(infix("4*a // 6") == "(2*a) // 3");
  CHECK(infix("(4*a + 3) // 8") == "a // 2");
  CHECK(infix("a*b // (a*c)") == "b // c");
  CHECK(infix("(a*b + a*c) // a") == "b + c");
  CHECK(infix("(a*a - b*b) // (a + b)") == "a - b");
  CHECK(infix("4*a % 4") == "0");
  CHECK(infix("(4*a + b) % 4") == "b % 4");
  CHECK(infix("6*a % 4") == "2*(a % 2)");
  CHECK(infix("a % 12 % 4") == "a % 4");
  CHECK(infix("a*b % a") == "0");
  CHECK(infix("a % 8", {0, 7}) == "a");
  // Long division by a sum, where what is left is known to be below it.
  CHECK(infix("(2*a + 5) % (a + 2)", {0, 1000}) == "1");
  CHECK(infix("(2*a + 5) // (a + 2)", {0, 1000}) == "2");
  CHECK(infix("(3*a + 5) // (a + 2)", {0, 1000}) == "2");
  CHECK(infix("(a*a + 3*a + 2) % (a + 2)", {0, 1000}) == "0");
  CHECK(infix("(2*a + 9) // (a + 2)", {0, 1000}) == "(2*a + 9) // (a + 2)");
  CHECK(infix("a // 8", {0, 7}) == "0");
  CHECK(infix("a // 8", {8, 15}) == "1");
  CHECK(infix("a // 1") == "a");
  CHECK(infix("a % 1") == "0");
  CHECK(infix("-7 // 2") == "-4");
  CHECK(infix("-7 % 3") == "2");
  CHECK(infix("7 % -3") == "-2");
}

TEST_CASE("facts about sizes of at least 2") {
  const Interval size = Interval::at_least(2);
  CHECK(infix("s2*s3 > s3", size) == "True");
  CHECK(infix("s3*s4 <= s4", size) == "False");
  CHECK(infix("(s3 + s3) % 2 == 0", size) == "True");
  CHECK(infix("(s3 + s3) % 2 == 1", size) == "False");
  CHECK(infix("s0*s0 - s0 > 1", size) == "True");
  for (const char* unknown : {"s2 + s2 == s4", "s4 % s2 == 0", "s2 != s3", "s3*s4 > s2", "s2 > s3"}) {
    CHECK(infix(unknown, size) != "True");
    CHECK(infix(unknown, size) != "False");
  }
}

TEST_CASE("contiguous strides") {
  ShapeEnv env;
  const SymInt x = env.symbol("x", 3);
  const SymInt x1 = env.symbol("x1", 3);
  const SymInt x2 = env.symbol("x2", 4);
  const SymInt p = env.symbol("p", 3, {1, {}});
  const auto texts = [](const Ints& strides) {
    std::string text;
    for (const SymInt stride : strides) text += (text.empty() ? "" : ", ") + to_string(stride);
    return text;
  };
  CHECK(texts(contiguous_strides({2, 3, 5})) == "15, 5, 1");
  CHECK(texts(contiguous_strides({x, 3, 5})) == "15, 5, 1");
  CHECK(texts(contiguous_strides({2, x, 5})) == "5*max(1, x), 5, 1");
  CHECK(texts(contiguous_strides({2, 3, x})) == "3*max(1, x), max(1, x), 1");
  CHECK(texts(contiguous_strides({2, x1, x2})) == "max(1, x1)*max(1, x2), max(1, x2), 1");
  CHECK(texts(contiguous_strides({2, 0, 5})) == "5, 5, 1");
  CHECK(texts(contiguous_strides({2, p, 5})) == "5*p, 5, 1");
  CHECK(env.guards().empty());
}

TEST_CASE("values, checked") {
  Pool pool;
  const auto value = [&](const char* text, std::int64_t x) {
    return evaluate(read(pool, text), [&](Expr) { return std::optional(x); });
  };
  CHECK(value("x*x - 3*x + 1", 5) == 11);
  CHECK(value("(x + 3) // 4 + x % 3 + max(x, 7) - min(x, 2)", 5) == 9);
  CHECK(value("select(x > 4, x, 0)", 5) == 5);
  CHECK(value("5 // x", 2) == 2);
  CHECK(value("5 // x", -1) == -5);
  CHECK(value("5 % x", -1) == 0);
  CHECK(value("5 % x", -3) == -1);
  CHECK(value("3*x - 2*y", INT64_MAX) == INT64_MAX);
  CHECK(value("x > 3 and not x == 5", 5) == 0);
  CHECK(value("x - y", 3) == 0);
  CHECK_THROWS_WITH_AS(value("x*x", INT64_MAX), "evaluate: a symbolic size does not fit a signed 64-bit integer",
                       OverflowError);
  CHECK(value("x + x - x", INT64_MAX) == INT64_MAX);
  CHECK_THROWS_WITH_AS(value("5 // x", 0), "evaluate: a symbolic size divides by zero; the divisor must not be 0",
                       ArgumentError);
  CHECK(value("select(x == 0, 1, 5 // x)", 0) == 1);
  CHECK_THROWS_WITH_AS(evaluate(read(pool, "x + 1"), [](Expr) { return std::optional<std::int64_t>(); }),
                       "evaluate: no value was given for x", ArgumentError);
}

TEST_CASE("coefficients that do not fit are an error") {
  Pool pool;
  const Expr x = pool.symbol("x");
  CHECK_THROWS_AS(mul(mul(x, INT64_MAX), 2), OverflowError);
  CHECK_THROWS_AS(add(pool.constant(INT64_MAX), 1), OverflowError);
  CHECK_THROWS_WITH_AS(floor_div(x, pool.constant(0)), "divide: a symbolic size by zero; the divisor must not be 0",
                       ArgumentError);
  CHECK_THROWS_AS(mod(x, pool.constant(0)), ArgumentError);
}

TEST_CASE("substitution rebuilds in canonical form") {
  Pool pool;
  const Expr s = pool.symbol("s");
  const Expr k = pool.symbol("k");
  const Replacements by{{s, mul(k, 4)}};
  CHECK(to_string(substitute(read(pool, "s % 4 + s // 2 + max(s, 3) + t"), by)) == "2*k + t + max(3, 4*k)");
  CHECK(substitute(read(pool, "s // 4 == k"), by) == pool.truth(true));
}

TEST_CASE("each node is visited once, arguments first") {
  Pool pool;
  const Expr e = read(pool, "max(a // 2, b) * max(a // 2, b) + a");
  std::vector<Expr> seen;
  visit(e, [&](Expr node) {
    for (const Expr arg : node->args) CHECK(std::ranges::find(seen, arg) != seen.end());
    CHECK(std::ranges::find(seen, node) == seen.end());
    seen.push_back(node);
  });
  CHECK(seen.back() == e);
  CHECK(variables_of(e).size() == 2);
}

TEST_CASE("long chains do not recurse") {
  Pool pool;
  const Expr x = pool.symbol("x");
  const auto chain = [&](std::int64_t last) {
    Expr e = pool.symbol("y");
    for (int k = 0; k < 100000; ++k) e = mod(add(max(e, x), 1), pool.constant(k + 2 == 100001 ? last : 7 + k % 3));
    return e;
  };
  const Expr e = chain(11);
  CHECK(evaluate(e, [](Expr) { return std::optional<std::int64_t>(3); }) >= 0);
  CHECK(range(e, [](Expr) { return std::optional(Interval{0, 5}); }).hi <= 10);
  CHECK(to_string(e).size() > 1000);
  CHECK(compare(e, chain(12)) < 0);
  CHECK(variables_of(substitute(e, {{x, pool.constant(2)}})).size() == 1);
  CHECK(e->hash != chain(12)->hash);
}

TEST_CASE("the hash is that of the structure, in every pool") {
  Pool one;
  Pool other;
  other.symbol("z");
  CHECK(read(one, "a*b + 3")->hash == read(other, "b*a + 3")->hash);
  CHECK(read(one, "a*b + 3")->hash != read(one, "a*b + 4")->hash);
  CHECK_THROWS_WITH_AS(add(one.symbol("a"), other.symbol("b")),
                       "symbolic size: expressions of two environments do not mix", ArgumentError);
}

TEST_CASE("loops are atoms with ranges") {
  Pool pool;
  const Expr i = pool.loop("i", {0, 7});
  CHECK(floor_div(add(i, 8), pool.constant(8)) == pool.constant(1));
  CHECK(mod(i, pool.constant(8)) == i);
  CHECK(to_string(add(mul(i, 4), pool.symbol("s"))) == "s + 4*i");
  CHECK(pool.loop("i", {0, 7}, 0) == i);
  CHECK(pool.loop("i", {0, 7}, 1) != i);
  CHECK(pool.loop("i", {0, 7}, 1)->value == 1);
}

TEST_CASE("a written quotient keeps a divisor that may be 0") {
  Pool pool;
  const Expr a = pool.symbol("a", {0, 9});
  const Expr b = pool.symbol("b", {0, 3});
  const Expr quotient = written_floor_div(mul(a, b), b);
  CHECK(to_string(quotient) == "(a*b) // b");
  CHECK(quotient->bounds == Interval{});
  CHECK(written_floor_div(pool.constant(-7), pool.constant(2)) == pool.constant(-4));
  Program program(quotient);
  CHECK(program.run(std::array<std::int64_t, 2>{5, 0})[0].fault == Outcome::Fault::zero_divisor);
  CHECK(program.run(std::array<std::int64_t, 2>{5, 2})[0].is(5));
  const std::array<Interval, 2> ranges{Interval{0, 9}, Interval{0, 3}};
  CHECK(program.ranges(ranges)[0] == Interval{0, 27});
  CHECK(program.ranges(ranges, true)[0] == Interval{});
  Program remainder(mod(a, b));
  CHECK(remainder.ranges(std::array<Interval, 2>{Interval{4, 9}, Interval{0, 0}}, true)[0] == Interval{0, 0});
  CHECK(remainder.ranges(std::array<Interval, 2>{Interval{4, 9}, Interval{0, 3}}, true)[0] == Interval{0, 2});
}

TEST_CASE("a predicate is one opaque condition") {
  Pool pool;
  const PredicateFunction even = [](std::span<const std::int64_t> n) { return n[0] % 2 == 0; };
  const std::array<Expr, 1> x{pool.symbol("x")};
  const std::array<Expr, 1> four{pool.constant(4)};
  const Expr condition = predicate("is_even", even, x);
  CHECK(to_string(logical_not(condition)) == "not is_even(x)");
  CHECK(logical_not(logical_not(condition)) == condition);
  CHECK(predicate("is_even", even, four) == pool.truth(true));
  CHECK(evaluate(condition, [](Expr) { return std::optional<std::int64_t>(3); }) == 0);
}

}  // namespace sym_expression_test
