// What explain says of loops and accesses that keep a kernel far from the time of its memory and arithmetic.
#include <doctest/doctest.h>

#include "programs.hpp"

namespace access_notes_test {

using namespace oriel;
using namespace oriel::test;

namespace {

std::string method(const LoopProgram& p) { return backend::eigen::EigenBackend({1, 0, ""}).method(p); }

/// out = the sum of the elements that the views read.
LoopProgram sum_of(const Ints& outer, const std::vector<View>& views, std::int64_t elements) {
  Builder k(outer);
  const auto x = k.argument(DType::float32, elements);
  const auto out = k.argument(DType::float32, numel(outer, "test").value(), true);
  k.stage();
  ValueId sum = kNoValue;
  for (const View& view : views) {
    const ValueId v = k.load(false, x, ShapeTracker(view));
    sum = sum == kNoValue ? v : k.op(false, Op::Add, DType::float32, sum, v);
  }
  k.store(false, sum, out, ShapeTracker(outer));
  return k.p;
}

/// out[i, j] = x[first[i, j] + (rows ? j : 0)], where `first` has a number for each row if `rows`, else for each point.
LoopProgram gathered(std::int64_t rows, std::int64_t columns, bool by_rows) {
  const Ints all{rows, columns};
  Builder k(all);
  const auto x = k.argument(DType::float32, 1 << 20);
  const auto first = k.argument(DType::int64, by_rows ? rows : rows * columns);
  const auto out = k.argument(DType::float32, rows * columns, true);
  k.stage();
  ValueId at = k.load(false, first, ShapeTracker(View{all, {by_rows ? 1 : columns, by_rows ? 0 : 1}, 0, {}}));
  if (by_rows) {
    const ValueId column = k.position(false, Code::Index, ShapeTracker(View{all, {0, 1}, 0, {}}));
    at = k.op(false, Op::Add, DType::int64, at, column);
  }
  Instr in;
  in.code = Code::Gather;
  in.dtype = in.from = DType::float32;
  in.a = at;
  in.result = k.value(DType::float32);
  in.aux = k.access(x, DType::float32, ShapeTracker(Shape{1, 1}).expand(all));
  k.store(false, k.add(false, in), out, ShapeTracker(all));
  return k.p;
}

LoopProgram row_sums(std::int64_t rows, std::int64_t columns) {
  Builder k({rows});
  const auto x = k.argument(DType::float32, rows * columns);
  const auto out = k.argument(DType::float32, rows, true);
  k.stage({columns});
  const ValueId r = k.reduce(Op::Sum, k.load(true, x, ShapeTracker(Shape{rows, columns})));
  k.store(false, r, out, ShapeTracker(Shape{rows}));
  return k.p;
}

constexpr std::int64_t kMany = 200'000;

}  // namespace

TEST_CASE("gathers say whether they read elements, short rows, or rows") {
  CHECK(method(gathered(2000, 100, false)) == "gathers in0 element by element: rows of 4 bytes");
  CHECK(method(gathered(kMany, 3, true)) == "gathers in0 in rows of 12 bytes");
  CHECK(method(gathered(2000, 100, true)).empty());
}

TEST_CASE("reads of parts of cache lines say how much of a line they use") {
  const View three{{kMany, 3}, {16, 1}, 0, {}}, six{{kMany, 6}, {16, 1}, 0, {}}, second{{kMany}, {2}, 1, {}},
      far{{kMany}, {100}, 7, {}};
  CHECK(method(sum_of({kMany, 3}, {three}, 16 * kMany)) == "reads 12 of each 64 bytes of in0");
  CHECK(method(sum_of({kMany, 6}, {six}, 16 * kMany)) ==
        "reads 24 of each 64 bytes of in0\nthe innermost loop has 6 points: a vector spans several lines");
  CHECK(method(sum_of({kMany}, {second}, 2 * kMany)) == "reads 32 of each 64 bytes of in0");
  CHECK(method(sum_of({kMany}, {far}, 100 * kMany)) == "reads 4 of each 64 bytes of in0");
  // The three coordinates of points, and a transposed matrix, use whole lines.
  std::vector<View> coordinates;
  for (std::int64_t d = 0; d < 3; ++d) coordinates.push_back({{kMany}, {3}, d, {}});
  CHECK(method(sum_of({kMany}, coordinates, 3 * kMany)).empty());
  CHECK(method(sum_of({500, 400}, {{{500, 400}, {1, 500}, 0, {}}}, kMany)).empty());
}

TEST_CASE("reductions of short rows say so") {
  CHECK(method(row_sums(kMany, 16)) == "reduces rows of 16 points, fewer than the 32 lanes");
  CHECK(method(row_sums(kMany, 100)).empty());
}

TEST_CASE("nothing is said of kernels that take no time") {
  CHECK(method(gathered(10, 10, false)).empty());
  CHECK(method(sum_of({100, 3}, {{{100, 3}, {16, 1}, 0, {}}}, 1600)).empty());
}

}  // namespace access_notes_test
