// Checked sizes: exact if the result fits, else an error that names the operation.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "oriel/shape.hpp"

namespace symint_test {

using oriel::ArgumentError;
using oriel::OverflowError;
using oriel::SymInt;

TEST_CASE("arithmetic that fits") {
  CHECK(SymInt(6) * 7 == 42);
  CHECK(SymInt(INT64_MAX) + 0 == INT64_MAX);
  CHECK(SymInt(INT64_MIN) - 0 == INT64_MIN);
  SymInt n = 5;
  n += 2;
  n *= 3;
  n -= 1;
  CHECK(n == 20);
  CHECK(-n == -20);
  CHECK(to_string(SymInt(-7)) == "-7");
}

TEST_CASE("division rounds down and the remainder has the divisor's sign") {
  for (std::int64_t a = -9; a <= 9; ++a) {
    for (std::int64_t b : {-4, -1, 1, 3, 4}) {
      CHECK(SymInt(a) / b * b + SymInt(a) % b == a);
      CHECK((b > 0 ? SymInt(a) % b >= 0 && SymInt(a) % b < b : SymInt(a) % b <= 0 && SymInt(a) % b > b));
    }
  }
  CHECK(SymInt(-1) / 4 == -1);
  CHECK(SymInt(INT64_MIN) % -1 == 0);
}

TEST_CASE("an overflow names the operation and the operands") {
  CHECK_THROWS_WITH_AS(SymInt(INT64_MAX) + 1,
                       "add: the result for 9223372036854775807 and 1 does not fit a signed 64-bit integer",
                       OverflowError);
  CHECK_THROWS_WITH_AS(SymInt(INT64_MIN) - 1,
                       "subtract: the result for -9223372036854775808 and 1 does not fit a signed 64-bit integer",
                       OverflowError);
  CHECK_THROWS_WITH_AS(SymInt(INT64_MAX) * 2,
                       "multiply: the result for 9223372036854775807 and 2 does not fit a signed 64-bit integer",
                       OverflowError);
  CHECK_THROWS_WITH_AS(SymInt(INT64_MIN) / -1,
                       "subtract: the result for 0 and -9223372036854775808 does not fit a signed 64-bit integer",
                       OverflowError);
  CHECK_THROWS_AS(-SymInt(INT64_MIN), OverflowError);
  CHECK_THROWS_WITH_AS(SymInt(UINT64_MAX), "convert: 18446744073709551615 does not fit a signed 64-bit integer",
                       OverflowError);
}

TEST_CASE("division by zero is refused") {
  CHECK_THROWS_WITH_AS(SymInt(3) / 0, "divide: 3 by zero; the divisor must not be 0", ArgumentError);
  CHECK_THROWS_WITH_AS(SymInt(3) % 0, "remainder: 3 by zero; the divisor must not be 0", ArgumentError);
}

TEST_CASE("element counts") {
  CHECK(oriel::numel({}) == 1);
  CHECK(oriel::numel({2, 3, 4}) == 24);
  const std::int64_t huge = std::int64_t{1} << 62;
  CHECK(oriel::numel({huge, huge, 0}) == 0);
  CHECK_THROWS_WITH_AS(oriel::numel({huge, 2}, "tile"),
                       "tile: the element count of shape (4611686018427387904, 2) passes 2^63-1", OverflowError);
}

TEST_CASE("row-major strides") {
  CHECK(oriel::contiguous_strides({2, 3, 4}) == oriel::Ints{12, 4, 1});
  CHECK(oriel::contiguous_strides({2, 0, 4}) == oriel::Ints{4, 4, 1});
  CHECK(oriel::contiguous_strides({}).empty());
}

TEST_CASE("shapes print and hash") {
  CHECK(to_string(oriel::Shape{2, 3}) == "(2, 3)");
  CHECK(to_string(oriel::Shape{}) == "()");
  CHECK(hash_value(oriel::Shape{2, 3}) == hash_value(oriel::Shape{2, 3}));
  CHECK(hash_value(oriel::Shape{2, 3}) != hash_value(oriel::Shape{3, 2}));
  CHECK(hash_value(oriel::Shape{}) != hash_value(oriel::Shape{0}));
}

}  // namespace symint_test
