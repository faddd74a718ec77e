// Accesses written as text over named loops.
#include "codegen/expression.hpp"

#include <doctest/doctest.h>

#include "oriel/error.hpp"

namespace expression_test {

using namespace oriel;
using codegen::AccessText;
using codegen::loop_names;

namespace {

AccessText expression(const ShapeTracker& stack, const std::vector<std::string>& names) {
  return codegen::expression({-1, DType::int64, stack}, names);
}

}  // namespace

TEST_CASE("one view: a coefficient a loop") {
  const AccessText turned = expression(ShapeTracker(Shape{4, 6}).permute({1, 0}), loop_names(1, 1));
  CHECK(turned.index == "o0 + r0*6");
  CHECK(turned.valid == "1");
  CHECK(expression(ShapeTracker(Shape{4, 6}).flip({1}), loop_names(2, 0)).index == "o0*6 - o1 + 5");
  CHECK(expression(ShapeTracker(Shape{}), {}).index == "0");
}

TEST_CASE("masks are conditions") {
  const AccessText padded = expression(ShapeTracker(Shape{4}).pad({{2, 3}}), loop_names(0, 1));
  CHECK(padded.index == "r0 - 2");
  CHECK(padded.valid == "r0 >= 2 && r0 < 6");
  const ShapeTracker nothing = ShapeTracker(Shape{4}).pad({{0, 4}}).shrink({{4, 8}});
  CHECK(expression(nothing, loop_names(1, 0)).valid == "0");
}

TEST_CASE("several views: quotients and remainders only where they are needed") {
  const ShapeTracker stack = ShapeTracker(Shape{4, 6}).permute({1, 0}).reshape({24});
  CHECK(expression(stack, loop_names(1, 0)).index == "(o0%4)*6 + o0/4");
}

TEST_CASE("a name may be an expression, and names beyond ten axes stay apart") {
  const std::vector<std::string> names = {"(o0_first + k)", "i1"};
  CHECK(expression(ShapeTracker(Shape{4, 6}), names).index == "(o0_first + k)*6 + i1");
  const ShapeTracker deep(Shape{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  const std::string text = expression(deep, loop_names(10, 2)).index;
  CHECK(text.find("o1*1024") != std::string::npos);
  CHECK(text.find("r0*2 + r1") != std::string::npos);
}

TEST_CASE("as many names as axes") {
  CHECK_THROWS_WITH_AS(expression(ShapeTracker(Shape{4, 6}), loop_names(1, 0)),
                       "expression: 1 names for the 2 axes of (4,6):(6,1)", InternalError);
}

}  // namespace expression_test
