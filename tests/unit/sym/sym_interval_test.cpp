// Ranges with infinite ends enclose every result. Also tests which comparisons they decide.
#include <doctest/doctest.h>

#include "sym/interval.hpp"
#include "sym/program.hpp"
#include "unit/sym/environments.hpp"

namespace sym_interval_test {

using namespace oriel;
using sym::Interval;

namespace {
constexpr std::int64_t oo = Interval::kInfinity;
constexpr std::int64_t minus_oo = Interval::kMinusInfinity;
}  // namespace

TEST_CASE("sums, differences and products") {
  CHECK(Interval{2, 5} + Interval{3, 4} == Interval{5, 9});
  CHECK(Interval{2, oo} + Interval{3, 4} == Interval{5, oo});
  CHECK(-Interval{2, oo} == Interval{minus_oo, -2});
  CHECK(Interval{2, 5} - Interval{3, 4} == Interval{-2, 2});
  CHECK(Interval{2, 5} * Interval{3, 4} == Interval{6, 20});
  CHECK(Interval{-2, 3} * Interval{4, 5} == Interval{-10, 15});
  CHECK(Interval{0, 0} * Interval{minus_oo, oo} == Interval{0, 0});
  CHECK(Interval{2, oo} * Interval{-3, -1} == Interval{minus_oo, -2});
  CHECK(Interval{2, oo} * Interval{2, oo} == Interval{4, oo});
}

TEST_CASE("what does not fit becomes infinite") {
  CHECK(Interval{2, oo - 1} + Interval{1, 1} == Interval{3, oo});
  CHECK(Interval{4, oo / 2} * Interval{4, 4} == Interval{16, oo});
}

TEST_CASE("division and remainder") {
  CHECK(floor_div(Interval{7, 20}, Interval{2, 3}) == Interval{2, 10});
  CHECK(floor_div(Interval{7, 20}, Interval{0, 3}) == Interval{});
  CHECK(floor_div(Interval{-7, 20}, Interval{2, 3}) == Interval{-4, 10});
  CHECK(floor_div(Interval{7, 20}, Interval{-3, -2}) == Interval{-10, -3});
  CHECK(floor_div(Interval{2, oo}, Interval{2, oo}) == Interval{0, oo});
  CHECK(floor_div(Interval{-5, -2}, Interval{2, oo}) == Interval{-3, -1});
  CHECK(mod(Interval{minus_oo, oo}, Interval{1, 5}) == Interval{0, 4});
  CHECK(mod(Interval{2, 3}, Interval{4, 5}) == Interval{2, 3});
  CHECK(mod(Interval{7, 7}, Interval{4, 4}) == Interval{3, 3});
  CHECK(mod(Interval{-7, -7}, Interval{4, 4}) == Interval{1, 1});
  CHECK(mod(Interval{0, 3}, Interval{-4, -4}) == Interval{-3, 0});
  CHECK(mod(Interval{9, 11}, Interval{4, 4}) == Interval{1, 3});
  CHECK(mod(Interval{-7, -5}, Interval{4, 4}) == Interval{1, 3});
  CHECK(mod(Interval{9, 12}, Interval{4, 4}) == Interval{0, 3});
  CHECK(mod(Interval{minus_oo + 3, minus_oo + 4}, Interval{oo - 1, oo - 1}) == Interval{1, 2});
  CHECK(mod(Interval{minus_oo + 1, minus_oo + 1}, Interval{oo - 1, oo - 1}) == Interval{oo - 2, oo - 2});
  CHECK(mod(Interval{0, 3}, Interval{-1, 4}) == Interval{});
}

TEST_CASE("extremes and powers") {
  CHECK(min(Interval{2, 9}, Interval{3, 4}) == Interval{2, 4});
  CHECK(max(Interval{2, oo}, Interval{3, 4}) == Interval{3, oo});
  CHECK(power(Interval{-2, 3}, 2) == Interval{0, 9});
  CHECK(power(Interval{-3, -2}, 2) == Interval{4, 9});
  CHECK(power(Interval{-3, 2}, 3) == Interval{-27, 18});
  CHECK(power(Interval{2, 3}, -1) == Interval{});
}

TEST_CASE("what ranges decide") {
  CHECK(known_equal(Interval{3, 3}, Interval{3, 3}) == true);
  CHECK(known_equal(Interval{2, 3}, Interval{4, 5}) == false);
  CHECK_FALSE(known_equal(Interval{2, 4}, Interval{4, 5}).has_value());
  CHECK(known_less(Interval{2, 3}, Interval{4, 5}) == true);
  CHECK(known_less(Interval{5, 9}, Interval{4, 5}) == false);
  CHECK_FALSE(known_less(Interval{2, 4}, Interval{4, 5}).has_value());
  CHECK(known_less_equal(Interval{2, 4}, Interval{4, 5}) == true);
}

TEST_CASE("the range of an expression over given ranges") {
  sym::Pool pool;
  const auto range = [&](const char* text, Interval of_x, Interval of_y) {
    return sym::range(test::read(pool, text), [&](sym::Expr v) { return std::optional(v->name == "x" ? of_x : of_y); });
  };
  CHECK(range("2*x - y + 1", {2, 5}, {3, 4}) == Interval{1, 8});
  CHECK(range("max(x, y) // 2", {2, 5}, {3, oo}) == Interval{1, oo});
  CHECK(range("x % 7", {0, oo}, {}) == Interval{0, 6});
  CHECK(range("x < y", {2, 5}, {6, 7}) == Interval{1, 1});
  CHECK(range("x < y and x == 9", {2, 5}, {6, 7}) == Interval{0, 0});
  CHECK(range("select(x < y, x, y)", {2, 5}, {6, 7}) == Interval{2, 5});
  CHECK(range("x*x", {-2, 3}, {}) == Interval{0, 9});
}

TEST_CASE("ranges in words") {
  CHECK(to_string(Interval{2, oo}) + to_string(Interval{minus_oo, 5}) == "[2, oo][-oo, 5]");
}

}  // namespace sym_interval_test
