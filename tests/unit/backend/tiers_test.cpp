// Both tiers give the same bits: the tile machine, and kernels that a compiler built.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "oriel/oriel.hpp"
#include "support/isa_levels.hpp"
#include "tiers.hpp"

namespace tiers_test {

using namespace oriel;
using namespace oriel::test;

namespace {

bool truth(Op op) {
  return op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le || op == Op::IsNan || op == Op::IsInf;
}

template <class T>
T special(std::uint64_t which) {
  using Limits = std::numeric_limits<T>;
  const T all[] = {0, Limits::infinity(), Limits::quiet_NaN(), Limits::min(), Limits::denorm_min(), Limits::max(), 1,
                   2};
  return which % 16 < 8 ? all[which % 8] : -all[which % 8];
}

/// Numbers of every magnitude, mixed with NaN, infinities, zeros and subnormal numbers.
Bytes numbers(DType dtype, std::int64_t n, unsigned seed) {
  Bytes b = random_bytes(dtype, n, seed);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < n; ++i) {
    if (dtype == DType::float32) {
      if (i % 3 == 1) write_element(b, i, random() & 0xffffffffu);
      if (random() % 5 == 0) b.as<float>()[i] = special<float>(random());
    } else if (dtype == DType::float64) {
      if (i % 3 == 1) write_element(b, i, random());
      if (random() % 5 == 0) b.as<double>()[i] = special<double>(random());
    }
  }
  return b;
}

/// Some of the ops that take a dtype, over two operands.
std::vector<Work> element_programs(DType dtype) {
  std::vector<Op> ops;
  for (int i = 0; i < graph::kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (graph::is_elementwise(op) && op != Op::Cast && op != Op::Bitcast && op != Op::Where && takes(op, dtype))
      ops.push_back(op);
  }
  constexpr std::int64_t n = 5003;
  std::vector<Work> works;
  for (std::size_t first = 0; first < ops.size(); first += 12) {
    Builder k({n});
    k.p.name = "ops_" + std::string(name(dtype)) + "_" + std::to_string(first);
    const auto a = k.argument(dtype, n);
    const auto b = k.argument(dtype, n);
    k.stage();
    const ValueId x = k.load(false, a, ShapeTracker(Shape{n}));
    const ValueId y = k.load(false, b, ShapeTracker(Shape{n}));
    for (std::size_t i = first; i < std::min(ops.size(), first + 12); ++i) {
      const DType to = truth(ops[i]) ? DType::bool_ : dtype;
      const ValueId z = k.op(false, ops[i], to, x, graph::row(ops[i]).arity > 1 ? y : kNoValue);
      k.p.stages[0].outer.back().from = dtype;
      k.store(false, z, k.argument(to, n, true), ShapeTracker(Shape{n}));
    }
    works.push_back({k.p, {}});
    works.back().inputs.push_back(numbers(dtype, n, 1));
    works.back().inputs.push_back(numbers(dtype, n, 2));
  }
  return works;
}

}  // namespace

TEST_CASE("elementwise floats, at every level") {
  for (const std::string& level : isa_levels()) {
    std::vector<Work> works = element_programs(DType::float32);
    for (Work& w : element_programs(DType::float64)) works.push_back(std::move(w));
    check_same_bits(works, level);
  }
}

TEST_CASE("elementwise integers and bool") {
  std::vector<Work> works;
  for (const DType dtype : {DType::bool_, DType::int8, DType::uint16, DType::int64})
    for (Work& w : element_programs(dtype)) works.push_back(std::move(w));
  check_same_bits(works, "");
}

TEST_CASE("kernels of thousands of instructions") {
  std::vector<Work> works;
  for (const DType dtype : {DType::float32, DType::int32}) {
    constexpr std::int64_t n = 1003;
    Builder k({n});
    k.p.name = "long_" + std::string(name(dtype));
    const auto a = k.argument(dtype, n);
    const auto b = k.argument(dtype, n);
    k.stage();
    const ValueId x = k.load(false, a, ShapeTracker(Shape{n}));
    const ValueId y = k.load(false, b, ShapeTracker(Shape{n}));
    std::vector<ValueId> values{x, y};
    // Each also reads one of the nine values before it, so values live across the functions into which the kernel is
    // cut.
    for (std::size_t i = 0; i < 600; ++i) {
      const ValueId back = values[values.size() - 1 - std::min(values.size() - 1, i % 9)];
      ValueId v = k.op(false, Op::Sub, dtype, values.back(), back);
      v = k.op(false, Op::Min, dtype, v, i % 2 == 0 ? x : back);
      values.push_back(k.op(false, Op::Max, dtype, v, i % 3 == 0 ? y : values.back()));
    }
    k.store(false, values.back(), k.argument(dtype, n, true), ShapeTracker(Shape{n}));
    works.push_back({k.p, {}});
    works.back().inputs.push_back(random_bytes(dtype, n, 1));
    works.back().inputs.push_back(random_bytes(dtype, n, 2));
  }
  check_same_bits(works, "");
}

namespace {

/// The elements of the tensors, computed on a tier.
std::vector<std::vector<double>> elements(const std::vector<Tensor>& tensors, EigenTier tier) {
  set_eigen_tier(tier);
  realize(tensors);
  set_eigen_tier(EigenTier::tile);
  std::vector<std::vector<double>> all;
  for (const Tensor& t : tensors) all.push_back(t.to(DType::float64).to_vector<double>());
  return all;
}

/// Reductions of rows and columns with several lengths; several stages; movements; halves; gathers, also from outside.
std::vector<Tensor> programs() {
  const auto some = [](const Shape& shape, DType dtype) {
    const Tensor i = iota(shape).to(DType::float32);
    return (sin(i * 0.37F) * 9.0F).to(dtype).realize();
  };
  std::vector<Tensor> all;
  for (const std::int64_t length : {7, 1500}) {
    const Tensor x = some({40, length}, DType::float32);
    all.push_back(softmax(x));
    all.push_back(sum(x * 1.5F, 1));
    all.push_back(max(x, 0) + sum(x, 0));
    all.push_back(exp(x) / (1.0F + prod(abs(x) * 0.1F + 0.9F, 1, true)));
  }
  for (const DType dtype :
       {DType::bool_, DType::int16, DType::int64, DType::float16, DType::bfloat16, DType::float64}) {
    const Tensor x = some({30, 50}, dtype);
    all.push_back(sum(x, 0));
    all.push_back(max(x, 1));
    all.push_back(where(x > 0, x, x.flip(0)));
    all.push_back(pad(x.transpose(), {{2, 3}, {1, 0}}).to(DType::float32) * 2.0F);
    all.push_back((x + x).to(DType::int32));
    if (is_floating(dtype)) all.push_back(tanh(x) * log(abs(x) + 1.0F));
  }
  const Tensor x = some({6, 20, 30}, DType::float32);
  all.push_back(x.transpose().reshape({100, 36}).shrink({{3, 90}, {1, 30}}) * 3.0F);
  all.push_back(sum(x.permute({2, 0, 1}) + 1.0F, Axes{0, 2}));
  all.push_back(matmul(x, x.permute({0, 2, 1})));
  all.push_back(sqrt(abs(x)) * rsqrt(abs(x) + 0.1F) + floor(x) - round(x) + remainder(x, 1.7F));
  const Tensor table = some({9, 40}, DType::float32);
  const Tensor index = (iota({4, 30}) * 7 % 13 - 2).to(DType::int32).realize();
  const std::vector<Operand> operands{table, index};
  const ComprehensionResults read =
      comprehension(
          "def f(float(V, D) T, int32(B, L) I) -> (Y, S) {"
          " Y(b, l, d) = I(b, l) < 0 ? -1.0 : exp(T(I(b, l), D - 1 - d)) S(b, d) +=! T(I(b, l), d) }")
          .call(operands, {.bounds = Bounds::zero});
  all.push_back(read["Y"]);
  all.push_back(read["S"]);
  all.push_back(take(table.to(DType::float16), index, 1));
  // Lines and rows of a few points.
  for (const DType dtype : {DType::float32, DType::float16, DType::int64}) {
    const Tensor small = some({150, 3, 2}, dtype), rows = some({150, 8}, dtype);
    all.push_back(small + small.transpose().reshape({150, 3, 2}));
    all.push_back(pad(small.flip(1), {{1, 0}, {0, 1}, {2, 0}}) + 1);
    all.push_back(roll(small, 1, 1) * small.slice({{}, {}, {0, 1}}));
    all.push_back(argmax(rows, 1));
    all.push_back(concat({rows, rows.slice({{}, {2, 4}})}, 1).to(DType::float32) * 0.5F);
    if (is_floating(dtype)) all.push_back(softmax(small, 1));
    all.push_back(sum(small.unsqueeze(1) * small.unsqueeze(2), -1));
  }
  return all;
}

}  // namespace

TEST_CASE("reductions, stages, movement, halves and gathers, through the whole engine") {
  set_eigen_tier(EigenTier::tile);
  const auto tile = elements(programs(), EigenTier::tile);
  const auto compiled = elements(programs(), EigenTier::compile);
  REQUIRE(tile.size() == compiled.size());
  for (std::size_t p = 0; p < tile.size(); ++p) {
    CAPTURE(p);
    REQUIRE(tile[p].size() == compiled[p].size());
    std::size_t differ = 0;
    for (std::size_t i = 0; i < tile[p].size(); ++i) {
      const bool same = std::bit_cast<std::uint64_t>(tile[p][i]) == std::bit_cast<std::uint64_t>(compiled[p][i]) ||
                        (std::isnan(tile[p][i]) && std::isnan(compiled[p][i]));
      differ += same ? 0 : 1;
    }
    CHECK(differ == 0);
  }
}

}  // namespace tiers_test
