// How points are cut into tiles. Tiles are parts of rows if the rows are not adjacent in memory.
#include <doctest/doctest.h>

#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/tile/machine.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace tiles_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// The sum of five neighbours for the inner points of a picture.
LoopProgram five_points(DType dtype, std::int64_t rows, std::int64_t width) {
  Builder k({rows - 2, width - 2});
  const auto in = k.argument(dtype, rows * width);
  const auto out = k.argument(dtype, (rows - 2) * (width - 2), true);
  k.stage();
  ValueId sum = kNoValue;
  for (const std::int64_t at : {width + 1, std::int64_t{1}, 2 * width + 1, width, width + 2}) {
    const ValueId x = k.load(false, in, ShapeTracker(View{{rows - 2, width - 2}, {width, 1}, at, {}}));
    sum = sum == kNoValue ? x : k.op(false, Op::Add, register_dtype(dtype), sum, x);
  }
  k.store(false, is_half(dtype) ? k.round(false, dtype, sum) : sum, out, ShapeTracker(Shape{rows - 2, width - 2}));
  return k.p;
}

template <class T>
bool right(const Bytes& in, const Bytes& out, std::int64_t rows, std::int64_t width) {
  const T* x = in.as<T>();
  for (std::int64_t i = 0; i < rows - 2; ++i) {
    for (std::int64_t j = 0; j < width - 2; ++j) {
      const T* at = x + i * width + j;
      T want = static_cast<T>(at[width + 1] + at[1]);
      want = static_cast<T>(want + at[2 * width + 1]);
      want = static_cast<T>(want + at[width]);
      want = static_cast<T>(want + at[width + 2]);
      if (std::memcmp(&want, out.as<T>() + i * (width - 2) + j, sizeof want) != 0) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("a stencil's tiles are parts of rows, read where they lie, to the last element of memory") {
  for (const std::string& level : isa_levels()) {
    backend::eigen::EigenBackend device({.threads = 1, .isa = level, .tier = EigenTier::tile});
    // Inner rows that are just too short, just long enough, of whole packets, with a partial packet, and of several
    // tiles.
    for (const std::int64_t width : {97, 98, 99, 114, 130, 1025, 1026, 1027, 2500}) {
      CAPTURE(level);
      CAPTURE(width);
      const LoopProgram p = five_points(DType::float32, 20, width);
      const auto plan = backend::eigen::make_tile_plan(p, backend::isa::table(level.c_str()), 0);
      CHECK((plan->grid_split == 1) == (width >= 98));
      CHECK(plan->grid_rows == 1);
      const Bytes in = random_bytes(DType::float32, 20 * width, 3);
      const Bytes out(DType::float32, 18 * (width - 2));
      run(device, p, {&in, &out});
      CHECK(right<float>(in, out, 20, width));
      const Bytes wide = random_bytes(DType::float64, 20 * width, 4);
      const Bytes wide_out(DType::float64, 18 * (width - 2));
      run(device, five_points(DType::float64, 20, width), {&wide, &wide_out});
      CHECK(right<double>(wide, wide_out, 20, width));
      const Bytes narrow = random_bytes(DType::int16, 20 * width, 4);
      const Bytes narrow_out(DType::int16, 18 * (width - 2));
      run(device, five_points(DType::int16, 20, width), {&narrow, &narrow_out});
      CHECK(right<std::int16_t>(narrow, narrow_out, 20, width));
    }
  }
}

TEST_CASE("a compiler is asked for stencils, as for other kernels whose operands do not cross") {
  const LoopProgram p = five_points(DType::float32, 300, 300);
  const auto plan = backend::eigen::make_plan(p, backend::isa::table(), 0);
  CHECK(plan->grid_split == 1);
  CHECK(backend::eigen::why_tile_only(p, *plan, 2).empty());
}

TEST_CASE("a compiler is asked for a few long columns if each thread gets some of them") {
  const auto sums = [](std::int64_t points) {
    const std::int64_t length = 1'000'000;
    Builder k({points}, Orientation::Outer);
    const auto in = k.argument(DType::int64, length);
    const auto out = k.argument(DType::int64, points, true);
    k.stage({length});
    const ValueId x = k.load(true, in, ShapeTracker(View{{points, length}, {0, 1}, 0, {}}));
    const ValueId at = k.position(true, Code::Index, ShapeTracker(View{{points, length}, {1, 0}, 0, {}}));
    const ValueId same = k.op(true, Op::Eq, DType::bool_, x, at);
    k.store(false, k.reduce(Op::Sum, k.op(true, Op::Cast, DType::int64, same)), out, ShapeTracker(Shape{points}));
    return k.p;
  };
  for (const auto& [points, compiled] : {std::pair{100, true}, {40, true}, {16, false}}) {
    CAPTURE(points);
    const LoopProgram p = sums(points);
    const auto plan = backend::eigen::make_plan(p, backend::isa::table(), 0);
    CHECK(backend::eigen::shares_rows(*plan, 2));
    CHECK(backend::eigen::why_tile_only(p, *plan, 2).empty() == compiled);
  }
}

TEST_CASE("what begins again in each row is loaded once, in blocks of whole rows") {
  const auto sums = [](std::int64_t rows, std::int64_t columns) {
    Builder k({rows, columns});
    const auto x = k.argument(DType::float32, rows * columns);
    const auto row = k.argument(DType::float32, columns);
    const auto half = k.argument(DType::float16, columns);
    const auto out = k.argument(DType::float32, rows * columns, true);
    k.stage();
    const View again{{rows, columns}, {0, 1}, 0, {}};
    const ValueId a = k.load(false, x, ShapeTracker(Shape{rows, columns}));
    const ValueId b = k.load(false, row, ShapeTracker(again));
    const ValueId c = k.load(false, half, ShapeTracker(again));
    k.store(false, k.op(false, Op::Add, DType::float32, a, k.op(false, Op::Mul, DType::float32, b, c)), out,
            ShapeTracker(Shape{rows, columns}));
    return k.p;
  };
  for (const std::string& level : isa_levels()) {
    for (const int threads : {1, 3}) {
      backend::eigen::Options options;
      options.threads = threads;
      options.isa = level;
      backend::eigen::EigenBackend device(options);
      for (const auto& [columns, block] :
           {std::pair{100, 800}, {16, 1024}, {3, 1008}, {1000, 0}, {63, 1008}, {5000, 0}}) {
        INFO(level, " ", threads, " ", columns);
        const std::int64_t rows = 40'000 / columns;
        const LoopProgram p = sums(rows, columns);
        const auto plan = backend::eigen::make_tile_plan(p, backend::isa::table(level.c_str()), 0);
        CHECK(plan->repeated.size() == (block > 0 ? 2 : 0));
        if (block > 0) CHECK(plan->block == block);
        const Bytes x = random_bytes(DType::float32, rows * columns, 1), row = random_bytes(DType::float32, columns, 2);
        const Bytes half = random_bytes(DType::float16, columns, 3);
        const Bytes out(DType::float32, rows * columns), want(DType::float32, rows * columns);
        interpret(p, {&x, &row, &half, &want});
        run(device, p, {&x, &row, &half, &out});
        CHECK(out.same_bits(want));
      }
    }
  }
}

TEST_CASE("long rows that are gathered for each row of results are gathered once for each block of columns") {
  for (const std::string& level : isa_levels()) {
    for (const int threads : {1, 3}) {
      backend::eigen::Options options;
      options.threads = threads;
      options.isa = level;
      backend::eigen::EigenBackend device(options);
      for (const std::int64_t columns : {1025, 2048, 3001}) {
        INFO(level, " ", threads, " ", columns);
        const std::int64_t rows = 23;
        Builder k({rows, columns});
        const auto x = k.argument(DType::float32, rows * columns);
        const auto row = k.argument(DType::float64, 3 * columns);
        const auto out = k.argument(DType::float32, rows * columns, true);
        k.stage();
        const ValueId a = k.load(false, x, ShapeTracker(Shape{rows, columns}));
        const ValueId b = k.load(false, row, ShapeTracker(View{{rows, columns}, {0, 3}, 1, {}}));
        const ValueId narrow = k.op(false, Op::Cast, DType::float32, b);
        k.store(false, k.op(false, Op::Sub, DType::float32, a, narrow), out, ShapeTracker(Shape{rows, columns}));
        const auto plan = backend::eigen::make_tile_plan(k.p, backend::isa::table(level.c_str()), 0);
        CHECK(plan->down);
        CHECK(plan->repeated.size() == 1);
        const Bytes in = random_bytes(DType::float32, rows * columns, 1);
        const Bytes wide = random_bytes(DType::float64, 3 * columns, 2);
        const Bytes got(DType::float32, rows * columns), want(DType::float32, rows * columns);
        interpret(k.p, {&in, &wide, &want});
        run(device, k.p, {&in, &wide, &got});
        CHECK(got.same_bits(want));
      }
    }
  }
}

TEST_CASE("rows that follow each other, or that are repeated, are not taken apart") {
  Builder k({300, 200});
  const auto x = k.argument(DType::float32, 300 * 200);
  const auto row = k.argument(DType::float32, 200);
  const auto out = k.argument(DType::float32, 300 * 200, true);
  k.stage();
  const ValueId a = k.load(false, x, ShapeTracker(Shape{300, 200}));
  const ValueId b = k.load(false, row, ShapeTracker(View{{300, 200}, {0, 1}, 0, {}}));
  k.store(false, k.op(false, Op::Add, DType::float32, a, b), out, ShapeTracker(Shape{300, 200}));
  CHECK(backend::eigen::make_tile_plan(k.p, backend::isa::table(), 0)->grid_split == 0);
}

}  // namespace tiles_test
