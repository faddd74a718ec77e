// Sums over values that are computed while they are added, and outer values that are read as one number, give the bits
// of the single operations.
#include <doctest/doctest.h>

#include <algorithm>

#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace row_sums_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// The stages of a layer norm: a sum; the sum of squares of the differences; the scaling. `other` adds a sum of
/// products.
struct Norm {
  explicit Norm(std::int64_t points, std::int64_t length, bool other = false) : k({points}) {
    const auto in = k.argument(DType::float32, points * length);
    const auto by = k.argument(DType::float32, points * length);
    const auto out = k.argument(DType::float32, points * length, true);
    const ShapeTracker t(Shape{points, length});
    const auto op = [&](bool body, Op o, ValueId a, ValueId b) { return k.op(body, o, DType::float32, a, b); };
    k.stage({length});
    const ValueId middle = op(false, Op::Div, k.reduce(Op::Sum, k.load(true, in, t)),
                              k.constant(false, graph::Scalar::of_float(DType::float32, static_cast<double>(length))));
    k.stage({length});
    const ValueId left = op(true, Op::Sub, k.load(true, in, t), middle);
    ValueId scale = k.reduce(Op::Sum, op(true, Op::Mul, left, left));
    if (other) {
      const ValueId product = op(true, Op::Mul, k.load(true, in, t), k.load(true, by, t));
      scale = op(false, Op::Add, scale, k.reduce(Op::Sum, product));
    }
    k.stage({length});
    k.store(true, op(true, Op::Mul, op(true, Op::Sub, k.load(true, in, t), middle), scale), out, t);
  }
  Builder k;
};

void check_bits(const LoopProgram& p, std::int64_t n, int threads, std::int64_t tile, const std::string& level) {
  const Bytes x = random_bytes(DType::float32, n, 5);
  const Bytes y = random_bytes(DType::float32, n, 6);
  const Bytes got(DType::float32, n), want(DType::float32, n);
  backend::eigen::EigenBackend device({threads, tile, level});
  run(device, p, {&x, &y, &got});
  interpret(p, {&x, &y, &want});
  CHECK(got.same_bits(want));
}

}  // namespace

TEST_CASE("sums of squares and of products along a row have the bits of their operations one by one") {
  for (const std::string& level : isa_levels()) {
    for (const std::int64_t length : {1, 31, 600, 1024, 1025, 5000, 70001}) {
      for (const std::int64_t tile : {0, 256, 2048}) {
        CAPTURE(level);
        CAPTURE(length);
        CAPTURE(tile);
        const std::int64_t points = length > 5000 ? 1 : 3;
        check_bits(Norm(points, length, true).k.p, points * length, 3, tile, level);
      }
    }
  }
}

TEST_CASE("a row's mean and scale are not spread, its squares are no pass of their own") {
  const auto plan = backend::eigen::make_tile_plan(Norm(8, 1024).k.p, backend::isa::table(), 0);
  REQUIRE(plan->stages.size() == 3);
  CHECK(plan->stages[1].body.size() == 1);  // the load
  REQUIRE(plan->stages[1].reductions.size() == 1);
  CHECK((plan->stages[1].reductions[0].sum.rows != nullptr));
  CHECK(plan->stages[2].body.size() == 3);  // load, the pair, the store
  for (const auto& stage : plan->stages)
    for (const auto& b : stage.broadcasts) CHECK(b.is_uniform);
  // If rows share a tile, the outer value is spread: each row has its own.
  const auto several = backend::eigen::make_tile_plan(Norm(8, 100).k.p, backend::isa::table(), 0);
  CHECK((several->stages[1].reductions[0].sum.rows == nullptr));
  CHECK(!several->stages[2].broadcasts[0].is_uniform);
}

/// Moments of float32 in float64: of rows, or of columns.
struct Moments {
  /// `both`: also the sum of what is squared.
  Moments(std::int64_t points, std::int64_t length, Orientation orientation, bool both) : k({points}, orientation) {
    const bool columns = orientation == Orientation::Outer;
    const auto in = k.argument(DType::float32, points * length);
    const auto by = k.argument(DType::float32, points * length);
    const auto out = k.argument(DType::float64, points, true);
    const ShapeTracker t =
        columns ? ShapeTracker(Shape{length, points}).permute({1, 0}) : ShapeTracker(Shape{points, length});
    const auto op = [&](bool body, Op o, ValueId a, ValueId b = codegen::kNoValue) {
      return k.op(body, o, DType::float64, a, b);
    };
    const auto wide = [&](std::int32_t argument) { return op(true, Op::Cast, k.load(true, argument, t)); };
    k.stage({length});
    const ValueId sum = k.reduce(Op::Sum, wide(in));
    const ValueId product = k.reduce(Op::Sum, op(true, Op::Mul, wide(in), wide(by)));
    const ValueId x = wide(by);
    ValueId square = k.reduce(Op::Sum, op(true, Op::Mul, x, x));
    if (both) square = op(false, Op::Sub, square, k.reduce(Op::Sum, x));
    const ValueId count = k.constant(false, graph::Scalar::of_float(DType::float64, static_cast<double>(length)));
    const ValueId middle = op(false, Op::Div, sum, count);
    k.stage({length});
    const ValueId left = op(true, Op::Sub, wide(in), middle);
    const ValueId deviation = k.reduce(Op::Sum, op(true, Op::Mul, left, left));
    k.store(false, op(false, Op::Add, op(false, Op::Mul, sum, product), op(false, Op::Mul, square, deviation)), out,
            ShapeTracker(Shape{points}));
  }
  Builder k;
};

TEST_CASE("sums of float32 in float64 have the bits of their operations one by one") {
  for (const std::string& level : isa_levels()) {
    for (const Orientation orientation : {Orientation::Inner, Orientation::Outer}) {
      for (const std::int64_t length : {1, 2, 5, 9, 31, 64, 100, 600, 1024, 1025, 5000, 70001}) {
        for (const std::int64_t tile : {0, 256, 2048}) {
          CAPTURE(level);
          CAPTURE(length);
          CAPTURE(tile);
          CAPTURE(static_cast<int>(orientation));
          const std::int64_t points = length > 5000 ? 2 : 37;
          const LoopProgram p = Moments(points, length, orientation, length % 3 != 0).k.p;
          const Bytes x = random_bytes(DType::float32, points * length, 5);
          const Bytes y = random_bytes(DType::float32, points * length, 6);
          const Bytes got(DType::float64, points), want(DType::float64, points);
          backend::eigen::EigenBackend device({3, tile, level});
          run(device, p, {&x, &y, &got});
          interpret(p, {&x, &y, &want});
          CHECK(got.same_bits(want));
        }
      }
    }
  }
}

TEST_CASE("float32 is converted while it is added, in rows, several rows and columns") {
  for (const auto& [length, orientation] :
       {std::pair(1024, Orientation::Inner), std::pair(100, Orientation::Inner), std::pair(100, Orientation::Outer)}) {
    for (const bool both : {false, true}) {
      const LoopProgram p = Moments(40, length, orientation, both).k.p;
      const auto plan = backend::eigen::make_tile_plan(p, backend::isa::table(), 0);
      REQUIRE(plan->stages.size() == 2);
      for (const auto& stage : plan->stages) {
        for (const auto& step : stage.body) CHECK((step.kind == backend::eigen::StepKind::Load));
        for (const auto& r : stage.reductions)
          CHECK((r.sum.rows != nullptr || r.moments.rows != nullptr || r.computed));
        for (const auto& b : stage.broadcasts) CHECK(b.is_uniform);
      }
      CHECK(std::count_if(plan->stages[0].reductions.begin(), plan->stages[0].reductions.end(),
                          [](const auto& r) { return r.computed; }) == (both ? 1 : 0));
    }
  }
}

TEST_CASE("a square or a difference that something else reads is stored") {
  const std::int64_t points = 4, length = 1500;
  const ShapeTracker t(Shape{points, length});
  for (const bool square : {false, true}) {
    Builder k({points});
    const auto in = k.argument(DType::float32, points * length);
    const auto by = k.argument(DType::float32, points * length);
    const auto out = k.argument(DType::float32, points * length, true);
    const auto op = [&](bool body, Op o, ValueId a, ValueId b) { return k.op(body, o, DType::float32, a, b); };
    k.stage({length});
    const ValueId first = k.reduce(Op::ReduceMax, k.load(true, by, t));
    k.stage({length});
    const ValueId left = op(true, Op::Sub, k.load(true, in, t), first);
    const ValueId squared = op(true, Op::Mul, left, left);
    const ValueId sum = k.reduce(Op::Sum, squared);
    const ValueId most = k.reduce(Op::ReduceMax, square ? squared : left);
    k.stage({length});
    k.store(true, op(true, Op::Sub, op(true, Op::Mul, k.load(true, in, t), sum), most), out, t);
    for (const std::string& level : isa_levels()) check_bits(k.p, points * length, 1, 0, level);
  }
}

TEST_CASE("a stage that stores reads its operands before") {
  const std::int64_t points = 4, length = 1024;
  const ShapeTracker t(Shape{points, length});
  Builder k({points});
  const auto in = k.argument(DType::float32, points * length);
  const auto by = k.argument(DType::float32, points * length);
  const auto out = k.argument(DType::float32, points * length, true);
  k.stage({length});
  const ValueId x = k.load(true, in, t);
  const ValueId y = k.load(true, by, t);
  const ValueId product = k.op(true, Op::Mul, DType::float32, x, y);
  k.store(true, k.op(true, Op::Abs, DType::float32, x), out, t);
  static_cast<void>(k.reduce(Op::Sum, product));
  const auto plan = backend::eigen::make_tile_plan(k.p, backend::isa::table(), 0);
  CHECK((plan->stages[0].reductions[0].sum.rows == nullptr));
}

}  // namespace row_sums_test
