// Gathers whose positions grow by one along the last loop: whole rows of memory are copied.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace row_gathers_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::StepKind;
using backend::eigen::TileStep;

namespace {

constexpr std::int64_t kElements = 5000;

/// out[i, j] = x[first[i] + j], for rows of `columns` elements. With `doubled` the result is x + x, and with `told` the
/// first positions are stored as well.
LoopProgram rows_at(DType dtype, std::int64_t rows, std::int64_t columns, bool doubled = false, bool told = false) {
  const Ints all{rows, columns};
  Builder k(all);
  const auto x = k.argument(dtype, kElements);
  const auto first = k.argument(DType::int64, rows);
  const auto out = k.argument(dtype, rows * columns, true);
  k.stage();
  const ValueId start = k.load(false, first, ShapeTracker(View{all, {1, 0}, 0, {}}));
  const ValueId column = k.position(false, Code::Index, ShapeTracker(View{all, {0, 1}, 0, {}}));
  Instr in;
  in.code = Code::Gather;
  in.dtype = in.from = register_dtype(dtype);
  in.a = k.op(false, Op::Add, DType::int64, start, column);
  in.result = k.value(in.dtype);
  in.aux = k.access(x, dtype, ShapeTracker(Shape{1, 1}).expand(all));
  ValueId v = k.add(false, in);
  if (doubled) v = k.op(false, Op::Add, in.dtype, v, v);
  if (doubled && is_half(dtype)) v = k.round(false, dtype, v);
  k.store(false, v, out, ShapeTracker(all));
  if (told) k.store(false, start, k.argument(DType::int64, rows * columns, true), ShapeTracker(all));
  return k.p;
}

/// Rows inside of the memory, some that leave it at either end, and some far outside.
Bytes starts(std::int64_t rows, std::int64_t columns) {
  Bytes b(DType::int64, rows);
  std::mt19937_64 random(3);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t& at = b.as<std::int64_t>()[i];
    at = static_cast<std::int64_t>(random() % kElements) - columns / 3;
    if (i % 7 == 3) at = i % 2 == 0 ? -(std::int64_t{1} << 54) : std::numeric_limits<std::int64_t>::min();
    if (i % 7 == 5) at = std::numeric_limits<std::int64_t>::max() - i % 3;
    if (i % 7 == 6) at = kElements - columns;
  }
  return b;
}

std::ptrdiff_t row_gathers(const LoopProgram& p) {
  const auto plan = backend::eigen::make_tile_plan(p, backend::isa::table(), 0);
  const std::vector<TileStep>& steps = plan->stages.front().outer;
  return std::count_if(steps.begin(), steps.end(), [](const TileStep& s) { return s.kind == StepKind::GatherRows; });
}

}  // namespace

TEST_CASE("rows of memory are gathered whole, and what lies outside is 0") {
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::float64}) {
    for (const std::int64_t columns : {2, 3, 16, 100, 1024, 4999}) {
      const std::int64_t rows = columns < 100 ? 700 : 23;
      for (const bool doubled : {false, true}) {
        const LoopProgram p = rows_at(dtype, rows, columns, doubled);
        CHECK(row_gathers(p) == 1);
        const Bytes x = random_bytes(dtype, kElements, 5), first = starts(rows, columns);
        const Bytes want(dtype, rows * columns);
        interpret(p, {&x, &first, &want});
        for (const std::string& level : isa_levels()) {
          for (const int threads : {1, 3}) {
            INFO(name(dtype), " ", columns, " ", doubled, " ", level, " ", threads);
            backend::eigen::EigenBackend device({.threads = threads, .isa = level, .tier = EigenTier::tile});
            const Bytes got(dtype, rows * columns);
            run(device, p, {&x, &first, &got});
            CHECK(got.same_bits(want));
          }
        }
      }
    }
  }
}

TEST_CASE("one row that begins at a number") {
  const LoopProgram p = rows_at(DType::float32, 1, 3000);
  backend::eigen::EigenBackend device({.threads = 1, .isa = "", .tier = EigenTier::tile});
  const Bytes x = random_bytes(DType::float32, kElements, 5), first(DType::int64, 1);
  *first.as<std::int64_t>() = 1717;
  const Bytes got(DType::float32, 3000), want(DType::float32, 3000);
  interpret(p, {&x, &first, &want});
  run(device, p, {&x, &first, &got});
  CHECK(got.same_bits(want));
}

TEST_CASE("positions that something else needs too are computed for all points") {
  const LoopProgram p = rows_at(DType::float32, 40, 50, false, true);
  CHECK(row_gathers(p) == 0);
  backend::eigen::EigenBackend device({.threads = 1, .isa = "", .tier = EigenTier::tile});
  const Bytes x = random_bytes(DType::float32, kElements, 5), first = starts(40, 50);
  const Bytes got(DType::float32, 2000), want(DType::float32, 2000), at(DType::int64, 2000), told(DType::int64, 2000);
  interpret(p, {&x, &first, &want, &told});
  run(device, p, {&x, &first, &got, &at});
  CHECK(got.same_bits(want));
  CHECK(at.same_bits(told));
}

}  // namespace row_gathers_test
