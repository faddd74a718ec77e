// Programs of several stages: the number of threads must not change any result.
#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "codegen/keep.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"

namespace stages_test {

using namespace oriel;
using namespace oriel::test;

namespace {

/// Softmax over the last axis: the maximum, the sum of exponentials, the quotients.
LoopProgram softmax(std::int64_t points, std::int64_t length, Orientation orientation, bool exact) {
  Builder k({points}, orientation);
  const std::int64_t n = points * length;
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  const ShapeTracker t(Shape{points, length});
  // The tile machine's exponential and the C library's differ in the last place. A square replaces it where bits are
  // compared.
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
  return k.p;
}

}  // namespace

TEST_CASE("softmax sums to one") {
  for (const auto& [points, length] : std::vector<std::pair<int, int>>{{300, 7}, {64, 1000}, {3, 5000}, {1, 100000}}) {
    for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
      backend::eigen::EigenBackend device({2, 0, ""});
      const Bytes in = random_bytes(DType::float32, points * length, 4);
      const Bytes out(DType::float32, points * length);
      run(device, softmax(points, length, o, false), {&in, &out});
      for (int p = 0; p < points; ++p) {
        double largest = -1e30;
        double sum = 0;
        for (int r = 0; r < length; ++r) largest = std::max<double>(largest, in.as<float>()[p * length + r]);
        for (int r = 0; r < length; ++r) sum += std::exp(in.as<float>()[p * length + r] - largest);
        double worst = 0;
        for (int r = 0; r < length; ++r) {
          const double want = std::exp(in.as<float>()[p * length + r] - largest) / sum;
          worst = std::max(worst, std::fabs(out.as<float>()[p * length + r] - want) / want);
        }
        CHECK(worst < 2e-6);
      }
    }
  }
}

TEST_CASE("stages give the same bits for rows and columns, any tile and any number of threads") {
  for (const auto& [points, length] :
       std::vector<std::pair<int, int>>{{300, 7}, {40, 1000}, {3, 5000}, {1, 70000}, {5, 40000}}) {
    const Bytes in = random_bytes(DType::float32, points * length, 4);
    const Bytes want(DType::float32, points * length);
    interpret(softmax(points, length, Orientation::Inner, true), {&in, &want});
    for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
      for (const int threads : {1, 2, 3}) {
        for (const std::int64_t tile : {0, 64, 2048}) {
          CAPTURE(points);
          CAPTURE(threads);
          CAPTURE(tile);
          backend::eigen::EigenBackend device({threads, tile, ""});
          const Bytes got(DType::float32, points * length);
          run(device, softmax(points, length, o, true), {&in, &got});
          CHECK(got.same_bits(want));
        }
      }
    }
  }
}

TEST_CASE("values that a row keeps from stage to stage have the same bits as values computed again") {
  for (const auto& [points, length] : std::vector<std::pair<int, int>>{{300, 7}, {40, 1000}, {16, 5000}, {20, 1}}) {
    const Bytes in = random_bytes(DType::float32, points * length, 4);
    const Bytes want(DType::float32, points * length);
    LoopProgram program = softmax(points, length, Orientation::Inner, true);
    for (Stage& stage : program.stages) {  // makes the values expensive enough to be kept
      if (stage.body.size() < 2) continue;
      const auto at =
          std::find_if(stage.body.begin(), stage.body.end(), [](const Instr& i) { return i.op == Op::Mul; });
      at->op = Op::Div;
    }
    interpret(program, {&in, &want});
    const std::size_t instructions = program.stages[2].body.size();
    REQUIRE(codegen::keep_rows(program, 64 * 1024));
    codegen::verify(program);
    CHECK(codegen::kept_values(program).size() == 1);
    CHECK(program.stages[2].body.size() == instructions - 3);  // without the load, the subtraction and the weight
    const Bytes read_back(DType::float32, points * length);
    interpret(program, {&in, &read_back});
    CHECK(read_back.same_bits(want));
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t tile : {0, 64, 2048}) {
        CAPTURE(points);
        CAPTURE(threads);
        CAPTURE(tile);
        backend::eigen::EigenBackend device({threads, tile, ""});
        const Bytes got(DType::float32, points * length);
        run(device, program, {&in, &got});
        CHECK(got.same_bits(want));
      }
    }
  }
}

TEST_CASE("a value is not kept where rows are long, few or columns, or where it is cheap") {
  const auto keeps = [](LoopProgram program, std::int64_t bytes = 256 * 1024) {
    return codegen::keep_rows(program, bytes);
  };
  CHECK(keeps(softmax(16, 1000, Orientation::Inner, false)));
  CHECK(keeps(softmax(16, 1000, Orientation::Inner, false), 4000));
  CHECK_FALSE(keeps(softmax(16, 1000, Orientation::Inner, false), 3999));
  CHECK_FALSE(keeps(softmax(15, 1000, Orientation::Inner, false)));
  CHECK_FALSE(keeps(softmax(16, 1000, Orientation::Outer, false)));
  CHECK_FALSE(keeps(softmax(16, 1000, Orientation::Inner, true)));  // a difference and a product are too cheap to keep
  LoopProgram other = softmax(16, 1000, Orientation::Inner, false);
  const auto load = std::find_if(other.stages[2].body.begin(), other.stages[2].body.end(),
                                 [](const Instr& i) { return i.code == Code::Load; });
  other.accesses[static_cast<std::size_t>(load->aux)].remap(ShapeTracker(Shape{16, 1000}).flip({1}));  // other elements
  CHECK_FALSE(keeps(other));
}

TEST_CASE("several reductions in one stage, stages of different inner extents, outer values kept over stages") {
  for (const Orientation o : {Orientation::Inner, Orientation::Outer}) {
    for (const int threads : {1, 3}) {
      for (const std::int64_t tile : {0, 32}) {
        const std::int64_t points = 6;
        const std::int64_t a = 9000;
        const std::int64_t b = 50;
        const Bytes x = random_bytes(DType::float64, points * a, 1);
        const Bytes y = random_bytes(DType::float64, points * b, 2);
        Bytes got(DType::float64, points * b);
        const Bytes want(DType::float64, points * b);
        Builder k({points}, o);
        const auto i0 = k.argument(DType::float64, points * a);
        const auto i1 = k.argument(DType::float64, points * b);
        const auto o0 = k.argument(DType::float64, points * b, true);
        k.stage({90, 100});
        const ValueId v = k.load(true, i0, ShapeTracker(Shape{points, a}).flip({1}).reshape({points, 90, 100}));
        const ValueId sum = k.reduce(Op::Sum, v);
        const ValueId most = k.reduce(Op::ReduceMax, k.op(true, Op::Abs, DType::float64, v));
        const ValueId ratio = k.op(false, Op::Div, DType::float64, sum, most);
        const ValueId first = k.load(false, i1, ShapeTracker(View::make({points}, {b})));
        k.stage({b});
        const ValueId w = k.load(true, i1, ShapeTracker(Shape{points, b}));
        const ValueId lowest = k.reduce(Op::ReduceMin, k.op(true, Op::Add, DType::float64, w, ratio));
        k.stage();
        const ValueId mixed = k.op(false, Op::Sub, DType::float64, lowest, first);
        k.stage({b});
        const ValueId z = k.load(true, i1, ShapeTracker(Shape{points, b}));
        k.store(true, k.op(true, Op::Mul, DType::float64, z, k.op(true, Op::Add, DType::float64, mixed, sum)), o0,
                ShapeTracker(Shape{points, b}));
        backend::eigen::EigenBackend device({threads, tile, ""});
        run(device, k.p, {&x, &y, &got});
        interpret(k.p, {&x, &y, &want});
        CHECK(got.same_bits(want));
      }
    }
  }
}

TEST_CASE("a program that reads what nothing computes is refused") {
  Builder k({40});
  const auto in = k.argument(DType::float32, 120);
  const auto out = k.argument(DType::float32, 40, true);
  k.stage({3});
  const ValueId sum = k.reduce(Op::Sum, k.load(true, in, ShapeTracker(Shape{40, 3})));
  k.store(false, sum, out, ShapeTracker(Shape{40}));
  backend::eigen::EigenBackend device({1, 0, ""});
  CHECK_NOTHROW((void)device.compile(k.p));
  k.p.stages[0].reductions.clear();
  CHECK_THROWS_WITH_AS((void)device.compile(k.p), "compile: kernel test reads v1, which nothing computes",
                       InternalError);
}

TEST_CASE("x / x.sum() over everything is one program, split over the threads") {
  const std::int64_t n = 3000001;
  const Bytes x = random_bytes(DType::float32, n, 8);
  std::vector<Bytes> results;
  for (const int threads : {1, 2, 5}) {
    backend::eigen::EigenBackend device({threads, 0, ""});
    Builder k({});
    const auto i0 = k.argument(DType::float32, n);
    const auto o0 = k.argument(DType::float32, n, true);
    k.stage({n});
    const ValueId sum = k.reduce(Op::Sum, k.load(true, i0, ShapeTracker(Shape{n})));
    k.stage({n});
    const ValueId v = k.load(true, i0, ShapeTracker(Shape{n}));
    k.store(true, k.op(true, Op::Div, DType::float32, v, sum), o0, ShapeTracker(Shape{n}));
    results.emplace_back(DType::float32, n);
    run(device, k.p, {&x, &results.back()});
  }
  CHECK(results[1].same_bits(results[0]));
  CHECK(results[2].same_bits(results[0]));
  double total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<double>(results[0].as<float>()[i]);
  CHECK(total == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("one kernel launched from several threads at once") {
  backend::eigen::EigenBackend device({3, 0, ""});
  const std::int64_t points = 500;
  const std::int64_t length = 300;
  const auto kernel = device.compile(softmax(points, length, Orientation::Inner, true));
  const Bytes in = random_bytes(DType::float32, points * length, 4);
  std::vector<Bytes> out;
  for (int t = 0; t < 4; ++t) out.emplace_back(DType::float32, points * length);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      void* arguments[] = {in.data(), out[static_cast<std::size_t>(t)].data()};
      for (int i = 0; i < 5; ++i) device.launch(*kernel, arguments, {});
    });
  }
  for (std::thread& t : threads) t.join();
  for (int t = 1; t < 4; ++t) CHECK(out[static_cast<std::size_t>(t)].same_bits(out[0]));
}

TEST_CASE("a chain of 10,000 instructions compiles and runs") {
  backend::eigen::EigenBackend device({1, 0, ""});
  const std::int64_t n = 100;
  const Bytes in = random_bytes(DType::float32, n, 4);
  Bytes got(DType::float32, n);
  const Bytes want(DType::float32, n);
  Builder k({n});
  const auto i0 = k.argument(DType::float32, n);
  const auto o0 = k.argument(DType::float32, n, true);
  k.stage();
  const ValueId x = k.load(false, i0, ShapeTracker(Shape{n}));
  ValueId y = x;
  for (int i = 0; i < 10000; ++i) y = k.op(false, i % 3 == 0 ? Op::Sub : Op::Add, DType::float32, y, x);
  k.store(false, y, o0, ShapeTracker(Shape{n}));
  run(device, k.p, {&in, &got});
  interpret(k.p, {&in, &want});
  CHECK(got.same_bits(want));
}

}  // namespace stages_test
