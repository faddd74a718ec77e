// Special forms of kernels on an OpenCL device, compared with the interpreter: strips of columns, transposed squares.
#include "opencl_device.hpp"

namespace opencl_walks_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

/// Only CPUs have strips. A simulator is treated as a CPU.
opencl::Options cpu_options() {
  opencl::Options options = opencl_options();
  options.adjust = [](opencl::DeviceTable& t) { t.cpu = true; };
  return options;
}

std::string method(const opencl::OpenClBackend& device, const LoopProgram& p) { return device.method(p); }

ShapeTracker by_columns(std::int64_t rows, std::int64_t columns) {
  return ShapeTracker(Shape{rows, columns}).permute({1, 0});
}

}  // namespace

TEST_CASE("strips of columns: whole ones, tails, few columns, several reductions, each dtype") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, cpu_options());
  for (const DType dtype : tested_dtypes()) {
    if (dtype == DType::float64 && !device.table().fp64) continue;
    for (const std::int64_t columns : {300, 64, 37}) {
      const std::int64_t rows = 9;
      for (const Op op : {Op::Sum, Op::ReduceMax, Op::ReduceMin}) {
        if (!takes(op, dtype)) continue;
        Builder k({columns}, Orientation::Outer);
        const auto i0 = k.argument(dtype, rows * columns);
        const auto o0 = k.argument(dtype, columns, true);
        const auto o1 = k.argument(dtype, columns, true);
        k.stage({rows});
        const ValueId x = k.load(true, i0, by_columns(rows, columns));
        const ValueId a = k.reduce(op, x);
        const ValueId b = k.reduce(Op::ReduceMax, x);
        k.store(false, a, o0, ShapeTracker(Shape{columns}));
        k.store(false, b, o1, ShapeTracker(Shape{columns}));
        Bytes in = random_bytes(dtype, rows * columns, 5);
        if (is_floating(dtype))  // sums are exact in any order
          for (std::int64_t i = 0; i < in.elements(); ++i)
            write_element(in, i, dtype == DType::float64 ? put(double(i % 9)) : put(float(i % 9)));
        const Bytes want0(dtype, columns), want1(dtype, columns), got0(dtype, columns), got1(dtype, columns);
        interpret(k.p, {&in, &want0, &want1});
        run_there(device, k.p, {&in, &got0, &got1});
        CAPTURE(name(dtype));
        CAPTURE(graph::name(op));
        CAPTURE(columns);
        if (columns == 300) CHECK(method(device, k.p).find("columns an item") != std::string::npos);
        CHECK(got0.same_bits(want0));
        CHECK(got1.same_bits(want1));
      }
    }
  }
}

TEST_CASE("softmax along columns: what a stage leaves is there for the next, vector by vector") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, cpu_options());
  for (const std::int64_t batches : {1, 3}) {
    const std::int64_t rows = 11, columns = 150, n = batches * rows * columns;
    Builder k({batches, columns}, Orientation::Outer);
    const auto i0 = k.argument(DType::float32, n);
    const auto o0 = k.argument(DType::float32, n, true);
    const ShapeTracker t = ShapeTracker(Shape{batches, rows, columns}).permute({0, 2, 1});
    const ShapeTracker padded = ShapeTracker(Shape{batches, rows, columns})
                                    .shrink({{0, batches}, {0, rows}, {3, columns}})
                                    .pad({{0, 0}, {0, 0}, {3, 0}})
                                    .permute({0, 2, 1});
    k.stage({rows});
    const ValueId largest = k.reduce(Op::ReduceMax, k.load(true, i0, padded));
    const ValueId half =
        k.op(false, Op::Mul, DType::float32, largest, k.constant(false, graph::Scalar::of_float(DType::float32, 0.5)));
    k.stage({rows});
    const ValueId sum = k.reduce(
        Op::Sum, k.op(true, Op::Exp, DType::float32, k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), half)));
    k.stage({rows});
    const ValueId e =
        k.op(true, Op::Exp, DType::float32, k.op(true, Op::Sub, DType::float32, k.load(true, i0, t), half));
    k.store(true, k.op(true, Op::Div, DType::float32, e, sum), o0, t);
    const Bytes in = random_bytes(DType::float32, n, 5);
    const Bytes want(DType::float32, n), got(DType::float32, n);
    interpret(k.p, {&in, &want});
    run_there(device, k.p, {&in, &got});
    CHECK(method(device, k.p).find("columns an item") != std::string::npos);
    CHECK(worst_difference(want, got, 1) < 1e-6);
  }
}

TEST_CASE("few strips of many rows are dealt out in parts, the same bits each time") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, cpu_options());
  for (const std::int64_t columns : {32, 70}) {
    const std::int64_t rows = 30000;
    Builder k({columns}, Orientation::Outer);
    const auto i0 = k.argument(DType::float32, rows * columns);
    const auto o0 = k.argument(DType::float32, columns, true);
    k.stage({rows});
    const ValueId sum = k.reduce(Op::Sum, k.load(true, i0, by_columns(rows, columns)));
    k.store(false, k.op(false, Op::Neg, DType::float32, sum), o0, ShapeTracker(Shape{columns}));
    CHECK(method(device, k.p).find("in parts") != std::string::npos);
    const Bytes in = random_bytes(DType::float32, rows * columns, 5);
    const Bytes want(DType::float32, columns), got(DType::float32, columns), again(DType::float32, columns);
    interpret(k.p, {&in, &want});
    run_there(device, k.p, {&in, &got});
    run_there(device, k.p, {&in, &again});
    CHECK(worst_difference(want, got, 8.1 * static_cast<double>(rows)) < 1e-6);
    CHECK(got.same_bits(again));
  }
}

TEST_CASE("transposed copies: squares, tails, masks, other operands beside them, each dtype, on CPUs and on GPUs") {
  if (!has_opencl()) return;
  for (const bool cpu : {true, false}) {
    opencl::Options options = cpu_options();
    if (!cpu) options.adjust = [](opencl::DeviceTable& t) { t.cpu = false; };
    opencl::OpenClBackend device(0, options);
    const std::int64_t a = 37, b = 150;
    const ShapeTracker plain(Shape{2, b, a}), transposed = plain.permute({0, 2, 1});
    const Shape shape{2, a, b};
    const std::vector<ShapeTracker> views{
        transposed,
        plain.permute({2, 0, 1}).reshape({a, 2 * b}).reshape({1, a, 2 * b}),  // with the last axis first
        plain.pad({{0, 0}, {1, 2}, {3, 0}}).permute({0, 2, 1}),
        plain.shrink({{0, 2}, {4, b}, {1, a - 1}}).permute({0, 2, 1}),
        plain.expand({2, b, a}).permute({0, 2, 1}).flip({2}),
    };
    for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::uint8}) {
      for (const ShapeTracker& view : views) {
        const Shape here = view.shape();
        const std::int64_t n = numel(here).value();
        Builder k(here);
        const auto i0 = k.argument(dtype, 2 * a * b);
        const auto i1 = k.argument(dtype, n);
        const auto o0 = k.argument(dtype, n, true);
        const auto o1 = k.argument(DType::int64, n, true);
        k.stage();
        const DType held = register_dtype(dtype);
        const ValueId x = k.load(false, i0, view);
        const ValueId y = k.load(false, i1, ShapeTracker(here));
        k.store(false, k.op(false, Op::Max, held, x, y), o0, ShapeTracker(here));
        const ValueId valid = k.op(false, Op::Cast, DType::int64, k.position(false, Code::Valid, view));
        k.store(false, k.op(false, Op::Add, DType::int64, k.position(false, Code::Index, view), valid), o1,
                ShapeTracker(here));
        CAPTURE(name(dtype));
        CAPTURE(view.str());
        CHECK(method(device, k.p).find("transposed in registers") != std::string::npos);
        const Bytes in = random_bytes(dtype, 2 * a * b, 8), other = random_bytes(dtype, n, 9);
        const Bytes want(dtype, n), want_at(DType::int64, n), got(dtype, n), got_at(DType::int64, n);
        interpret(k.p, {&in, &other, &want, &want_at});
        run_there(device, k.p, {&in, &other, &got, &got_at});
        CHECK(got.same_bits(want));
        CHECK(got_at.same_bits(want_at));
      }
    }
  }
}

// doctest runs the cases in the order of the file, so this one comes last.
TEST_CASE("in a language near Metal the programs of this source pass a compiler's syntax check") {
  if (has_opencl()) MetalUnit::instance().check();
}

}  // namespace opencl_walks_test
