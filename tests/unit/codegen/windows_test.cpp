// Which coefficients of accesses exclude windows.
#include "codegen/windows.hpp"

#include <doctest/doctest.h>

#include "../backend/programs.hpp"

namespace windows_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// Sums over 3 inner points; result i reads element i * x + r * tap of a buffer of 4096.
LoopProgram sums(std::int64_t results, std::int64_t x, std::int64_t tap) {
  Builder k({results});
  const auto from = k.argument(DType::float32, 4096);
  const auto to = k.argument(DType::float32, results, true);
  k.stage({3});
  const ShapeTracker all(View::make({results, 3}, {x, tap}, 0));
  const ValueId sum = k.reduce(Op::Sum, k.load(true, from, all));
  k.store(false, sum, to, ShapeTracker(Shape{results}));
  return k.p;
}

/// Result i sums a[i + r] * b[i * step]: if `step` is not 0, the second factor moves along the results too.
LoopProgram weighed(std::int64_t step, std::int64_t tap) {
  Builder k({64});
  const auto a = k.argument(DType::float32, 4096);
  const auto b = k.argument(DType::float32, 4096);
  const auto to = k.argument(DType::float32, 64, true);
  k.stage({3});
  const ValueId x = k.load(true, a, ShapeTracker(View::make({64, 3}, {1, 1}, 0)));
  const ValueId w = k.load(true, b, ShapeTracker(View::make({64, 3}, {step, tap}, 0)));
  const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, x, w));
  k.store(false, sum, to, ShapeTracker(Shape{64}));
  return k.p;
}

bool found(const LoopProgram& p) { return codegen::windows_in(p.form) != nullptr; }

}  // namespace

TEST_CASE("windows that overlap are possible, and found") {
  for (const std::int64_t x : {1, 2}) {
    CHECK(found(sums(64, x, 1)));
  }
  CHECK(found(weighed(0, 1)));
}

TEST_CASE("coefficients alone exclude what does not pay") {
  CHECK_FALSE(found(sums(64, 3 * 8, 1)));
  CHECK_FALSE(found(sums(64, 1, 64)));
  CHECK_FALSE(found(sums(64, 3, 1)));
}

TEST_CASE("factors that move along the results in two ways exclude windows") {
  CHECK_FALSE(found(weighed(1, 2)));
  CHECK(found(weighed(1, 1)));
}

}  // namespace windows_test
