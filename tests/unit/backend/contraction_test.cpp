// Contractions as blocked products give the numbers that the program means, for all shapes, views, dtypes, instruction
// sets and numbers of threads.
#include <algorithm>
#include <array>

#include "contraction_cases.hpp"

namespace contraction_test {

using namespace oriel;
using namespace oriel::test;

namespace {

int level_count() { return static_cast<int>(isa_levels().size()); }

}  // namespace

TEST_CASE("shapes around the edges of register blocks") {
  Generator g(1);
  int blocked = 0;
  for (const auto& [rows, columns, depth] : std::vector<std::array<std::int64_t, 3>>{{2, 2, 2000},
                                                                                     {3, 47, 40},
                                                                                     {4, 48, 30},
                                                                                     {5, 49, 30},
                                                                                     {7, 16, 64},
                                                                                     {8, 15, 64},
                                                                                     {9, 17, 64},
                                                                                     {13, 95, 7},
                                                                                     {16, 96, 5},
                                                                                     {17, 97, 3},
                                                                                     {31, 33, 9},
                                                                                     {64, 3, 50},
                                                                                     {97, 2, 30},
                                                                                     {1, 64, 100},
                                                                                     {64, 1, 100}}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::int32}) {
      check(g.make(dtype, {{Role::Row, rows}, {Role::Column, columns}}, {depth}), &blocked);
    }
  }
  CHECK(blocked > 65 * level_count());
}

TEST_CASE("shapes around the edges of blocks in the caches and of summed depths") {
  Generator g(2);
  for (const auto& [rows, columns, depth] : std::vector<std::array<std::int64_t, 3>>{{257, 20, 20},
                                                                                     {20, 530, 20},
                                                                                     {12, 20, 383},
                                                                                     {12, 20, 384},
                                                                                     {12, 20, 385},
                                                                                     {20, 50, 1000},
                                                                                     {1, 2100, 9},
                                                                                     {3, 2100, 20},
                                                                                     {2, 40, 800},
                                                                                     {1, 70, 800},
                                                                                     {1, 5, 3000},
                                                                                     {5, 1, 3000}}) {
    check(g.make(DType::float32, {{Role::Row, rows}, {Role::Column, columns}}, {depth}));
  }
}

TEST_CASE("few rows that have to be computed, over a right factor that is read as it lies") {
  std::mt19937_64 random(4);
  const std::int64_t columns = 100;
  const std::int64_t depth = 50;
  for (const std::int64_t rows : {1, 2, 3, 4, 5}) {
    CAPTURE(rows);
    Case c;
    c.inputs.push_back(small_numbers(DType::float32, rows * depth, random));
    c.inputs.push_back(small_numbers(DType::float32, depth * columns, random));
    c.outputs.push_back({DType::float32, rows * columns});
    Builder k({rows, columns});
    const auto i0 = k.argument(DType::float32, rows * depth);
    const auto i1 = k.argument(DType::float32, depth * columns);
    const auto o0 = k.argument(DType::float32, rows * columns, true);
    k.stage({depth});
    const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, depth}, {depth, 0, 1})));
    const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, depth}, {0, 1, columns})));
    const ValueId less = k.op(true, Op::Neg, DType::float32, a);
    const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, less, b));
    k.store(false, sum, o0, ShapeTracker(Shape{rows, columns}));
    c.program = k.p;
    check(c);
  }
}

TEST_CASE("factors in memory whose depths are read backwards, apart, or all from one place") {
  std::mt19937_64 random(5);
  const std::int64_t rows = 8;
  const std::int64_t columns = 64;
  const std::int64_t depth = 8;
  int blocked = 0;
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const bool right : {true, false}) {
      for (const std::int64_t times : {-1, 0, 2, -2}) {
        CAPTURE(right);
        CAPTURE(times);
        // The right factor by depths, or the left one by rows or by depths: both are read in place.
        const std::int64_t wide = right ? columns : rows;
        const std::int64_t step = times * wide;
        const std::int64_t elements = (depth - 1) * std::abs(step) + wide;
        const std::int64_t first = step < 0 ? (depth - 1) * -step : 0;
        Case c;
        c.inputs.push_back(small_numbers(dtype, right ? rows * depth : elements, random));
        c.inputs.push_back(small_numbers(dtype, right ? elements : depth * columns, random));
        c.outputs.push_back({dtype, rows * columns});
        Builder k({rows, columns});
        const auto i0 = k.argument(dtype, right ? rows * depth : elements);
        const auto i1 = k.argument(dtype, right ? elements : depth * columns);
        const auto o0 = k.argument(dtype, rows * columns, true);
        const Shape all{rows, columns, depth};
        k.stage({depth});
        const View left = right ? View::make(all, {depth, 0, 1}) : View::make(all, {1, 0, step}, first);
        const ValueId a = k.load(true, i0, ShapeTracker(left.canonical()));
        const View other = right ? View::make(all, {0, 1, step}, first) : View::make(all, {0, 1, columns});
        const ValueId b = k.load(true, i1, ShapeTracker(other.canonical()));
        k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, dtype, a, b)), o0, ShapeTracker(Shape{rows, columns}));
        c.program = k.p;
        check(c, &blocked);
      }
    }
  }
  CHECK(blocked == 2 * 2 * 4 * 2 * level_count());
}

TEST_CASE("every dtype, exact") {
  Generator g(3);
  int blocked = 0;
  for (const DType dtype : register_dtypes()) {
    if (dtype == DType::bool_) continue;
    for (int n = 0; n < 4; ++n) {
      check(g.make(dtype, {{Role::Row, 5 + 6 * n}, {Role::Column, 20 + 15 * n}}, {30}), &blocked);
    }
  }
  CHECK(blocked > 33 * level_count());
}

TEST_CASE("random loops, views, prologues and epilogues") {
  int blocked = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    Generator g(seed + 100);
    std::vector<Loop> outer;
    const auto some = [&](Role role, std::int64_t least, std::int64_t most, std::int64_t extent) {
      for (std::int64_t n = least + g.below(most - least + 1); n > 0; --n) outer.push_back({role, 1 + g.below(extent)});
    };
    some(Role::Batch, 0, 2, 3);
    some(Role::Row, 1, 2, 8);
    some(Role::Column, 1, 2, 12);
    std::shuffle(outer.begin(), outer.end(), std::mt19937(seed));
    std::vector<std::int64_t> inner;
    for (std::int64_t n = 1 + g.below(3); n > 0; --n) inner.push_back(1 + g.below(9));
    CAPTURE(seed);
    check(g.make(seed % 4 == 3 ? DType::float64 : DType::float32, outer, inner), &blocked);
  }
  CHECK(blocked > 50 * level_count());
}

TEST_CASE("a result is within its bound, and its bits do not depend on threads") {
  const std::int64_t rows = 150;
  const std::int64_t columns = 600;
  const std::int64_t depth = 700;
  const Bytes x = random_bytes(DType::float32, rows * depth, 1);
  const Bytes y = random_bytes(DType::float32, depth * columns, 2);
  Builder k({rows, columns});
  const auto i0 = k.argument(DType::float32, rows * depth);
  const auto i1 = k.argument(DType::float32, depth * columns);
  const auto o0 = k.argument(DType::float32, rows * columns, true);
  k.stage({depth});
  const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, depth}, {depth, 0, 1})));
  const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, depth}, {0, 1, columns})));
  k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b)), o0, ShapeTracker(Shape{rows, columns}));
  for (const std::string& isa : isa_levels()) {
    Bytes first(DType::float32, rows * columns);
    for (const int threads : {1, 2, 4}) {
      backend::eigen::EigenBackend device({threads, 0, isa});
      const Bytes got(DType::float32, rows * columns);
      run(device, k.p, {&x, &y, &got});
      if (threads == 1) {
        std::memcpy(first.data(), got.data(), got.bytes());
        double worst = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            double sum = 0;
            double size = 0;
            for (std::int64_t r = 0; r < depth; ++r) {
              const double product = static_cast<double>(x.as<float>()[i * depth + r]) * y.as<float>()[r * columns + j];
              sum += product;
              size += std::fabs(product);
            }
            // At most one rounding for each product and one for each sum.
            const double bound = static_cast<double>(depth + 1) * 0x1p-24 * size;
            worst = std::max(worst, std::fabs(got.as<float>()[i * columns + j] - sum) / bound);
          }
        }
        CHECK(worst < 1);
      }
      CHECK(got.same_bits(first));
    }
  }
}

TEST_CASE("factors larger than what is packed at a time, and depths that are not shared") {
  std::mt19937_64 random(9);
  for (const auto& [rows, columns, depth] :
       std::vector<std::array<std::int64_t, 3>>{{1100, 1200, 4200}, {270, 600, 9000}}) {
    const Bytes x = small_numbers(DType::float32, rows * depth, random);
    const Bytes y = small_numbers(DType::float32, columns * depth, random);
    Builder k({rows, columns});
    const auto i0 = k.argument(DType::float32, rows * depth);
    const auto i1 = k.argument(DType::float32, depth * columns);
    const auto o0 = k.argument(DType::float32, rows * columns, true);
    k.stage({depth});
    const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, depth}, {depth, 0, 1})));
    const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, depth}, {0, depth, 1})));
    k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b)), o0,
            ShapeTracker(Shape{rows, columns}));
    for (const int threads : {1, 3}) {
      backend::eigen::EigenBackend device({threads, 0, ""});
      const Bytes got(DType::float32, rows * columns);
      run(device, k.p, {&x, &y, &got});
      int wrong = 0;
      for (std::int64_t at = 0; at < rows * columns; at += 613) {
        float sum = 0;
        const float* left = x.as<float>() + at / columns * depth;
        const float* right = y.as<float>() + at % columns * depth;
        for (std::int64_t r = 0; r < depth; ++r) sum += left[r] * right[r];
        if (got.as<float>()[at] != sum) ++wrong;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("long depths are summed in segments, whose order does not depend on threads") {
  Generator g(6);
  int blocked = 0;
  const std::int64_t depth = 20000;
  check(g.make(DType::float32, {{Role::Row, 5}, {Role::Column, 6}}, {depth}), &blocked);
  check(g.make(DType::int32, {{Role::Row, 3}, {Role::Column, 4}}, {4, depth / 2}), &blocked);
  check(g.make(DType::float64, {{Role::Batch, 2}, {Role::Row, 3}, {Role::Column, 2}}, {depth / 2}), &blocked);
  CHECK(blocked > 0);

  // Products packed into panels, products that stream the right factor, and dot products.
  for (const auto& [rows, columns, transposed, path] :
       std::vector<std::tuple<std::int64_t, std::int64_t, bool, std::string>>{
           {6, 20, true, "blocked, rows from in0 read as they lie, columns from in1 packed, depth in 12 segments"},
           {2, 40, false,
            "streamed, rows from in0 read as they lie, columns from in1 read as they lie, depth in 12 segments"},
           {1, 3, true,
            "dot products, rows from in0 read as they lie, columns from in1 read as they lie, depth in 7 "
            "segments"}}) {
    const std::int64_t long_depth = 50001;
    const Bytes x = random_bytes(DType::float32, rows * long_depth, 21);
    const Bytes y = random_bytes(DType::float32, columns * long_depth, 22);
    Builder k({rows, columns});
    const auto i0 = k.argument(DType::float32, x.elements());
    const auto i1 = k.argument(DType::float32, y.elements());
    const auto o0 = k.argument(DType::float32, rows * columns, true);
    k.stage({long_depth});
    const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, long_depth}, {long_depth, 0, 1})));
    const Ints steps = transposed ? Ints{0, long_depth, 1} : Ints{0, 1, columns};
    const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, long_depth}, steps)));
    k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b)), o0,
            ShapeTracker(Shape{rows, columns}));
    for (const std::string& isa : isa_levels()) {
      Bytes first(DType::float32, rows * columns);
      for (const int threads : {1, 2, 5}) {
        backend::eigen::EigenBackend device({threads, 0, isa});
        const std::string method = device.method(k.p);
        CAPTURE(method);
        CHECK(method.ends_with("(rows, columns, depth); " + path));
        const Bytes got(DType::float32, rows * columns);
        run(device, k.p, {&x, &y, &got});
        if (threads == 1) std::memcpy(first.data(), got.data(), got.bytes());
        CHECK(got.same_bits(first));
      }
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        double sum = 0;
        double size = 0;
        for (std::int64_t r = 0; r < long_depth; ++r) {
          const double u = x.as<float>()[i / columns * long_depth + r];
          const double v = y.as<float>()[transposed ? i % columns * long_depth + r : r * columns + i % columns];
          sum += u * v;
          size += std::fabs(u * v);
        }
        CHECK(std::fabs(first.as<float>()[i] - sum) < 500 * 0x1p-24 * size);
      }
    }
  }
}

TEST_CASE("infinities and NaN reach exactly the results that they belong to") {
  Generator g(5);
  Builder k({20, 50});
  const auto i0 = k.argument(DType::float32, 20 * 40);
  const auto i1 = k.argument(DType::float32, 40 * 50);
  const auto o0 = k.argument(DType::float32, 20 * 50, true);
  k.stage({40});
  // Column 49 of the right factor is padding: 0 * infinity is NaN there too.
  const ValueId a = k.load(true, i0, ShapeTracker(View::make({20, 50, 40}, {40, 0, 1})));
  const ValueId b =
      k.load(true, i1, ShapeTracker(View::make({20, 50, 40}, {0, 1, 50}, 0, {{0, 20}, {0, 49}, {0, 40}})));
  k.store(false, k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b)), o0, ShapeTracker(Shape{20, 50}));
  Bytes x(DType::float32, 20 * 40);
  Bytes y(DType::float32, 40 * 50);
  for (std::int64_t i = 0; i < x.elements(); ++i) x.as<float>()[i] = static_cast<float>(g.below(9)) + 1;
  for (std::int64_t i = 0; i < y.elements(); ++i) y.as<float>()[i] = -static_cast<float>(g.below(9)) - 1;
  x.as<float>()[3 * 40 + 7] = std::numeric_limits<float>::infinity();
  x.as<float>()[9 * 40 + 1] = std::numeric_limits<float>::quiet_NaN();
  y.as<float>()[5 * 50 + 20] = -std::numeric_limits<float>::infinity();
  y.as<float>()[6 * 50 + 48] = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& isa : isa_levels()) {
    backend::eigen::EigenBackend device({1, 0, isa});
    const Bytes got(DType::float32, 20 * 50);
    const Bytes want(DType::float32, 20 * 50);
    run(device, k.p, {&x, &y, &got});
    interpret(k.p, {&x, &y, &want});
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const float w = want.as<float>()[i];
      const float r = got.as<float>()[i];
      CAPTURE(i);
      CHECK((std::isnan(w) ? std::isnan(r) : r == w && std::signbit(r) == std::signbit(w)));
    }
  }
}

TEST_CASE("a residual is added in place") {
  const std::int64_t rows = 70;
  const std::int64_t columns = 90;
  const std::int64_t depth = 500;
  std::mt19937_64 random(3);
  const Bytes x = small_numbers(DType::float32, rows * depth, random);
  const Bytes y = small_numbers(DType::float32, depth * columns, random);
  const Bytes residual = small_numbers(DType::float32, rows * columns, random);
  Builder k({rows, columns});
  const auto i0 = k.argument(DType::float32, rows * depth);
  const auto i1 = k.argument(DType::float32, depth * columns);
  const auto i2 = k.argument(DType::float32, rows * columns);
  const auto o0 = k.argument(DType::float32, rows * columns, true);
  k.p.arguments.back().shares = i2;
  k.stage({depth});
  const ValueId a = k.load(true, i0, ShapeTracker(View::make({rows, columns, depth}, {depth, 0, 1})));
  const ValueId b = k.load(true, i1, ShapeTracker(View::make({rows, columns, depth}, {0, 1, columns})));
  const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, DType::float32, a, b));
  const ShapeTracker t(Shape{rows, columns});
  k.store(false, k.op(false, Op::Add, DType::float32, sum, k.load(false, i2, t)), o0, t);
  const Bytes want(DType::float32, rows * columns);
  interpret(k.p, {&x, &y, &residual, &want});
  for (const std::string& isa : isa_levels()) {
    for (const int threads : {1, 3}) {
      backend::eigen::EigenBackend device({threads, 0, isa});
      const Bytes both = residual;
      run(device, k.p, {&x, &y, &both, &both});
      CHECK(both.same_bits(want));
    }
  }
}

}  // namespace contraction_test
