// Loop programs on an OpenCL device, compared with the interpreter: every op and dtype, every form of reduction, kept
// rows.
#include "backend/eigen/isa/table.hpp"
#include "opencl_device.hpp"
#include "support/arguments.hpp"

namespace opencl_programs_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

/// Every op that takes `dtype` over two operands, with one output each.
struct Everything {
  LoopProgram program;
  std::vector<Op> ops;
};
Everything everything(DType dtype, std::int64_t n) {
  Builder k({n});
  const auto i0 = k.argument(dtype, n);
  const auto i1 = k.argument(dtype, n);
  const ShapeTracker t(Shape{n});
  k.stage();
  const ValueId a = k.load(false, i0, t);
  const ValueId b = k.load(false, i1, t);
  Everything e;
  for (int o = 0; o < graph::kOpCount; ++o) {
    const Op op = static_cast<Op>(o);
    if (!graph::is_elementwise(op) || !takes(op, dtype) || graph::row(op).rule == graph::DTypeRule::Convert) continue;
    if (op == Op::Where) continue;
    const graph::DTypeRule rule = graph::row(op).rule;
    const bool test = rule == graph::DTypeRule::Compare || rule == graph::DTypeRule::FloatTest;
    const DType result = test ? DType::bool_ : dtype;
    const ValueId v = k.op(false, op, result, a, graph::row(op).arity > 1 ? b : kNoValue);
    k.store(false, v, k.argument(result, n, true), t);
    e.ops.push_back(op);
  }
  // Where, and all casts.
  const ValueId c = k.op(false, Op::Lt, DType::bool_, a, b);
  k.store(false, k.op(false, Op::Where, dtype, c, b, a), k.argument(dtype, n, true), t);
  e.ops.push_back(Op::Where);
  for (const DType to : register_dtypes()) {
    k.store(false, k.op(false, Op::Cast, to, a), k.argument(to, n, true), t);
    e.ops.push_back(Op::Cast);
  }
  e.program = k.p;
  return e;
}

/// Ordinary numbers mixed with NaN, infinities, zeros and subnormal numbers; for integers with the ends of the range,
/// 0, 1 and -1.
Bytes mixed(DType dtype, std::int64_t n, unsigned seed) {
  Bytes b = random_bytes(dtype, n, seed);
  std::mt19937_64 random(seed + 1);
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {
          0, Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), 3 * Limits::denorm_min(), T(6), T(0.7), 1,
          2};
      for (std::int64_t i = 0; i < n; ++i) {
        const auto which = random();
        const T x = special[which / 4 % std::size(special)];
        if (which % 4 < 2) write_element(b, i, put(which % 4 == 0 ? x : -x));
      }
    } else if constexpr (!std::is_same_v<T, bool>) {
      const T special[] = {0, 0, Limits::min(), Limits::max(), 1, static_cast<T>(-1)};
      for (std::int64_t i = 0; i < n; ++i) {
        const auto which = random();
        if (which % 2 == 0) write_element(b, i, put(special[which / 2 % std::size(special)]));
      }
    }
    return 0;
  });
  return b;
}

LoopProgram softmax(std::int64_t points, std::int64_t length, bool keep) {
  Builder k({points});
  const auto i0 = k.argument(DType::float32, points * length);
  const auto o0 = k.argument(DType::float32, points * length, true);
  const ShapeTracker t(Shape{points, length});
  k.stage({length});
  const ValueId largest = k.reduce(Op::ReduceMax, k.load(true, i0, t));
  k.stage({length});
  ValueId w = k.op(true, Op::Exp, DType::float32, k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), largest));
  const ValueId sum = k.reduce(Op::Sum, w);
  k.stage({length});
  if (!keep) w = k.op(true, Op::Exp, DType::float32, k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), largest));
  k.store(true, k.op(true, Op::Div, DType::float32, w, sum), o0, t);
  return k.p;
}

}  // namespace

TEST_CASE("every elementwise op of every dtype agrees with its scalar meaning") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  for (const DType dtype : tested_dtypes()) {
    if (dtype == DType::float64 && !device.table().fp64) continue;
    constexpr std::int64_t n = 1003;  // whole vectors and a tail
    const Everything e = everything(dtype, n);
    std::vector<Bytes> want;
    for (const codegen::Argument& a : e.program.arguments) {
      if (a.output) {
        want.emplace_back(a.dtype, n);
      } else {
        want.push_back(mixed(dtype, n, static_cast<unsigned>(want.size())));
      }
    }
    std::vector<Bytes> got(want);
    std::vector<const Bytes*> want_there, got_there;
    for (std::size_t a = 0; a < want.size(); ++a) {
      want_there.push_back(&want[a]);
      got_there.push_back(&got[a]);
    }
    interpret(e.program, want_there);
    run_there(device, e.program, got_there);
    for (std::size_t o = 0; o < e.ops.size(); ++o) {
      CAPTURE(name(dtype));
      CAPTURE(graph::name(e.ops[o]));
      CAPTURE(o);
      const Bytes& w = want[o + 2];
      const Bytes& g = got[o + 2];
      if (!is_floating(w.dtype())) {
        CHECK(g.same_bits(w));
        continue;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const bool wide = w.dtype() == DType::float64;
        const double x = wide ? w.as<double>()[i] : static_cast<double>(w.as<float>()[i]);
        const double y = wide ? g.as<double>()[i] : static_cast<double>(g.as<float>()[i]);
        // OpenCL allows errors of up to 16 units in the last place.
        const double units = graph::row(e.ops[o]).error.float32 != 0 ? 16 : 0;
        const double unit = wide ? 2.3e-16 : 1.2e-7;
        const double least = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
        const bool same = (std::isnan(x) && std::isnan(y)) || x == y ||
                          std::fabs(x - y) <= units * unit * std::max(std::fabs(x), least);
        if (!same) {
          CAPTURE(i);
          CHECK(x == y);
          break;
        }
      }
    }
  }
}

TEST_CASE("spellings for work items give the functors' results, over all of float16 and a sample of float32") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  const std::vector<float> x = dense_arguments<float>();
  const std::vector<float> y = transposed_arguments(x, 5);
  const auto n = static_cast<std::int64_t>(x.size());
  const Everything e = everything(DType::float32, n);
  std::vector<Bytes> got;
  for (const codegen::Argument& a : e.program.arguments) got.emplace_back(a.dtype, n);
  std::memcpy(got[0].data(), x.data(), got[0].bytes());
  std::memcpy(got[1].data(), y.data(), got[1].bytes());
  std::vector<const Bytes*> there;
  for (const Bytes& b : got) there.push_back(&b);
  run_there(device, e.program, there);
  const backend::isa::Table& table = backend::isa::table();
  for (std::size_t o = 0; o < e.ops.size(); ++o) {
    const graph::OpRow& row = graph::row(e.ops[o]);
    if (row.arity > 2 || row.functor == ops::FunctorKind::None) continue;
    CAPTURE(row.name);
    const Bytes& g = got[o + 2];
    const Bytes want(g.dtype(), n);
    table.element[static_cast<int>(row.op)][static_cast<int>(DType::float32)](want.data(), x.data(), y.data(), nullptr,
                                                                              n);
    if (!is_floating(g.dtype())) {
      CHECK(g.same_bits(want));
      continue;
    }
    // OpenCL allows errors of up to 16 units in the last place for functions.
    const double units = row.functor == ops::FunctorKind::Function ? 16 : 0;
    int bad = 0;
    for (std::int64_t i = 0; i < n && bad < 3; ++i) {
      const float a = want.as<float>()[i];
      const float b = g.as<float>()[i];
      const double size = std::max(std::fabs(a), std::numeric_limits<float>::min());
      if ((std::isnan(a) && std::isnan(b)) || a == b || std::fabs(double(a) - b) <= units * 1.2e-7 * size) continue;
      // A function may overflow a little earlier or later than exact arithmetic.
      if (units != 0 && std::max(std::fabs(a), std::fabs(b)) > 3.4e38F &&
          std::min(std::fabs(a), std::fabs(b)) > 3.4e38F)
        continue;
      ++bad;
      INFO("(", x[static_cast<std::size_t>(i)], ", ", y[static_cast<std::size_t>(i)], ") gives ", b, ", the functor ",
           a);
      CHECK(bad == 0);
    }
  }
}

TEST_CASE("every dtype reduces, along rows and columns, by single items and by groups") {
  if (!has_opencl()) return;
  for (const int items : {1, 16}) {
    opencl::OpenClBackend device(0, opencl_options(items));
    for (const DType dtype : tested_dtypes()) {
      for (const Orientation orientation : {Orientation::Inner, Orientation::Outer}) {
        const std::int64_t points = 21, length = 75;
        std::vector<Op> ops;
        for (const Op op : reductions(dtype)) {
          // Sums and products of floats depend on the order of elements, so they are left out.
          if (!(is_floating(dtype) && (op == Op::Sum || op == Op::SumAbs || op == Op::Prod))) ops.push_back(op);
        }
        // All in one kernel, because a driver's compiler takes as long for one as for all.
        Builder k({points}, orientation);
        const auto i0 = k.argument(dtype, points * length);
        ShapeTracker t(Shape{points, length});
        if (orientation == Orientation::Outer) t = ShapeTracker(Shape{length, points}).permute({1, 0});
        k.stage({length});
        const ValueId x = k.load(true, i0, t);
        std::vector<ValueId> results;
        for (const Op op : ops) results.push_back(k.reduce(op, x));
        const Bytes in = random_bytes(dtype, points * length, 5);
        std::vector<Bytes> want, got;
        std::vector<const Bytes*> wanted{&in}, there{&in};
        for (const ValueId r : results) {
          k.store(false, r, k.argument(dtype, points, true), ShapeTracker(Shape{points}));
          want.emplace_back(dtype, points);
          got.emplace_back(dtype, points);
        }
        for (const Bytes& y : want) wanted.push_back(&y);
        for (const Bytes& y : got) there.push_back(&y);
        interpret(k.p, wanted);
        run_there(device, k.p, there);
        CAPTURE(name(dtype));
        CAPTURE(items);
        for (std::size_t o = 0; o < ops.size(); ++o) {
          CAPTURE(graph::name(ops[o]));
          CHECK(got[o].same_bits(want[o]));
        }
      }
    }
  }
}

TEST_CASE("sums of few and of many points, dealt out or not, and the same bits each time") {
  if (!has_opencl()) return;
  for (const int items : {1, 16}) {
    opencl::OpenClBackend device(0, opencl_options(items));
    for (const auto& [points, length] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 5}, {1, 200000}, {3, 70001}, {300, 33}, {70, 20000}}) {
      for (const Orientation orientation : {Orientation::Inner, Orientation::Outer}) {
        Builder k({points}, orientation);
        const auto i0 = k.argument(DType::float32, points * length);
        const auto o0 = k.argument(DType::float32, points, true);
        ShapeTracker t(Shape{points, length});
        if (orientation == Orientation::Outer) t = ShapeTracker(Shape{length, points}).permute({1, 0});
        k.stage({length});
        const ValueId sum = k.reduce(Op::Sum, k.load(true, i0, t));
        k.store(false, k.op(false, Op::Neg, DType::float32, sum), o0, ShapeTracker(Shape{points}));
        const Bytes in = random_bytes(DType::float32, points * length, 5);
        const Bytes want(DType::float32, points);
        const Bytes got(DType::float32, points);
        const Bytes again(DType::float32, points);
        interpret(k.p, {&in, &want});
        run_there(device, k.p, {&in, &got});
        run_there(device, k.p, {&in, &again});
        CAPTURE(points);
        CAPTURE(length);
        CAPTURE(items);
        CHECK(worst_difference(want, got, 8.1 * static_cast<double>(length)) < 1e-6);
        CHECK(got.same_bits(again));
      }
    }
  }
}

TEST_CASE("softmax: rows kept in local memory, or computed again") {
  if (!has_opencl()) return;
  for (const int items : {1, 16}) {
    opencl::OpenClBackend device(0, opencl_options(items));
    for (const auto& [points, length] : std::vector<std::pair<int, int>>{{300, 7}, {64, 1000}, {3, 5000}}) {
      for (const bool keep : {false, true}) {
        const Bytes in = random_bytes(DType::float32, points * length, 4);
        const Bytes want(DType::float32, points * length);
        const Bytes got(DType::float32, points * length);
        interpret(softmax(points, length, keep), {&in, &want});
        run_there(device, softmax(points, length, keep), {&in, &got});
        CAPTURE(points);
        CAPTURE(keep);
        CHECK(worst_difference(want, got, 1) < 1e-6);
      }
    }
  }
}

TEST_CASE("another size is the same source; numbers are arguments") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  const Bytes scratch = random_bytes(DType::float32, 64 * 1000, 4);
  for (const int points : {64, 32, 48}) {
    const Bytes in = random_bytes(DType::float32, points * 1000, 4);
    const Bytes out(DType::float32, points * 1000);
    run_there(device, softmax(points, 1000, true), {&in, &out});
  }
  const auto counts = device.programs().counts();
  CHECK(counts.built + counts.loaded == 1);
}

TEST_CASE("masked, strided and stacked views read nothing outside their buffer") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  const ShapeTracker source(Shape{6, 35});
  const std::vector<ShapeTracker> views{
      source.pad({{2, 1}, {5, 3}}),
      source.flip({1}),
      source.permute({1, 0}),
      source.flip({0, 1}).pad({{0, 0}, {1, 40}}),
      source.permute({1, 0}).reshape({5, 42}),
      source.pad({{1, 1}, {1, 1}}).reshape({37, 8}),
      source.reshape({1, 210}).expand({9, 210}),
      source.shrink({{0, 6}, {3, 4}}).pad({{1, 0}, {0, 1}}),  // only some lanes have an element
  };
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::uint8}) {
    for (const ShapeTracker& view : views) {
      const Shape shape = view.shape();
      const std::int64_t n = numel(shape).value();
      Builder k(shape);
      const auto i0 = k.argument(dtype, 210);
      const auto o0 = k.argument(dtype, n, true);
      const auto o1 = k.argument(DType::int64, n, true);
      k.stage();
      k.store(false, k.load(false, i0, view), o0, ShapeTracker(shape));
      const ValueId valid = k.op(false, Op::Cast, DType::int64, k.position(false, Code::Valid, view));
      k.store(false, k.op(false, Op::Add, DType::int64, k.position(false, Code::Index, view), valid), o1,
              ShapeTracker(shape));
      const Bytes in = random_bytes(dtype, 210, 8);
      const Bytes want(dtype, n), want_at(DType::int64, n), got(dtype, n), got_at(DType::int64, n);
      interpret(k.p, {&in, &want, &want_at});
      run_there(device, k.p, {&in, &got, &got_at});
      CAPTURE(name(dtype));
      CAPTURE(view.str());
      CHECK(got.same_bits(want));
      CHECK(got_at.same_bits(want_at));
    }
  }
}

TEST_CASE("parameters of every dtype, and an output in the memory of an input") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  for (const DType dtype : tested_dtypes()) {
    Builder k({37});
    const auto i0 = k.argument(dtype, 37);
    const auto o0 = k.argument(dtype, 37, true);
    k.p.arguments.back().shares = i0;
    k.stage();
    const ShapeTracker t(Shape{37});
    const ValueId x = k.load(false, i0, t);
    const ValueId c = k.constant(false, graph::Scalar::of_int(dtype, 0), 0);
    k.store(false, k.op(false, Op::Max, dtype, x, c), o0, t);
    const graph::Scalar given = graph::Scalar::of_int(dtype, 3);
    const Bytes in = random_bytes(dtype, 37, 8);
    const Bytes want(dtype, 37), there(in), got(dtype, 37);
    interpret(k.p, {&in, &want}, {&given, 1});
    run_there(device, k.p, {&there, &got}, {&given, 1});
    CAPTURE(name(dtype));
    CHECK(got.same_bits(want));
    CHECK(there.same_bits(want));
  }
}

TEST_CASE("contractions by blocks: tails, batches, transposed factors, several row loops, a factor that is computed") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  struct Case {
    std::int64_t batches, rows, columns, depth;
    bool transposed;
  };
  for (const Case& c : {Case{1, 64, 64, 64, false}, Case{1, 133, 47, 300, true}, Case{3, 29, 271, 70, false},
                        Case{2, 140, 300, 17, true}}) {
    for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
      if (dtype == DType::float64 && !device.table().fp64) continue;
      const DType held = register_dtype(dtype);
      Builder k({c.batches, c.rows, c.columns});
      const std::int64_t left = c.batches * c.rows * c.depth, right = c.batches * c.depth * c.columns;
      const auto i0 = k.argument(dtype, left);
      const auto i1 = k.argument(dtype, right);
      const auto i2 = k.argument(dtype, c.columns);
      const auto o0 = k.argument(dtype, c.batches * c.rows * c.columns, true);
      const Shape all{c.batches, c.rows, c.columns, c.depth};
      ShapeTracker a(Shape{c.batches, c.rows, 1, c.depth});
      if (c.transposed) a = ShapeTracker(Shape{c.batches, c.depth, 1, c.rows}).permute({0, 3, 2, 1});
      const ShapeTracker b = ShapeTracker(Shape{c.batches, c.depth, 1, c.columns}).permute({0, 2, 3, 1});
      k.stage({c.depth});
      const ValueId x = k.load(true, i0, a.expand(all));
      const ValueId y = k.load(true, i1, b.expand(all));
      const ValueId factor = c.transposed ? k.op(true, Op::Abs, held, y) : y;
      const ValueId sum = k.reduce(Op::Sum, k.op(true, Op::Mul, held, x, factor));
      const Shape results{c.batches, c.rows, c.columns};
      const ValueId bias = k.load(false, i2, ShapeTracker(Shape{1, 1, c.columns}).expand(results));
      ValueId result = k.op(false, Op::Add, held, sum, bias);
      if (is_floating(dtype) && dtype == DType::float16) result = k.round(false, dtype, result);
      k.store(false, result, o0, ShapeTracker(results));
      REQUIRE(source::items::render(k.p, source::opencl::dialect(), device.table(), {}).method.find(" results a") !=
              std::string::npos);
      const Bytes in0 = random_bytes(dtype, left, 1), in1 = random_bytes(dtype, right, 2);
      const Bytes in2 = random_bytes(dtype, c.columns, 3);
      const Bytes want(dtype, c.batches * c.rows * c.columns), got(dtype, c.batches * c.rows * c.columns);
      interpret(k.p, {&in0, &in1, &in2, &want});
      run_there(device, k.p, {&in0, &in1, &in2, &got});
      CAPTURE(name(dtype));
      CAPTURE(c.depth);
      double worst = 0;
      for (std::int64_t i = 0; i < want.elements(); ++i) {
        const auto number = [&](const Bytes& bytes) {
          return dtype == DType::float64   ? bytes.as<double>()[i]
                 : dtype == DType::float32 ? static_cast<double>(bytes.as<float>()[i])
                                           : static_cast<double>(static_cast<float>(bytes.as<float16_t>()[i]));
        };
        worst = std::max(worst, std::fabs(number(want) - number(got)));
      }
      // At most depth + 1 roundings of a sum bounded by the sum of |x y|; halves are rounded once more.
      const double size = 66.0 * static_cast<double>(c.depth);
      CHECK(worst <= (dtype == DType::float16 ? 1e-3 : dtype == DType::float32 ? 1e-6 : 1e-14) * size);
    }
  }
}

TEST_CASE("elements at positions that are values, and zeros for those outside") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  Builder k({45});
  const auto i0 = k.argument(DType::float32, 20);
  const auto i1 = k.argument(DType::int64, 45);
  const auto o0 = k.argument(DType::float32, 45, true);
  k.stage();
  Instr in;
  in.code = Code::Gather;
  in.dtype = in.from = DType::float32;
  in.a = k.load(false, i1, ShapeTracker(Shape{45}));
  in.result = k.value(DType::float32);
  in.aux = k.access(i0, DType::float32, ShapeTracker(Shape{1}).expand({45}));
  k.store(false, k.add(false, in), o0, ShapeTracker(Shape{45}));
  const Bytes data = random_bytes(DType::float32, 20, 1);
  const Bytes positions(DType::int64, 45), want(DType::float32, 45), got(DType::float32, 45);
  for (int i = 0; i < 45; ++i) positions.as<std::int64_t>()[i] = (i * 7) % 29 - 4;
  interpret(k.p, {&data, &positions, &want});
  run_there(device, k.p, {&data, &positions, &got});
  CHECK(got.same_bits(want));
}

// doctest runs the cases in the order of the file, so this one comes last.
TEST_CASE("in a language near Metal the programs of this source pass a compiler's syntax check") {
  if (has_opencl()) MetalUnit::instance().check();
}

}  // namespace opencl_programs_test
