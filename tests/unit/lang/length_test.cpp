// Long programs take time proportional to their length.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"
#include "oriel/create.hpp"

namespace oriel::length_test {
namespace {

// Z(i) * X(v0) * X(v0 - v1) * ..: each index can be resolved only after the one before it.
std::string chain(int count) {
  std::string text = "def f(float(N) X, float(M) Z) -> (Y) { Y(i) +=! Z(i) * X(v0)";
  for (int k = 0; k < count; ++k) text += " * X(v" + std::to_string(k) + " - v" + std::to_string(k + 1) + ")";
  return text + " }";
}

std::size_t looked(int count) {
  const std::vector<std::optional<Shape>> shapes{Shape{1}, Shape{3}};
  const lang::Inference found = lang::infer(*lang::check(chain(count))[0], shapes);
  CHECK(std::ranges::max(found.statements[0].rounds) == count + 1);
  return found.looked;
}

}  // namespace

TEST_CASE("the rounds look at an index expression as often as it has unknowns, however many rounds there are") {
  const std::size_t few = looked(50);
  CHECK(few <= 10 * 50);
  CHECK(looked(400) <= 9 * few);
}

TEST_CASE("many statements, names and clauses") {
  constexpr int kMany = 4000;
  std::string text = "def f(float(N) X) -> (Y) {\n T0(i) = X(i)\n";
  for (int k = 0; k < kMany; ++k) text += "T" + std::to_string(k + 1) + "(i) = T" + std::to_string(k) + "(i) + 1\n";
  text += "Y(i) = T" + std::to_string(kMany) + "(i) + a" + std::to_string(kMany - 1) + " where a0 = 1";
  for (int k = 1; k < kMany; ++k) text += ", a" + std::to_string(k) + " = " + std::to_string(k);
  const Comprehension f = comprehension(text + "\n}");
  const ComprehensionRanges ranges = f.ranges({{3}});
  CHECK(ranges.statements.size() == kMany + 2);
  CHECK(ranges.views.size() == kMany + 2);
  const std::string table = ranges.str();
  CHECK(table.find("T3999(i) reads T3999 as (3):(1)\n") != std::string::npos);
  CHECK(Tensor(f(zeros({3}))).to_vector<float>() == std::vector<float>(3, 2 * kMany - 1));
}

}  // namespace oriel::length_test
