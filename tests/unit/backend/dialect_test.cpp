// A language of work items is a struct of patterns: one near Metal renders kernels that its compiler would take.
#include "metal_unit.hpp"

namespace dialect_test {

using namespace oriel;
using namespace oriel::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// out = exp(x) * a, of vectors of four and a float16.
LoopProgram scaled() {
  Builder k({1001});
  const auto x = k.argument(DType::float16, 1001), out = k.argument(DType::float32, 1001, true);
  k.stage();
  const ValueId a = k.constant(false, graph::Scalar::of_float(DType::float32, 2), 0);
  const ValueId e = k.op(false, Op::Exp, DType::float32, k.load(false, x, ShapeTracker(Shape{1001})));
  k.store(false, k.op(false, Op::Mul, DType::float32, e, a), out, ShapeTracker(Shape{1001}));
  return k.p;
}

/// The largest element of each row, which a group finds together.
LoopProgram largest() {
  Builder k({7});
  const auto x = k.argument(DType::int64, 7 * 5000), out = k.argument(DType::int64, 7, true);
  k.stage({5000});
  k.store(false, k.reduce(Op::ReduceMax, k.load(true, x, ShapeTracker(Shape{7, 5000}))), out, ShapeTracker(Shape{7}));
  return k.p;
}

}  // namespace

TEST_CASE("places of a pattern take its arguments; other braces stand for themselves") {
  const source::Pattern pattern("{1} f({0}) { return {{0}}; } {x} {");
  CHECK(pattern("x", 3) == "3 f(x) { return {x}; } {x} {");
  CHECK(source::Pattern()("x").empty());
}

TEST_CASE("a made-up language renders kernels") {
  MetalUnit unit;
  const std::string points = unit.add(scaled());
  CHECK(has(points, "\nkernel void "));
  CHECK(has(points, "(device const ushort* __restrict in0, device float* __restrict out1, constant int& n0"));
  CHECK(has(points, "constant float& "));
  CHECK(has(points, "in_grid[0]"));
  CHECK(has(points, "Lanes<float, 4>"));
  const std::string rows = unit.add(largest());
  CHECK(has(rows, "threadgroup long tree"));
  CHECK(has(rows, "threadgroup_barrier(mem_flags::mem_threadgroup);"));
  unit.check();
}

}  // namespace dialect_test
