// Infix texts have Python's meaning; errors in other texts.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "unit/sym/environments.hpp"

namespace sym_parse_test {

using namespace oriel;
using sym::to_string;

namespace {

std::string round_trip(const std::string& text) {
  sym::Pool pool;
  const std::string once = to_string(test::read(pool, text));
  CHECK(to_string(test::read(pool, once)) == once);
  return once;
}

std::string error_of(const std::string& text) {
  sym::Pool pool;
  try {
    sym::parse(pool, text, [&](std::string_view name) { return name == "q" ? nullptr : pool.symbol(name); });
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "no error";
}

}  // namespace

TEST_CASE("precedence") {
  CHECK(round_trip("1 + 2*3 - 4 // 3") == "6");
  CHECK(round_trip("-7 // 2 * 3 % 5") == "3");
  CHECK(round_trip("2**3**2") == "512");
  CHECK(round_trip("-2**2") == "-4");
  CHECK(round_trip("a - b - c") == "a - b - c");
  CHECK(round_trip("a*b % c") == "(a*b) % c");
  CHECK(round_trip("a*(b % c)") == "a*(b % c)");
  CHECK(round_trip("a // b % c") == "(a // b) % c");
  CHECK(round_trip("(a + b) // c - (a - b) % c") == "(a + b) // c - (a - b) % c");
  CHECK(round_trip("not a == b or a < c and b < c") == "a != b or a < c and b < c");
  CHECK(round_trip("(a == b or a < c) and b < c") == "b < c and (a == b or a < c)");
  CHECK(round_trip("1 < a < 5") == "1 < a and a < 5");
  CHECK(round_trip("max(a, min(b, 30), 7)") == "max(7, a, min(30, b))");
  CHECK(round_trip("select(a < b, a, b) + 1") == "select(a < b, a, b) + 1");
  CHECK(round_trip("True and a < 3") == "a < 3");
  CHECK(round_trip("-9223372036854775808") == "-9223372036854775808");
  CHECK(round_trip("+a - -b") == "a + b");
}

TEST_CASE("errors name the column and what is expected") {
  CHECK(error_of("a +") == "expression: the text ends at column 4 of 'a +' where a number, a name or '(' is expected");
  CHECK(error_of("a b") ==
        "expression: 'b' stands at column 3 of 'a b' where an operator or the end of the text is expected");
  CHECK(error_of("(a") == "expression: the text ends at column 3 of '(a' where ')' is expected");
  CHECK(error_of("max a") == "expression: 'a' stands at column 5 of 'max a' where '(' is expected");
  CHECK(error_of("a / b") ==
        "expression: '/' stands at column 3 of 'a / b' where an operator or the end of the text is expected");
  CHECK(error_of("12x") == "expression: '12x' stands at column 1 of '12x' where a 64-bit integer is expected");
  CHECK(error_of("q + 1") == "expression: unknown symbol 'q' at column 1 of 'q + 1'");
  CHECK(error_of("a + (a < b)") ==
        "expression: a condition stands before column 12 of 'a + (a < b)' where a number is expected");
  CHECK(error_of("a and b") ==
        "expression: a number stands before column 3 of 'a and b' where a condition is expected");
  CHECK(error_of("a ** b") ==
        "expression: a symbolic one stands before column 7 of 'a ** b' where a constant exponent is expected");
  CHECK(error_of("and") == "expression: 'and' stands at column 1 of 'and' where a number, a name or '(' is expected");
  CHECK(error_of("9223372036854775808").find("where a 64-bit integer is expected") != std::string::npos);
  CHECK(error_of("a // 0") == "divide: a symbolic size by zero; the divisor must not be 0");
  CHECK(error_of(std::string(200, '(') + "a") == "expression: the text nests more than 100 deep");
  CHECK(error_of(std::string(10001, ' ')) == "expression: the text has 10001 characters; there may be 10000");
  CHECK(error_of("2**64").find("does not fit") != std::string::npos);
}

TEST_CASE("names of symbols") {
  CHECK(sym::is_symbol_name("s0"));
  CHECK(sym::is_symbol_name("_batch_2"));
  for (const char* wrong : {"", "0s", "a b", "max", "and", "True", "a-b", "\xc3\xa4"})
    CHECK_FALSE(sym::is_symbol_name(wrong));
}

}  // namespace sym_parse_test
