// Reductions over windows give the bits that the program means, for all steps, margins, planes, dtypes, instruction
// sets and numbers of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "backend/eigen/products/windows_plan.hpp"
#include "codegen/stack.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace windows_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// Windows along one axis: `points` windows that begin `step` elements apart, each with `taps` elements that are
/// `apart` from each other.
struct Along {
  std::int64_t points = 1;
  std::int64_t taps = 1;
  std::int64_t step = 1;
  std::int64_t apart = 1;
  std::int64_t margin = 0;
  std::int64_t length() const { return (points - 1) * step + (taps - 1) * apart + 1; }
};

struct Case {
  std::int64_t images = 3;
  std::int64_t channels = 1;  // reduced too
  Along y;
  Along x;
  Op op = Op::Sum;
  DType dtype = DType::float32;
  DType memory = DType::float32;
  bool weighed = false;
  bool flipped = false;
  bool transposed = false;  // the image is stored transposed
  bool prologue = false;    // an operation before the windows, computed once for each element
  bool edge = false;        // invalid elements read as the dtype's lowest number
  bool epilogue = false;
  bool rows_in_weights = false;  // weights differ from one row of results to the next
};

std::string text(const Case& c) {
  const auto along = [](const Along& a) {
    return std::to_string(a.points) + " of " + std::to_string(a.taps) + " step " + std::to_string(a.step) + " apart " +
           std::to_string(a.apart) + " margin " + std::to_string(a.margin);
  };
  return std::string(graph::name(c.op)) + " " + std::string(name(c.dtype)) + " images " + std::to_string(c.images) +
         " channels " + std::to_string(c.channels) + " y " + along(c.y) + " x " + along(c.x) +
         (c.weighed ? " weighed" : "") + (c.flipped ? " flipped" : "") + (c.transposed ? " transposed" : "") +
         (c.prologue ? " prologue" : "") + (c.edge ? " edge" : "") + (c.epilogue ? " epilogue" : "");
}

graph::Scalar number(DType dtype, int value) {
  return is_floating(dtype) ? graph::Scalar::of_float(dtype, value) : graph::Scalar::of_int(dtype, value);
}

/// Whole numbers so small that sums of products are exact in every order.
Bytes small_numbers(DType dtype, std::int64_t elements, std::mt19937_64& random) {
  Bytes b(dtype, elements);
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = static_cast<float>(random() % 9) - 4.0F;
    write_element(b, i, dtype == DType::float64 ? put(static_cast<double>(value)) : put(value));
  }
  return b;
}

struct Built {
  LoopProgram program;
  std::vector<Bytes> inputs;
  Bytes output;
};

/// The loops are (images, y, x) | (channels, taps of y, taps of x).
Built build(const Case& c, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::int64_t height = c.y.length() - 2 * c.y.margin;
  const std::int64_t width = c.x.length() - 2 * c.x.margin;
  const std::int64_t elements = c.images * c.channels * height * width;
  ShapeTracker t = c.transposed ? ShapeTracker(Shape{c.images, c.channels, width, height}).permute({0, 1, 3, 2})
                                : ShapeTracker(Shape{c.images, c.channels, height, width});
  t = t.pad({{0, 0}, {0, 0}, {c.y.margin, c.y.margin}, {c.x.margin, c.x.margin}});
  if (c.flipped) t = t.flip({3});
  const Ints s = contiguous_strides(t.shape());
  t = t.view(View::make({c.images, c.y.points, c.x.points, c.channels, c.y.taps, c.x.taps},
                        {s[0], s[2] * c.y.step, s[3] * c.x.step, s[1], s[2] * c.y.apart, s[3] * c.x.apart}))
          .simplify();

  Built out{{}, {}, Bytes(c.dtype, c.images * c.y.points * c.x.points)};
  const bool exact = c.weighed && is_floating(c.dtype);
  out.inputs.push_back(exact ? small_numbers(c.memory, elements, random)
                             : random_bytes(c.memory, elements, static_cast<unsigned>(random())));
  Builder k({c.images, c.y.points, c.x.points}, random() % 2 == 0 ? Orientation::Inner : Orientation::Outer);
  const auto in = k.argument(c.memory, elements);
  std::int32_t second = -1;
  const std::int64_t taps = c.channels * c.y.taps * c.x.taps;
  const std::int64_t rows = c.rows_in_weights ? c.y.points : 1;
  if (c.weighed) {
    second = k.argument(c.dtype, c.images * rows * taps);
    out.inputs.push_back(exact ? small_numbers(c.dtype, c.images * rows * taps, random)
                               : random_bytes(c.dtype, c.images * rows * taps, static_cast<unsigned>(random())));
  }
  k.stage({c.channels, c.y.taps, c.x.taps});
  ValueId v = k.load(true, in, t);
  if (c.edge) {
    const ValueId valid = k.position(true, Code::Valid, t);
    v = k.op(true, Op::Where, c.dtype, valid, v, k.constant(true, number(c.dtype, -100)));
  }
  if (c.prologue)
    v = k.op(true, Op::Max, c.dtype, k.op(true, Op::Neg, c.dtype, v), k.constant(true, number(c.dtype, 1)));
  if (c.weighed) {
    const ShapeTracker w = ShapeTracker(Shape{c.images, rows, 1, c.channels, c.y.taps, c.x.taps})
                               .expand({c.images, c.y.points, c.x.points, c.channels, c.y.taps, c.x.taps});
    v = k.op(true, Op::Mul, c.dtype, v, k.load(true, second, w));
  }
  ValueId r = k.reduce(c.op, v);
  if (c.epilogue) r = k.op(false, Op::Add, c.dtype, r, k.constant(false, number(c.dtype, 3)));
  const auto o = k.argument(c.dtype, out.output.elements(), true);
  k.store(false, r, o, ShapeTracker(Shape{c.images, c.y.points, c.x.points}));
  out.program = k.p;
  codegen::verify(out.program);
  return out;
}

/// Runs the case on every level. Returns how often it ran as windows.
int check(const Case& c, unsigned seed, const std::vector<int>& threads = {1, 3}) {
  const Built b = build(c, seed);
  std::vector<const Bytes*> arguments;
  for (const Bytes& in : b.inputs) arguments.push_back(&in);
  Bytes want(c.dtype, b.output.elements());
  arguments.push_back(&want);
  interpret(b.program, arguments);
  int found = 0;
  for (const std::string& isa : isa_levels()) {
    found += backend::eigen::plan_windows(b.program, backend::isa::table(isa.c_str())) != nullptr ? 1 : 0;
    for (const int count : threads) {
      backend::eigen::EigenBackend device({count, 0, isa});
      Bytes got(c.dtype, want.elements());
      arguments.back() = &got;
      run(device, b.program, arguments);
      CAPTURE(isa);
      CAPTURE(count);
      INFO(text(c));
      REQUIRE(got.same_bits(want));
    }
  }
  return found;
}

const int kLevels = static_cast<int>(isa_levels().size());

}  // namespace

TEST_CASE("every reduction of every dtype, in place and by planes") {
  for (const DType dtype : register_dtypes()) {
    if (dtype == DType::bool_) continue;
    for (const Op op : {Op::Sum, Op::ReduceMax, Op::ReduceMin}) {
      for (const std::int64_t margin : {0, 1}) {
        Case c;
        c.y = {9, 3, 1, 1, margin};
        c.x = {70, 3, 1, 1, margin};
        c.op = op;
        c.dtype = c.memory = dtype;
        CHECK(check(c, 1) == kLevels);
        if (op != Op::Sum) continue;
        c.weighed = true;
        CHECK(check(c, 2) == kLevels);
      }
    }
  }
}

TEST_CASE("rows shorter and longer than packets, and windows of every size") {
  for (std::int64_t points = 8; points < 150; points = points * 5 / 4 + 1) {
    for (const std::int64_t taps : {2, 3, 4, 7, 16, 17, 40}) {
      Case c;
      c.images = 5;
      c.y.points = 400 / points + 2;
      c.x = {points, taps, 1, 1, taps > 2 && points % 2 == 0 ? 1 : 0};
      CHECK(check(c, 3, {1}) == kLevels);
      c.weighed = true;
      CHECK(check(c, 4, {1}) == kLevels);
    }
  }
}

TEST_CASE("steps, distances, planes, layouts, prologues and epilogues at random") {
  std::mt19937_64 random(7);
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  const auto between = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  int found = 0;
  for (int n = 0; n < 150; ++n) {
    Case c;
    c.images = between(1, 4);
    c.channels = chance(30) ? 2 : 1;
    c.y = {between(1, 30), between(1, 4), between(1, 3), between(1, 2), 0};
    c.x = {between(8, 90), between(1, 5), between(1, 5), between(1, 3), 0};
    for (Along* a : {&c.y, &c.x}) {
      if (chance(50) && a->length() > 3) a->margin = 1;
    }
    c.op = chance(60) ? Op::Sum : chance(50) ? Op::ReduceMax : Op::ReduceMin;
    c.dtype = c.memory = chance(60) ? DType::float32 : chance(50) ? DType::float64 : DType::int16;
    if (c.dtype == DType::float32 && chance(30)) c.memory = chance(50) ? DType::float16 : DType::bfloat16;
    c.weighed = c.op == Op::Sum && chance(60);
    c.flipped = chance(20);
    c.transposed = chance(20);
    c.prologue = chance(30);
    c.edge = chance(30);
    c.epilogue = chance(40);
    c.rows_in_weights = c.weighed && chance(15);
    found += check(c, static_cast<unsigned>(random()), {n % 2 == 0 ? 1 : 3}) > 0 ? 1 : 0;
  }
  // In the other cases windows overlap too little, lie too far apart, or are too few.
  CHECK(found > 50);
}

TEST_CASE("a source computes elements that no window reads, but reads none outside of its buffer") {
  // Three channels of an image that lie one after the other. Every third row of the padded image is in no window.
  const std::int64_t rows = 29, columns = 200, channels = 3;
  const ShapeTracker image = ShapeTracker(Shape{rows, columns, channels}).permute({2, 0, 1});
  const ShapeTracker padded = image.pad({{0, 0}, {0, 1}, {2, 2}});
  const ShapeTracker windows = padded.view(View::make({channels * 10, columns, 2, 5}, {612, 1, 204, 1})).simplify();
  Builder k({channels * 10, columns});
  const Bytes in = random_bytes(DType::float32, rows * columns * channels, 15);
  Bytes want(DType::float32, channels * 10 * columns), got(DType::float32, channels * 10 * columns);
  const auto i0 = k.argument(DType::float32, in.elements());
  const auto o0 = k.argument(DType::float32, want.elements(), true);
  k.stage({2, 5});
  const ValueId v = k.op(true, Op::Neg, DType::float32, k.load(true, i0, windows));
  k.store(false, k.reduce(Op::ReduceMax, v), o0, ShapeTracker(Shape{channels * 10, columns}));
  const codegen::Windows* found = codegen::windows_in(k.p.form);
  REQUIRE(found != nullptr);
  CHECK(found->rows == 89);
  const LoopProgram source = codegen::source_program(k.p, *found);
  REQUIRE(source.accesses.size() == 1);
  for (const std::int64_t position : codegen::stack_of(source.accesses[0]).table()) REQUIRE(position < in.elements());
  interpret(k.p, {&in, &want});
  backend::eigen::EigenBackend device({1, 0, ""});
  run(device, k.p, {&in, &got});
  CHECK(got.same_bits(want));
}

TEST_CASE("planes larger than a block, and rows that are cut") {
  Case c;
  c.images = 1;
  c.y = {300, 3, 1, 1, 1};
  c.x = {301, 5, 1, 1, 2};
  CHECK(check(c, 11) == kLevels);
  c.y = {1, 1, 1, 1, 0};
  c.x = {60000, 9, 1, 2, 3};
  CHECK(check(c, 12) == kLevels);
  c.weighed = true;
  CHECK(check(c, 13) == kLevels);
  c.x = {20000, 6, 3, 1, 0};
  CHECK(check(c, 14) == kLevels);
  // Windows down the columns of a plane whose points are one loop.
  Builder k({200 * 1000});
  const Bytes in = random_bytes(DType::float32, 202 * 1000, 15);
  Bytes want(DType::float32, 200 * 1000), got(DType::float32, 200 * 1000);
  const auto i0 = k.argument(DType::float32, in.elements());
  const auto o0 = k.argument(DType::float32, want.elements(), true);
  k.stage({3});
  k.store(false, k.reduce(Op::Sum, k.load(true, i0, ShapeTracker(View::make({200 * 1000, 3}, {1, 1000})))), o0,
          ShapeTracker(Shape{200 * 1000}));
  interpret(k.p, {&in, &want});
  backend::eigen::EigenBackend device({3, 0, ""});
  CHECK(device.method(k.p) == "windows: 1 times 1 x 200000, windows of 3 in 1 x 202000 read as they lie");
  run(device, k.p, {&in, &got});
  CHECK(got.same_bits(want));
}

TEST_CASE("signs of zeros, infinities and NaN are those of a reduction") {
  Case c;
  c.y = {1, 1, 1, 1, 0};
  c.x = {600, 5, 1, 1, 0};
  c.images = 4;
  for (const Op op : {Op::Sum, Op::ReduceMax, Op::ReduceMin}) {
    c.op = op;
    Built b = build(c, 5);
    const float special[] = {0.0F, -0.0F, -0.0F, -0.0F, INFINITY, -0.0F, 0.0F, -INFINITY, -0.0F, -0.0F, -0.0F, -0.0F};
    for (std::int64_t i = 0; i < b.inputs[0].elements(); ++i) b.inputs[0].as<float>()[i] = special[i * 7 / 3 % 12];
    Bytes want(c.dtype, b.output.elements());
    interpret(b.program, {&b.inputs[0], &want});
    for (const std::string& isa : isa_levels()) {
      backend::eigen::EigenBackend device({1, 0, isa});
      Bytes got(c.dtype, want.elements());
      run(device, b.program, {&b.inputs[0], &got});
      for (std::int64_t i = 0; i < want.elements(); ++i) {
        const float x = want.as<float>()[i], y = got.as<float>()[i];
        const bool same = std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
        CAPTURE(isa);
        CAPTURE(i);
        REQUIRE(same);
      }
    }
  }
}

}  // namespace windows_test
