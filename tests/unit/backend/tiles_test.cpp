// How points are cut into tiles. Tiles are parts of rows if the rows are not adjacent in memory.
#include <doctest/doctest.h>

#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "support/isa_levels.hpp"

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
