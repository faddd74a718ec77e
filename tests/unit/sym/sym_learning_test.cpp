// The procedures that derive facts: linear systems, consequences, and search by cases.
#include <doctest/doctest.h>

#include <algorithm>

#include "sym/linear.hpp"
#include "sym/refute.hpp"
#include "unit/sym/environments.hpp"

namespace sym_learning_test {

using namespace oriel;
using namespace oriel::sym;

namespace {

constexpr Interval kSizes = Interval::at_least(2);

std::vector<Expr> read_all(Pool& pool, const std::vector<const char*>& texts, Interval bounds = kSizes) {
  std::vector<Expr> conditions;
  for (const char* text : texts) conditions.push_back(test::read(pool, text, bounds));
  return conditions;
}

bool refuted(const std::vector<const char*>& texts, Interval bounds = kSizes) {
  Pool pool;
  return contradicts(read_all(pool, texts, bounds));
}

Search::Verdict searched(const std::vector<const char*>& texts, Interval bounds = kSizes) {
  Pool pool;
  return search_boxes(read_all(pool, texts, bounds)).verdict;
}

}  // namespace

TEST_CASE("a linear system contradicts itself in integers") {
  LinearSystem halves;  // 2x >= 1 and 2x <= 1: only x = 1/2, which is not an integer
  halves.require_not_negative({-1, {{0, 2}}});
  halves.require_not_negative({1, {{0, -2}}});
  CHECK(halves.contradicts());
  LinearSystem cycle;  // x < y, y < z, z < x
  cycle.require_not_negative({-1, {{0, -1}, {1, 1}}});
  cycle.require_not_negative({-1, {{1, -1}, {2, 1}}});
  CHECK_FALSE(cycle.contradicts());
  cycle.require_not_negative({-1, {{0, 1}, {2, -1}}});
  CHECK(cycle.contradicts());
  LinearSystem parity;  // 2x + 4y == 3
  parity.require_zero({-3, {{0, 2}, {1, 4}}});
  CHECK(parity.contradicts());
  LinearSystem none;
  CHECK_FALSE(none.contradicts());
  none.require_zero({1, {}});
  CHECK(none.contradicts());
}

TEST_CASE("conditions that contradict each other") {
  CHECK(refuted({"a >= b", "a <= b", "a != b"}));
  CHECK(refuted({"a // 8 - 4 >= a"}));
  CHECK(refuted({"max(18, a) < 18"}));
  CHECK(refuted({"max(a, b) != a", "a >= b"}));
  CHECK(refuted({"min(a, b) != a", "a <= b"}));
  CHECK(refuted({"(a // 3)*3 == a", "a % 3 == 1"}));
  CHECK(refuted({"select(a > b, a, b) < b"}));
  CHECK(refuted({"a*b < a"}));
  CHECK(refuted({"a < 3 or b < 3", "a > 2", "b > 2"}));
  CHECK_FALSE(refuted({"a >= b", "a <= b"}));
  CHECK_FALSE(refuted({"a*b == 12"}));
  CHECK_FALSE(refuted({"(a // 3)*3 == a"}));
}

TEST_CASE("search by cases finds values or shows that there are none") {
  CHECK(searched({"a*a == 33"}) == Search::Verdict::none);
  CHECK(searched({"a*a == 36"}) == Search::Verdict::found);
  CHECK(searched({"a // 8 == min(a, a % 5)", "a > 40"}) == Search::Verdict::none);
  CHECK(searched({"a*b == 35", "a % 5 == 0", "b % 5 == 0"}, {2, 100}) == Search::Verdict::none);
  CHECK(searched({"a*a + b*b == 25", "a < b"}, {0, 100}) == Search::Verdict::found);
  CHECK(searched({"a*(a % 2) == 2"}) == Search::Verdict::none);
  CHECK(searched({"a % 6 == 1", "a % 4 == 2"}) == Search::Verdict::none);
  CHECK(searched({"False"}) == Search::Verdict::none);
  CHECK(searched({"a + b > 100"}) == Search::Verdict::found);
}

TEST_CASE("a search starts near values that are given") {
  Pool pool;
  const auto conditions = read_all(pool, {"a*b == 12", "a != 3"});
  const Search near = search_near(conditions, std::vector<std::int64_t>{3, 4});
  CHECK(near.verdict == Search::Verdict::found);
  CHECK(near.values[0] * near.values[1] == 12);
}

TEST_CASE("consequences of an inequality") {
  Pool pool;
  const auto follow = [&](const char* text) {
    std::vector<std::string> texts;
    for (const Expr e : consequences(test::read(pool, text, kSizes))) texts.push_back(to_string(e));
    return texts;
  };
  const auto has = [](const std::vector<std::string>& texts, const char* text) {
    return std::ranges::find(texts, text) != texts.end();
  };
  CHECK(has(follow("a // 5 - b"), "a - 5*b"));
  CHECK(has(follow("b - a // 5"), "5*b - a + 4"));
  CHECK(has(follow("a*b - 8*b"), "a - 8"));
  CHECK(has(follow("12 - max(a, b)"), "12 - a"));
  CHECK(has(follow("min(a, b) - 7"), "a - 7"));
  CHECK(has(follow("37 - a*a"), "6 - a"));
  CHECK(has(follow("a*a - 37"), "a - 7"));
  CHECK(has(follow("36 - a*b"), "18 - a"));
}

}  // namespace sym_learning_test
