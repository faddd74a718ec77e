// Reductions and programs of several stages in rendered sources give the bits of the fixed order.
#include "codegen/keep.hpp"
#include "library.hpp"

namespace reduce_test {

using namespace oriel;
using namespace oriel::test;

namespace {

Sample reduction(DType dtype, const std::vector<Op>& ops, Ints outer, Ints inner, Orientation orientation) {
  Shape all = outer;
  all.insert(all.end(), inner.begin(), inner.end());
  const std::int64_t n = numel(all).value();
  Builder k(outer, orientation);
  k.p.name = orientation == Orientation::Inner ? "rows" : "columns";
  const auto i0 = k.argument(dtype, n);
  k.stage(inner);
  const ValueId x = k.load(true, i0, ShapeTracker(all));
  std::vector<ValueId> results;
  for (const Op op : ops) results.push_back(k.reduce(op, x));
  for (const ValueId v : results) k.store(false, v, k.argument(dtype, numel(outer).value(), true), ShapeTracker(outer));
  return {k.p, {random_bytes(dtype, n, 3)}, {}, {}};
}

/// Softmax over the last axis. A square replaces the exponential, so that bits can be compared.
Sample softmax(std::int64_t points, std::int64_t length, Orientation orientation, bool exact) {
  Builder k({points}, orientation);
  k.p.name = "softmax";
  const std::int64_t n = points * length;
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  const ShapeTracker t(Shape{points, length});
  const auto weight = [&](ValueId d) {
    return exact ? k.op(true, Op::Mul, DType::float32, d, d) : k.op(true, Op::Exp, DType::float32, d);
  };
  k.stage({length});
  const ValueId largest = k.reduce(Op::ReduceMax, k.load(true, i0, t));
  k.stage({length});
  const ValueId sum = k.reduce(Op::Sum, weight(k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), largest)));
  k.stage({length});
  const ValueId w = weight(k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), largest));
  k.store(true, k.op(true, Op::Div, DType::float32, w, sum), o0, t);
  Sample sample{k.p, {random_bytes(DType::float32, n, 4)}, {}, {}};
  if (!exact) {
    sample.agree = [](std::size_t, std::int64_t, Word got, Word want) {
      return std::fabs(get<float>(got) - get<float>(want)) <= 2e-6F * get<float>(want);
    };
  }
  return sample;
}

/// Asks whether every x is below its exponential, and whether any is above: packets, and reductions of comparisons.
Sample below_exp(std::int64_t points, std::int64_t length) {
  Builder k({points});
  k.p.name = "below_exp";
  const std::int64_t n = points * length;
  const auto i0 = k.argument(DType::float32, n);
  k.stage({length});
  const ValueId x = k.load(true, i0, ShapeTracker(Shape{points, length}));
  const ValueId e = k.op(true, Op::Exp, DType::float32, x);
  const ValueId every = k.reduce(Op::ReduceMin, k.op(true, Op::Lt, DType::bool_, x, e));
  const ValueId any = k.reduce(Op::ReduceMax, k.op(true, Op::Lt, DType::bool_, e, x));
  for (const ValueId v : {every, any})
    k.store(false, v, k.argument(DType::bool_, points, true), ShapeTracker(Shape{points}));
  return {k.p, {random_bytes(DType::float32, n, 5)}, {}, {}};
}

}  // namespace

TEST_CASE("the order depends on the length alone") {
  std::vector<Sample> samples;
  const std::vector<std::pair<Ints, Ints>> domains = {
      {{7}, {3}},        {{33}, {17}},   {{3}, {1025}}, {{}, {5000}},   {{17}, {3333}}, {{1}, {0}},
      {{70, 3}, {7, 5}}, {{1}, {70000}}, {{3}, {}},     {{2}, {20, 3}}, {{0}, {5}},     {{600}, {2, 3, 11}},
  };
  for (const auto& [outer, inner] : domains) {
    for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
      samples.push_back(reduction(DType::float32, {Op::Sum, Op::ReduceMax}, outer, inner, o));
    }
  }
  check_samples(samples);
}

TEST_CASE("every dtype and every reduction, with optimisation") {
  std::vector<Sample> samples;
  for (const DType dtype : register_dtypes()) {
    const Orientation o = itemsize(dtype) % 4 == 0 ? Orientation::Inner : Orientation::Outer;
    samples.push_back(reduction(dtype, reductions(dtype), {9}, {2000}, o));
  }
  samples.push_back(reduction(DType::bool_, reductions(DType::bool_), {9}, {0}, Orientation::Inner));
  samples.push_back(reduction(DType::float32, {Op::Sum, Op::Prod}, {300}, {1100}, Orientation::Outer));
  check_samples(samples, "-O3 -march=native");
}

TEST_CASE("truths about packets are reduced") {
  std::vector<Sample> samples;
  samples.push_back(below_exp(5, 37));
  check_samples(samples);
}

TEST_CASE("NaN propagates through the extremes") {
  std::vector<Sample> samples;
  for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
    samples.push_back(reduction(DType::float32, {Op::ReduceMax, Op::ReduceMin, Op::Sum}, {4}, {1500}, o));
    for (int i = 0; i < 4; ++i) {
      samples.back().inputs[0].as<float>()[i * 1500 + i * 499] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  check_samples(samples);
}

TEST_CASE("softmax: stages that read what the stages before them gave") {
  std::vector<Sample> samples;
  for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
    for (const bool exact : {true, false}) {
      samples.push_back(softmax(300, 7, o, exact));
      samples.push_back(softmax(40, 1000, o, exact));
      if (exact) samples.push_back(softmax(1, 9000, o, exact));
    }
  }
  check_samples(samples, "-O2", true);
}

/// Rows that keep two values, of `dtype` and bool, for a later stage, with any number of inner loops.
Sample keeping(DType dtype, std::int64_t points, const Ints& inner, int extra) {
  Builder k({points / 2, 2}, Orientation::Inner);
  k.p.name = "keeping";
  Shape all{points / 2, 2};
  all.insert(all.end(), inner.begin(), inner.end());
  const ShapeTracker t(all);
  const std::int64_t n = numel(all).value();
  const auto i0 = k.argument(dtype, n);
  const auto o0 = k.argument(dtype, n, true);
  ValueId total = kNoValue;
  const auto weight = [&](ValueId sum) {
    ValueId v = k.op(true, Op::Add, dtype, k.load(true, i0, t), sum);
    for (int i = 0; i < extra; ++i) v = k.op(true, i % 2 == 0 ? Op::Neg : Op::Abs, dtype, v);
    return k.op(true, Op::FloorDiv, dtype, v, k.op(true, Op::Max, dtype, k.load(true, i0, t), sum));
  };
  const auto dear = [&](ValueId w) {
    const ValueId test = k.op(true, Op::Lt, DType::bool_, k.op(true, Op::FloorDiv, dtype, total, w), w);
    k.p.stages.back().body.back().from = dtype;
    return test;
  };
  k.stage(inner);
  total = k.reduce(Op::Sum, k.load(true, i0, t));
  k.stage(inner);
  const ValueId first = weight(total);
  const ValueId most = k.reduce(Op::ReduceMax, k.op(true, Op::Where, dtype, dear(first), first, k.load(true, i0, t)));
  k.stage(inner);
  const ValueId again = weight(total);
  const ValueId chosen = k.op(true, Op::Where, dtype, dear(again), again, most);
  k.p.stages.back().body.back().from = dtype;
  k.store(true, k.op(true, Op::Sub, dtype, chosen, again), o0, t);
  return {k.p, {random_bytes(dtype, n, 3)}, {}, {}};
}

TEST_CASE("what a row keeps for a later stage") {
  std::vector<Sample> samples;
  samples.push_back(softmax(300, 7, Orientation::Inner, false));
  samples.push_back(softmax(40, 1000, Orientation::Inner, false));
  samples.push_back(keeping(DType::float32, 18, {1500}, 0));
  samples.push_back(keeping(DType::float32, 200, {3, 17}, 60));
  samples.push_back(keeping(DType::float64, 200, {3, 17}, 0));
  samples.push_back(keeping(DType::int16, 18, {1500}, 60));
  for (Sample& sample : samples) {
    REQUIRE(codegen::keep_rows(sample.program, 128 * 1024));
    codegen::verify(sample.program);
  }
  check_samples(samples, "-O1", true);
}

TEST_CASE("several reductions, stages of different extents, outer values kept over stages") {
  std::vector<Sample> samples;
  for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
    // Once so small that each value has a name, and once with so many instructions that tiles are reused.
    for (const int extra : {0, 60}) {
      const std::int64_t points = 6;
      const std::int64_t a = 2400;
      const std::int64_t b = 50;
      Builder k({points}, o);
      k.p.name = "stages";
      const auto i0 = k.argument(DType::float64, points * a);
      const auto i1 = k.argument(DType::float64, points * b);
      const auto o0 = k.argument(DType::float64, points * b, true);
      k.stage({24, 100});
      ValueId v = k.load(true, i0, ShapeTracker(Shape{points, a}).flip({1}).reshape({points, 24, 100}));
      for (int i = 0; i < extra; ++i) v = k.op(true, i % 2 == 0 ? Op::Neg : Op::Abs, DType::float64, v);
      const ValueId sum = k.reduce(Op::Sum, v);
      const ValueId most = k.reduce(Op::ReduceMax, k.op(true, Op::Abs, DType::float64, v));
      ValueId ratio = k.op(false, Op::Div, DType::float64, sum, most);
      for (int i = 0; i < extra; ++i) ratio = k.op(false, Op::Sub, DType::float64, ratio, sum);
      const ValueId first = k.load(false, i1, ShapeTracker(View::make({points}, {b})));
      const ValueId fixed = k.load(false, i1, ShapeTracker(View::make({points}, {0}, 7)));
      k.stage({b});
      const ValueId w = k.load(true, i1, ShapeTracker(Shape{points, b}));
      const ValueId moved = k.op(true, Op::Mul, DType::float64, k.op(true, Op::Exp2, DType::float64, fixed), fixed);
      const ValueId least = k.reduce(Op::ReduceMin, k.op(true, Op::Add, DType::float64, w, ratio));
      const ValueId spread = k.reduce(Op::ReduceMax, k.op(true, Op::Floor, DType::float64, moved));
      k.stage();
      const ValueId mixed = k.op(false, Op::Sub, DType::float64, least, first);
      k.stage({b});
      const ValueId z = k.load(true, i1, ShapeTracker(Shape{points, b}));
      const ValueId scaled = k.op(true, Op::Mul, DType::float64, z, k.op(true, Op::Add, DType::float64, mixed, sum));
      k.store(true, k.op(true, Op::Sub, DType::float64, scaled, spread), o0, ShapeTracker(Shape{points, b}));
      samples.push_back(
          {k.p, {random_bytes(DType::float64, points * a, 1), random_bytes(DType::float64, points * b, 2)}, {}, {}});
    }
  }
  check_samples(samples);
}

}  // namespace reduce_test
