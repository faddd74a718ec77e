// Contractions on both tiers give the same bits, however the factors lie in memory and however the work is cut.
#include <set>

#include "backend/eigen/products/windows_plan.hpp"
#include "contraction_cases.hpp"
#include "source/cpp/contraction_blocks.hpp"
#include "source/cpp/contraction_source.hpp"
#include "tiers.hpp"

namespace contraction_tiers_test {

using namespace oriel;
using namespace oriel::test;
using source::cpp::ContractionBlocks;
using source::cpp::FactorLayout;
using source::cpp::Keep;

namespace {

struct Sizes {
  DType dtype;
  std::vector<Loop> outer;
  std::vector<std::int64_t> inner;
};

std::vector<Loop> matrix(std::int64_t rows, std::int64_t columns) {
  return {{Role::Row, rows}, {Role::Column, columns}};
}

/// Operands whose sums are rounded, so another order of addition would give other bits.
Work make(Generator& g, const Sizes& s, unsigned seed) {
  Case c = g.make(s.dtype, s.outer, s.inner);
  Work work{c.program, {}, {graph::Scalar::of_float(DType::float64, 2)}};
  work.program.name = "contraction_" + std::to_string(seed);
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const Bytes& b = c.inputs[i];
    const bool wide = b.dtype() == DType::float32 || b.dtype() == DType::float64;
    work.inputs.push_back(wide ? random_bytes(b.dtype(), b.elements(), seed + static_cast<unsigned>(i)) : b);
  }
  return work;
}

const ContractionBlocks blocks_of(const LoopProgram& program) {
  const auto plan = source::cpp::rendered_contraction(program);
  REQUIRE(plan.has_value());
  return source::cpp::choose_blocks(program, *plan, Keep::Heap, 256, false);
}

/// left (rows, depth) times right (depth, columns). Each may be stored transposed.
Work plain(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t depth, bool left_transposed,
           bool right_transposed, DType right_memory) {
  Builder k({rows, columns});
  k.p.name = "plain_" + std::to_string(rows) + "_" + std::to_string(columns) + "_" + std::to_string(depth) +
             (left_transposed ? "_t" : "_n") + (right_transposed ? "t_" : "n_") + std::string(name(right_memory));
  const auto x = k.argument(dtype, rows * depth);
  const auto y = k.argument(right_memory, depth * columns);
  const auto o = k.argument(dtype, rows * columns, true);
  k.stage({depth});
  const Ints left = left_transposed ? Ints{1, 0, rows} : Ints{depth, 0, 1};
  const Ints right = right_transposed ? Ints{0, depth, 1} : Ints{0, 1, columns};
  const ValueId a = k.load(true, x, ShapeTracker(View::make({rows, columns, depth}, left)));
  const ValueId b = k.load(true, y, ShapeTracker(View::make({rows, columns, depth}, right)));
  k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, dtype, a, b)), o, ShapeTracker(Shape{rows, columns}));
  return {k.p, {random_bytes(dtype, rows * depth, 1), random_bytes(right_memory, depth * columns, 2)}};
}

}  // namespace

TEST_CASE("random views, prologues and epilogues around the edges of blocks") {
  const std::vector<Sizes> all = {
      {DType::float32, matrix(13, 95), {40}},
      {DType::float32, matrix(17, 97), {4, 200}},
      {DType::float32, {{Role::Batch, 2}, {Role::Row, 7}, {Role::Column, 5}, {Role::Column, 6}}, {3, 3, 7}},
      {DType::float32, matrix(300, 530), {20}},
      {DType::float32, matrix(1, 200), {50}},
      {DType::float32, matrix(64, 3), {50}},
      {DType::float32, matrix(5, 6), {20000}},
      {DType::float64, matrix(9, 33), {100}},
      {DType::uint8, matrix(9, 70), {30}},
      {DType::int16, matrix(11, 40), {30}},
      {DType::int64, matrix(6, 21), {64}},
  };
  Generator g(31);
  std::vector<Work> works;
  for (std::size_t i = 0; i < all.size(); ++i) works.push_back(make(g, all[i], static_cast<unsigned>(i)));
  check_same_bits(works, "");
}

TEST_CASE("factors as they lie, packed and transposed, at every level") {
  std::vector<Work> works = {plain(DType::float32, 20, 64, 400, false, false, DType::float32),
                             plain(DType::float32, 70, 250, 33, true, true, DType::float32),
                             plain(DType::float32, 30, 50, 90, true, false, DType::float32),
                             plain(DType::float64, 12, 24, 45, false, true, DType::float64)};
  // Halves are widened while they are packed: here with the depth contiguous in memory, so they are transposed too.
  works.push_back(plain(DType::float32, 21, 40, 50, false, true, DType::bfloat16));
  std::set<std::pair<FactorLayout, FactorLayout>> seen;
  std::set<bool> transposed_in_memory;
  std::set<bool> strips;
  for (const Work& w : works) {
    const ContractionBlocks b = blocks_of(w.program);
    seen.insert({b.left, b.right});
    if (b.right == FactorLayout::Transposed) transposed_in_memory.insert(b.right_in_memory);
    strips.insert(b.strips);
  }
  CHECK(seen.size() >= 3);
  CHECK(transposed_in_memory.size() == 2);
  CHECK(strips.size() == 2);
  for (const std::string& level : isa_levels()) check_same_bits(works, level, level == isa_levels()[0] ? 1 : 3);
}

namespace {

/// Windows of 3 by 3 over padded images: (image, y, x) | (tap of y, tap of x).
Work windows(DType dtype, Op op, bool weighed) {
  constexpr std::int64_t images = 2;
  constexpr std::int64_t height = 23;
  constexpr std::int64_t width = 41;
  ShapeTracker t = ShapeTracker(Shape{images, height, width}).pad({{0, 0}, {1, 1}, {1, 1}});
  const Ints s = contiguous_strides(t.shape());
  t = t.view(View::make({images, height, width, 3, 3}, {s[0], s[1], s[2], s[1], s[2]})).simplify();
  Builder k({images, height, width});
  k.p.name = "windows_" + std::string(name(dtype)) + "_" + std::string(graph::name(op)) + (weighed ? "_weighed" : "");
  const auto in = k.argument(dtype, images * height * width);
  const auto weights = weighed ? k.argument(dtype, images * 9) : -1;
  const auto out = k.argument(dtype, images * height * width, true);
  k.stage({3, 3});
  ValueId v = k.load(true, in, t);
  if (weighed) {
    const View w = View::make({images, height, width, 3, 3}, {9, 0, 0, 3, 1});
    v = k.op(true, Op::Mul, dtype, v, k.load(true, weights, ShapeTracker(w)));
  }
  k.store(false, k.reduce(op, v), out, ShapeTracker(Shape{images, height, width}));
  Work work{k.p, {random_bytes(dtype, images * height * width, 5)}};
  if (weighed) work.inputs.push_back(random_bytes(dtype, images * 9, 6));
  return work;
}

}  // namespace

TEST_CASE("windows, with weights as products of one block, else as the reductions that they are") {
  std::vector<Work> works = {
      windows(DType::float32, Op::Sum, true),        windows(DType::float64, Op::Sum, true),
      windows(DType::int32, Op::Sum, true),          windows(DType::float32, Op::Sum, false),
      windows(DType::float32, Op::ReduceMax, false), windows(DType::int16, Op::ReduceMin, false)};
  for (const Work& w : works) {
    CHECK(backend::eigen::plan_windows(w.program, backend::isa::table()) != nullptr);
    CHECK((source::cpp::rendered_contraction(w.program).has_value()) == (w.inputs.size() == 2));
  }
  check_same_bits(works, "");
}

TEST_CASE("dot products are compiled as the reductions that they are") {
  std::vector<Work> works = {plain(DType::float32, 1, 40, 3000, false, true, DType::float32)};
  REQUIRE(!source::cpp::rendered_contraction(works[0].program));
  check_same_bits(works, "", 1);
}

}  // namespace contraction_tiers_test
