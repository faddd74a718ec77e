// The lines of plain branches, which pass no line to the library: debug information has them. This test is built with
// it.
#include <doctest/doctest.h>

#include "support/captured_functions.hpp"

oriel::Tensor longer_than_ten_plus_one(const oriel::Tensor& x);  // of lineless.cpp

namespace function_lines_test {

using namespace oriel;
using oriel::test::numbers;
using oriel::test::with;

namespace {

constexpr int kBranch = __LINE__ + 2;
inline Tensor long_ones_doubled(const Tensor& x) {
  if (x.size(0) > 20) return x * 2;
  return x;
}

std::string here(int line) { return "decided at function_lines_test.cpp:" + std::to_string(line) + ";"; }

}  // namespace

TEST_CASE("a plain branch of the user has a line") {
  int decided = 0;
  const auto f = function(
      [](Tensor x) {
        if (x.size(0) % 4 == 0) return x + 1;
        return x - 1;
      },
      with(Dynamic::yes));
  decided = __LINE__ - 4;
  f(numbers({12, 3}));
  const FunctionEntry entry = f.entries()[0];
  REQUIRE(entry.decisions.size() == 1);
  CHECK(entry.decisions[0].find("x.size(0) % 4 == 0, " + here(decided)) == 0);
  CHECK(f.explain().find(here(decided)) != std::string::npos);
}

TEST_CASE("so has a branch in a function that the callable calls, and a number made of a size") {
  const auto f = function([](Tensor x) { return long_ones_doubled(x); }, with(Dynamic::yes));
  f(numbers({12}));
  REQUIRE(f.entries()[0].decisions.size() == 1);
  CHECK(f.entries()[0].decisions[0].find("x.size(0) <= 20, " + here(kBranch)) == 0);

  const auto g = function(
      [](Tensor x) {
        Tensor sum = x;
        for (std::int64_t k = 0; k < x.size(0).value(); ++k) sum = sum + 1;
        return sum;
      },
      with(Dynamic::yes));
  const int decided = __LINE__ - 4;
  g(numbers({3}));
  REQUIRE(g.entries()[0].decisions.size() == 1);
  CHECK(g.entries()[0].decisions[0].find("x.size(0) == 3, " + here(decided)) == 0);
}

TEST_CASE("a branch in a library without debug information has no line, and not that of its caller") {
  const auto f = function([](Tensor x) { return longer_than_ten_plus_one(x); }, with(Dynamic::yes));
  f(numbers({12, 3}));
  const FunctionEntry entry = f.entries()[0];
  REQUIRE(entry.decisions.size() == 1);
  CHECK(entry.decisions[0].find("x.size(0) > 10") == 0);
  CHECK(entry.decisions[0].find("decided at") == std::string::npos);
}

}  // namespace function_lines_test
