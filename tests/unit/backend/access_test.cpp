// Loads, stores, positions and validity through views of every kind.
#include <doctest/doctest.h>

#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace access_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Case {
  const char* what;
  ShapeTracker tracker;
  std::int64_t elements;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* what, const ShapeTracker& t, std::int64_t elements) {
    all.push_back({what, t, elements});
  };
  const ShapeTracker big(Shape{40, 50});
  add("contiguous", big, 2000);
  add("transposed", ShapeTracker(Shape{50, 40}).permute({1, 0}), 2000);
  add("reversed", big.flip({1}), 2000);
  add("reversed rows", big.flip({0}), 2000);
  add("cut out", ShapeTracker(Shape{44, 64}).shrink({{1, 41}, {3, 53}}), 44 * 64);
  add("padded", ShapeTracker(Shape{31, 40}).pad({{4, 5}, {7, 3}}), 31 * 40);
  add("padded and reversed", ShapeTracker(Shape{31, 40}).pad({{4, 5}, {7, 3}}).flip({0, 1}), 31 * 40);
  add("row repeated", ShapeTracker(Shape{1, 50}).expand({40, 50}), 50);
  add("column repeated", ShapeTracker(Shape{40, 1}).expand({40, 50}), 40);
  add("one number repeated", ShapeTracker(Shape{1, 1}).expand({40, 50}), 1);
  add("one number repeated and padded", ShapeTracker(Shape{1, 1}).expand({10, 20}).pad({{20, 10}, {30, 0}}), 1);
  add("every third", ShapeTracker(View::make({40, 50}, {150, 3})), 6000);
  add("overlapping windows", ShapeTracker(View::make({40, 50}, {1, 2})), 139);
  add("nothing valid", ShapeTracker(Shape{4, 5}).pad({{0, 40}, {0, 50}}).shrink({{4, 44}, {5, 55}}), 20);
  add("reshaped transpose", ShapeTracker(Shape{50, 40}).permute({1, 0}).reshape({50, 40}).permute({1, 0}), 2000);
  add("reshaped pad", ShapeTracker(Shape{15, 60}).pad({{2, 3}, {20, 20}}).reshape({40, 50}), 900);
  add("reshaped pad, reversed",
      ShapeTracker(Shape{15, 60}).pad({{2, 3}, {20, 20}}).reshape({50, 40}).permute({1, 0}).flip({1}), 900);
  add("three deep",
      ShapeTracker(Shape{50, 40}).permute({1, 0}).reshape({25, 80}).permute({1, 0}).reshape({40, 50}).flip({0}), 2000);
  add("repeated below", ShapeTracker(Shape{4, 1, 25}).expand({4, 20, 25}).reshape({40, 50}), 100);
  add("stepping through a stack",
      ShapeTracker(Shape{60, 70}).permute({1, 0}).reshape({60, 70}).view(View::make({40, 50}, {100, 2}, 5)), 4200);
  add("stepping backwards through a stack",
      ShapeTracker(Shape{60, 70}).permute({1, 0}).reshape({60, 70}).view(View::make({40, 50}, {-90, -3}, 4199)), 4200);
  add("rank 5", ShapeTracker(Shape{5, 2, 4, 5, 10}).permute({2, 0, 1, 4, 3}).flip({2}).reshape({40, 50}), 2000);
  return all;
}

}  // namespace

TEST_CASE("loads, positions and validity, elementwise") {
  for (const std::int64_t tile : {0, 16, 48, 256}) {
    backend::eigen::EigenBackend device({1, tile, ""});
    for (const Case& c : cases()) {
      for (const DType dtype : {DType::float32, DType::float16, DType::bool_, DType::int16, DType::float64}) {
        CAPTURE(c.what);
        CAPTURE(tile);
        CAPTURE(name(dtype));
        const Bytes in = random_bytes(dtype, c.elements, 5);
        const ShapeTracker out(Shape{40, 50});
        Bytes got[3] = {{dtype, 2000}, {DType::int64, 2000}, {DType::bool_, 2000}};
        const Bytes want[3] = {{dtype, 2000}, {DType::int64, 2000}, {DType::bool_, 2000}};
        Builder k({40, 50});
        const auto i0 = k.argument(dtype, c.elements);
        const auto o0 = k.argument(dtype, 2000, true);
        const auto o1 = k.argument(DType::int64, 2000, true);
        const auto o2 = k.argument(DType::bool_, 2000, true);
        k.stage();
        k.store(false, k.load(false, i0, c.tracker), o0, out);
        k.store(false, k.position(false, Code::Index, c.tracker), o1, out);
        k.store(false, k.position(false, Code::Valid, c.tracker), o2, out);
        run(device, k.p, {&in, &got[0], &got[1], &got[2]});
        interpret(k.p, {&in, &want[0], &want[1], &want[2]});
        for (int i = 0; i < 3; ++i) CHECK(got[i].same_bits(want[i]));
      }
    }
  }
}

TEST_CASE("loads inside loops, rows and columns") {
  for (const Orientation orientation : {Orientation::Inner, Orientation::Outer}) {
    for (const std::int64_t tile : {0, 16, 64}) {
      backend::eigen::EigenBackend device({1, tile, ""});
      for (const Case& c : cases()) {
        CAPTURE(c.what);
        CAPTURE(tile);
        CAPTURE(static_cast<int>(orientation));
        const Bytes in = random_bytes(DType::int32, c.elements, 5);
        const Bytes factor = random_bytes(DType::int32, 40, 6);
        Bytes got[2] = {{DType::int32, 2000}, {DType::int32, 40}};
        const Bytes want[2] = {{DType::int32, 2000}, {DType::int32, 40}};
        Builder k({40}, orientation);
        const auto i0 = k.argument(DType::int32, c.elements);
        const auto i1 = k.argument(DType::int32, 40);
        const auto o0 = k.argument(DType::int32, 2000, true);
        const auto o1 = k.argument(DType::int32, 40, true);
        // A value of the outer point is broadcast over the inner points.
        k.stage();
        const ValueId f = k.load(false, i1, ShapeTracker(Shape{40}));
        k.stage({50});
        const ValueId x = k.op(true, Op::Mul, DType::int32, k.load(true, i0, c.tracker), f);
        k.store(true, x, o0, ShapeTracker(Shape{40, 50}));
        const ValueId sum = k.reduce(Op::Sum, x);
        k.store(false, sum, o1, ShapeTracker(Shape{40}));
        run(device, k.p, {&in, &factor, &got[0], &got[1]});
        interpret(k.p, {&in, &factor, &want[0], &want[1]});
        CHECK(got[0].same_bits(want[0]));
        CHECK(got[1].same_bits(want[1]));
      }
    }
  }
}

TEST_CASE("operands that run across each other are taken in square blocks") {
  const std::vector<std::pair<Shape, ShapeTracker>> operands = {
      {{200, 100}, ShapeTracker(Shape{100, 200}).permute({1, 0})},
      {{200, 100}, ShapeTracker(Shape{100, 200}).permute({1, 0}).flip({0, 1})},
      {{70, 40, 33}, ShapeTracker(Shape{33, 70, 40}).permute({1, 2, 0})},
      {{70, 40, 33}, ShapeTracker(Shape{33, 40, 70}).permute({2, 1, 0})},
      {{200, 100}, ShapeTracker(Shape{90, 150}).pad({{3, 7}, {20, 30}}).permute({1, 0})},
      {{70, 40, 33}, ShapeTracker(Shape{33, 2800}).permute({1, 0}).reshape({70, 40, 33})},
  };
  for (const auto& [shape, tracker] : operands) {
    for (const int threads : {1, 2}) {
      for (const bool store : {false, true}) {
        CAPTURE(tracker.str());
        CAPTURE(store);
        backend::eigen::EigenBackend device({threads, 0, ""});
        const std::int64_t n = numel(shape).value();
        const Bytes a = random_bytes(DType::float32, n, 5);
        const Bytes b = random_bytes(DType::float32, n, 6);
        Bytes got(DType::float32, n);
        const Bytes want(DType::float32, n);
        Builder k(shape);
        const auto i0 = k.argument(DType::float32, n);
        const auto i1 = k.argument(DType::float32, n);
        const auto o0 = k.argument(DType::float32, n, true);
        k.stage();
        const ValueId x = k.load(false, i0, store ? ShapeTracker(shape) : tracker);
        const ValueId y = k.load(false, i1, ShapeTracker(shape));
        k.store(false, k.op(false, Op::Sub, DType::float32, x, y), o0, store ? tracker : ShapeTracker(shape));
        run(device, k.p, {&a, &b, &got});
        interpret(k.p, {&a, &b, &want});
        CHECK(got.same_bits(want));
      }
    }
  }
}

TEST_CASE("transposing copies of any size, either side strided, for every instruction set") {
  constexpr std::int64_t kPitch = 24;
  std::vector<std::uint32_t> from(kPitch * kPitch);
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = static_cast<std::uint32_t>(k * 2654435761U);
  for (const std::string& level : isa_levels()) {
    CAPTURE(level);
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (std::int64_t rows = 1; rows <= 20; ++rows) {
      for (std::int64_t cols = 1; cols <= 20; ++cols) {
        CAPTURE(rows);
        CAPTURE(cols);
        for (const bool load : {true, false}) {
          std::vector<std::uint32_t> got(kPitch * kPitch, 7), want(kPitch * kPitch, 7);
          // A transposition: element (i, j) lies at i + j * pitch on one side and at i * pitch + j on the other.
          const std::int64_t to_row = load ? kPitch : 1, to_col = load ? 1 : kPitch;
          table.copy[2](got.data(), to_row, to_col, from.data(), to_col, to_row, rows, cols);
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j)
              want[static_cast<std::size_t>(i * to_row + j * to_col)] =
                  from[static_cast<std::size_t>(i * to_col + j * to_row)];
          }
          REQUIRE(got == want);
        }
      }
    }
  }
}

TEST_CASE("stores through views: strided, reversed, transposed, masked, halves") {
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::uint8}) {
    const std::vector<std::pair<ShapeTracker, std::int64_t>> targets = {
        {ShapeTracker(Shape{40, 50}), 2000},
        {ShapeTracker(Shape{40, 50}).flip({0, 1}), 2000},
        {ShapeTracker(Shape{50, 40}).permute({1, 0}), 2000},
        {ShapeTracker(View::make({40, 50}, {200, 3}, 7)), 8000},
        {ShapeTracker(View::make({40, 50}, {200, 1}, 16)), 8000},
        {ShapeTracker(Shape{20, 30}).pad({{10, 10}, {0, 20}}), 600},
        {ShapeTracker(Shape{50, 40}).permute({1, 0}).reshape({50, 40}).permute({1, 0}), 2000},
    };
    for (const std::int64_t tile : {0, 32}) {
      backend::eigen::EigenBackend device({1, tile, ""});
      for (const auto& [target, elements] : targets) {
        const Bytes in = random_bytes(dtype, 2000, 5);
        Bytes got(dtype, elements);
        const Bytes want(dtype, elements);
        Builder k({40, 50});
        const auto i0 = k.argument(dtype, 2000);
        const auto o0 = k.argument(dtype, elements, true);
        k.stage();
        const ValueId x = k.load(false, i0, ShapeTracker(Shape{40, 50}));
        ValueId y = k.op(false, Op::Max, register_dtype(dtype), x, x);
        k.store(false, y, o0, target);
        run(device, k.p, {&in, &got});
        interpret(k.p, {&in, &want});
        CHECK(got.same_bits(want));
      }
    }
  }
}

TEST_CASE("buffers without alignment, and a value stored twice") {
  backend::eigen::EigenBackend device({1, 0, ""});
  const std::int64_t n = 3000;
  const ShapeTracker flat(Shape{n});
  Bytes in(DType::float32, n, 1);
  for (std::int64_t i = 0; i < n; ++i) in.as<float>()[i] = static_cast<float>(i);
  const Bytes first(DType::float32, n, 3);
  const Bytes second(DType::float32, n, 0);
  Builder k({n});
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  const auto o1 = k.argument(DType::float32, n, true);
  k.stage();
  const ValueId x = k.load(false, i0, flat);
  const ValueId y = k.op(false, Op::Add, DType::float32, x, x);
  k.store(false, y, o0, flat);
  k.store(false, y, o1, flat.flip({0}));
  run(device, k.p, {&in, &first, &second});
  int bad = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    bad += first.as<float>()[i] != 2 * static_cast<float>(i);
    bad += second.as<float>()[n - 1 - i] != 2 * static_cast<float>(i);
  }
  CHECK(bad == 0);
}

TEST_CASE("sizes of 64 bits: positions far beyond 2^32 are computed, not touched") {
  backend::eigen::EigenBackend device({1, 0, ""});
  const std::int64_t far = std::int64_t{1} << 40;
  Bytes got(DType::int64, 1000);
  Builder k({1000});
  const auto o0 = k.argument(DType::int64, 1000, true);
  k.stage();
  const ValueId x = k.position(false, Code::Index, ShapeTracker(View::make({1000}, {far}, 7)));
  k.store(false, x, o0, ShapeTracker(Shape{1000}));
  run(device, k.p, {&got});
  int bad = 0;
  for (std::int64_t i = 0; i < 1000; ++i) bad += got.as<std::int64_t>()[i] != 7 + i * far;
  CHECK(bad == 0);
}

}  // namespace access_test
