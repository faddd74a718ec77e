// Index expressions are evaluated as in C.
#include "fuzz/formula.hpp"

#include <doctest/doctest.h>

#include "oriel/error.hpp"

namespace formula_test {

using oriel::fuzz::Formula;

namespace {

std::vector<std::int64_t> values(std::string_view text, const oriel::fuzz::Extents& shape) {
  Formula formula;
  formula.bind(shape);
  return formula.evaluate(text);
}

}  // namespace

TEST_CASE("precedence, grouping and axes") {
  const std::vector<std::int64_t> rows{0, 0, 0, 1, 1, 1};
  CHECK(values("i0", {2, 3}) == rows);
  CHECK(values("i1 + i0*3", {2, 3}) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(values("10 - 2 - 3", {}) == std::vector<std::int64_t>{5});
  CHECK(values("2 + 3*4 - 10/3%2", {}) == std::vector<std::int64_t>{13});
  CHECK(values("(2 + 3)*4", {}) == std::vector<std::int64_t>{20});
  CHECK(values("-i0*2", {3}) == std::vector<std::int64_t>{0, -2, -4});
  CHECK(values("7 - -3", {}) == std::vector<std::int64_t>{10});
  CHECK(values("i0 >= 1 && i0 < 3 || i0 == 4", {5}) == std::vector<std::int64_t>{0, 1, 1, 0, 1});
  CHECK(values("i0 <= 1", {3}) == std::vector<std::int64_t>{1, 1, 0});
  CHECK(values("!(i0 != 1)", {3}) == std::vector<std::int64_t>{0, 1, 0});
  CHECK(values("i0 > 1", {3}) == std::vector<std::int64_t>{0, 0, 1});
}

TEST_CASE("what an invalid index would compute does no harm") {
  CHECK(values("5/i0", {2}) == std::vector<std::int64_t>{0, 5});
  CHECK(values("5%i0", {2}) == std::vector<std::int64_t>{0, 0});
  CHECK(values("9223372036854775807 + i0", {2}) == std::vector<std::int64_t>{INT64_MAX, INT64_MIN});
  CHECK(values("7/(0-1)", {}) == std::vector<std::int64_t>{-7});
}

TEST_CASE("a formula is used again and over another shape") {
  Formula formula;
  formula.bind({2});
  CHECK(formula.evaluate("i0 + 1") == std::vector<std::int64_t>{1, 2});
  CHECK(formula.evaluate("i0") == std::vector<std::int64_t>{0, 1});
  formula.bind({3});
  CHECK(formula.evaluate("i0") == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("texts that are not expressions are refused") {
  for (const char* text : {"", "1 +", "(1", "i5", "x", "1 2", "99999999999999999999", "i"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(values(text, {2, 2}), oriel::ParseError);
  }
  CHECK_THROWS_WITH(values("1 2", {}), "expression: expected an operator or the end at '2' in '1 2'");
}

}  // namespace formula_test
