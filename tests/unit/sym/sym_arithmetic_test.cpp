// Arithmetic on sizes where 64 bits do not do.
#include <doctest/doctest.h>

#include "sym/size_arithmetic.hpp"

namespace sym_arithmetic_test {

using namespace oriel::sym::arithmetic;

namespace {

constexpr Int kEdges[] = {INT64_MIN, INT64_MIN + 1,      -(Int{1} << 32) - 1, -7,           -1,       0, 1,
                          3,         (Int{1} << 32) - 1, Int{1} << 32,        Int{1} << 62, INT64_MAX};

bool same(Size a, Size b) { return a.known == b.known && (!a.known || a.value == b.value); }

}  // namespace

TEST_CASE("products in halves are products of 128 bits") {
  __extension__ typedef __int128 Whole;
  for (const Int a : kEdges) {
    for (const Int b : kEdges) {
      const Wide wide = times_in_halves(a, b);
      const Whole whole = Whole{a} * b;
      CHECK(wide.low == static_cast<std::uint64_t>(whole));
      CHECK(wide.high == static_cast<std::uint64_t>(whole >> 64));
      CHECK(times(a, b).low == wide.low);
      CHECK(times(a, b).high == wide.high);
    }
  }
}

TEST_CASE("a sum whose terms overflow has a value if the whole sum fits") {
  const Int by[] = {4, -4, 1};
  const Size sizes[] = {{INT64_MAX, true}, {INT64_MAX, true}, {5, true}};
  CHECK(same(sum(2, by, sizes, 3), {7, true}));
  CHECK_FALSE(sum(2, by, sizes, 1).known);
  const Size unknown[] = {{1, true}, {0, false}, {5, true}};
  CHECK_FALSE(sum(2, by, unknown, 3).known);
}

TEST_CASE("a product with a zero is zero however large the others are") {
  const Size sizes[] = {{INT64_MAX, true}, {INT64_MAX, true}, {0, true}};
  CHECK(same(product(sizes, 3), {0, true}));
  CHECK_FALSE(product(sizes, 2).known);
}

TEST_CASE("division rounds down, and its edges have no value") {
  CHECK(same(floor_div({-7, true}, {2, true}), {-4, true}));
  CHECK(same(mod({-7, true}, {2, true}), {1, true}));
  CHECK(same(mod({7, true}, {-2, true}), {-1, true}));
  CHECK_FALSE(floor_div({INT64_MIN, true}, {-1, true}).known);
  CHECK(same(mod({INT64_MIN, true}, {-1, true}), {0, true}));
  CHECK_FALSE(floor_div({1, true}, {0, true}).known);
}

}  // namespace sym_arithmetic_test
