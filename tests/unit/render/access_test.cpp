// Loads, stores, positions and validity through views of every kind, in rendered sources.
#include "library.hpp"

namespace access_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Case {
  ShapeTracker tracker;
  std::int64_t elements;
};

std::vector<Case> cases() {
  const ShapeTracker big(Shape{40, 50});
  const ShapeTracker transposed = ShapeTracker(Shape{60, 70}).permute({1, 0}).reshape({60, 70});
  return {
      {big, 2000},
      {ShapeTracker(Shape{50, 40}).permute({1, 0}), 2000},
      {big.flip({1}), 2000},
      {big.flip({0}), 2000},
      {ShapeTracker(Shape{44, 64}).shrink({{1, 41}, {3, 53}}), 44 * 64},
      {ShapeTracker(Shape{31, 40}).pad({{4, 5}, {7, 3}}), 31 * 40},
      {ShapeTracker(Shape{31, 40}).pad({{4, 5}, {7, 3}}).flip({0, 1}), 31 * 40},
      {ShapeTracker(Shape{31, 50}).pad({{4, 5}, {0, 0}}), 31 * 50},
      {ShapeTracker(Shape{1, 50}).expand({40, 50}), 50},
      {ShapeTracker(Shape{40, 1}).expand({40, 50}), 40},
      {ShapeTracker(Shape{30, 1}).expand({30, 50}).pad({{3, 7}, {0, 0}}), 30},
      {ShapeTracker(Shape{1, 1}).expand({40, 50}), 1},
      {ShapeTracker(Shape{1, 1}).expand({10, 20}).pad({{20, 10}, {30, 0}}), 1},
      {ShapeTracker(View::make({40, 50}, {150, 3})), 6000},
      {ShapeTracker(Shape{4, 5}).pad({{0, 40}, {0, 50}}).shrink({{4, 44}, {5, 55}}), 20},
      {ShapeTracker(Shape{15, 60}).pad({{2, 3}, {20, 20}}).reshape({40, 50}), 900},
      {ShapeTracker(Shape{15, 60}).pad({{2, 3}, {20, 20}}).reshape({50, 40}).permute({1, 0}).flip({1}), 900},
      {ShapeTracker(Shape{50, 40}).permute({1, 0}).reshape({25, 80}).permute({1, 0}).reshape({40, 50}).flip({0}), 2000},
      {transposed.view(View::make({40, 50}, {-90, -3}, 4199)), 4200},
  };
}

}  // namespace

TEST_CASE("elementwise: floats, halves, positions and validity") {
  std::vector<Sample> samples;
  for (const Case& c : cases()) {
    Builder k({40, 50});
    k.p.name = "access";
    const ShapeTracker out(Shape{40, 50});
    const auto i0 = k.argument(DType::float32, c.elements);
    const auto i1 = k.argument(DType::bfloat16, c.elements);
    k.stage();
    k.store(false, k.load(false, i0, c.tracker), k.argument(DType::float32, 2000, true), out);
    k.store(false, k.load(false, i1, c.tracker), k.argument(DType::bfloat16, 2000, true), out.flip({0, 1}));
    k.store(false, k.position(false, Code::Index, c.tracker), k.argument(DType::int64, 2000, true), out);
    k.store(false, k.position(false, Code::Valid, c.tracker), k.argument(DType::bool_, 2000, true), out);
    samples.push_back(
        {k.p, {random_bytes(DType::float32, c.elements, 5), random_bytes(DType::bfloat16, c.elements, 6)}, {}, {}});
  }
  check_samples(samples);
}

TEST_CASE("in rows and in columns, with a value of the outer point beside them") {
  std::vector<Sample> samples;
  for (const Orientation orientation : {Orientation::Inner, Orientation::Outer}) {
    for (const Case& c : cases()) {
      Builder k({40}, orientation);
      k.p.name = orientation == Orientation::Inner ? "rows" : "columns";
      const auto i0 = k.argument(DType::int32, c.elements);
      const auto i1 = k.argument(DType::int32, 40);
      k.stage();
      const ValueId f = k.load(false, i1, ShapeTracker(Shape{40}));
      k.stage({50});
      const ValueId x = k.op(true, Op::Mul, DType::int32, k.load(true, i0, c.tracker), f);
      k.store(true, x, k.argument(DType::int32, 2000, true), ShapeTracker(Shape{40, 50}));
      const ValueId sum = k.reduce(Op::Sum, x);
      k.store(false, sum, k.argument(DType::int32, 40, true), ShapeTracker(Shape{40}));
      samples.push_back({k.p, {random_bytes(DType::int32, c.elements, 5), random_bytes(DType::int32, 40, 6)}, {}, {}});
    }
  }
  check_samples(samples);
}

TEST_CASE("stores through views: strided, reversed, transposed, masked, general") {
  std::vector<Sample> samples;
  const std::vector<Case> targets = {
      {ShapeTracker(Shape{40, 50}), 2000},
      {ShapeTracker(Shape{40, 50}).flip({0, 1}), 2000},
      {ShapeTracker(Shape{50, 40}).permute({1, 0}), 2000},
      {ShapeTracker(View::make({40, 50}, {200, 3}, 7)), 8000},
      {ShapeTracker(Shape{20, 30}).pad({{10, 10}, {0, 20}}), 600},
      {ShapeTracker(Shape{50, 40}).permute({1, 0}).reshape({50, 40}).permute({1, 0}), 2000},
  };
  for (const DType dtype : {DType::float32, DType::float16, DType::uint8}) {
    for (const Case& target : targets) {
      Builder k({40, 50});
      k.p.name = "store";
      const auto i0 = k.argument(dtype, 2000);
      k.stage();
      const ValueId x = k.load(false, i0, ShapeTracker(Shape{40, 50}));
      const ValueId y = k.op(false, Op::Max, register_dtype(dtype), x, x);
      k.store(false, y, k.argument(dtype, target.elements, true), target.tracker);
      samples.push_back({k.p, {random_bytes(dtype, 2000, 5)}, {}, {}});
    }
  }
  check_samples(samples);
}

TEST_CASE("no loops, loops of one point, no points") {
  std::vector<Sample> samples;
  for (const Ints& outer : {Ints{}, Ints{1}, Ints{0}, Ints{3, 0}, Ints{1, 5}}) {
    const std::int64_t n = numel(outer).value();
    Builder k(outer);
    k.p.name = "small";
    const auto i0 = k.argument(DType::float32, n);
    k.stage();
    const ValueId x = k.load(false, i0, ShapeTracker(outer));
    k.store(false, k.op(false, Op::Add, DType::float32, x, x), k.argument(DType::float32, n, true),
            ShapeTracker(outer));
    samples.push_back({k.p, {random_bytes(DType::float32, n, 5)}, {}, {}});
  }
  check_samples(samples);
}

}  // namespace access_test
