// Scans on OpenCL: every op and dtype, whole lines and shares of them, by items and, as on GPUs, by groups through
// local memory.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "codegen/cost.hpp"
#include "graph/build.hpp"
#include "opencl_device.hpp"

namespace opencl_scan_test {

using namespace oriel;
using namespace oriel::test;

namespace {

namespace opencl = backend::opencl;
using graph::Op;

struct Sizes {
  std::int64_t rows, extent, inner;
};

/// What the factors of a recurrence are.
using graph::Recursion;

LoopProgram scanning(Op op, DType dtype, const Sizes& s, Recursion factors) {
  const bool number = factors == Recursion::number;
  LoopProgram p;
  p.outer = {s.rows};
  p.scanning = codegen::Scanning{op, s.rows, s.extent, s.inner, number, factors == Recursion::restarts};
  p.form = codegen::Scan{};
  const std::int64_t elements = s.rows * s.extent * s.inner;
  if (op == Op::Recurrence) p.arguments.push_back({dtype, number ? 1 : elements, false, "in0", -1, false});
  p.arguments.push_back({dtype, elements, false, op == Op::Recurrence ? "in1" : "in0", -1, false});
  p.arguments.push_back({op == Op::Recurrence ? dtype : graph::scanned(dtype), elements, true, "out0", -1, false});
  codegen::finish(p);
  codegen::verify(p);
  return p;
}

template <class T>
T number_of(const Bytes& x, std::int64_t at) {
  return with_type(register_dtype(x.dtype()), [&]<class X>(X) { return static_cast<T>(get<X>(read_element(x, at))); });
}

/// One after the other, in T.
template <class T>
std::vector<T> in_order(const LoopProgram& p, const Bytes& a, const Bytes& x) {
  const codegen::Scanning& s = *p.scanning;
  std::vector<T> out(static_cast<std::size_t>(s.rows * s.extent * s.inner));
  for (std::int64_t line = 0; line < s.rows * s.inner; ++line) {
    T all{};
    for (std::int64_t k = 0; k < s.extent; ++k) {
      const std::int64_t at = (line / s.inner * s.extent + k) * s.inner + line % s.inner;
      const T element = number_of<T>(x, at);
      if (s.restarts && number_of<T>(a, at) == T(0))
        all = element;
      else if (s.op == Op::Recurrence)
        all = number_of<T>(a, s.number ? 0 : at) * all + element;
      else if (k == 0)
        all = element;
      else
        all = s.op == Op::CumSum    ? static_cast<T>(all + element)
              : s.op == Op::CumProd ? static_cast<T>(all * element)
              : s.op == Op::CumMax  ? std::max(all, element)
                                    : std::min(all, element);
      out[static_cast<std::size_t>(at)] = all;
    }
  }
  return out;
}

void check(opencl::OpenClBackend& device, Op op, DType dtype, const Sizes& s, Recursion factors = Recursion::factors) {
  const LoopProgram p = scanning(op, dtype, s, factors);
  INFO(p.name, " ", s.rows, "x", s.extent, "x", s.inner, ", factors ", static_cast<int>(factors));
  const std::int64_t elements = s.rows * s.extent * s.inner;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> real(op == Op::CumProd ? 0.97 : -1.0, op == Op::CumProd ? 1.03 : 1.0);
  const Bytes a(dtype, factors == Recursion::number ? 1 : elements), x(dtype, elements);
  for (const Bytes* b : {&a, &x}) {
    for (std::int64_t i = 0; i < b->elements(); ++i) {
      write_element(*b, i, with_type(register_dtype(dtype), [&]<class T>(T) {
        if constexpr (std::is_same_v<T, bool>) return put(random() % 2 == 0);
        // Runs of some elements: what is before one is forgotten.
        if (b == &a && factors == Recursion::restarts) return put(static_cast<T>(random() % 5 != 0));
        if constexpr (std::is_floating_point_v<T>) return put(static_cast<T>(real(random)));
        return put(static_cast<T>(random()));
      }));
    }
  }
  const Bytes got(p.arguments.back().dtype, elements);
  if (op == Op::Recurrence)
    run_there(device, p, {&a, &x, &got});
  else
    run_there(device, p, {&x, &got});
  if (is_floating(dtype)) {
    const std::vector<double> want = in_order<double>(p, a, x);
    double worst = 0;
    for (std::int64_t i = 0; i < elements; ++i)
      worst = std::max(worst, std::fabs(number_of<double>(got, i) - want[static_cast<std::size_t>(i)]));
    CHECK(worst <= (dtype == DType::float64 ? 1e-12 : 1e-5) * static_cast<double>(s.extent) / 16);
  } else {
    const auto wrong = [&]<class T>(T) {
      const std::vector<T> want = in_order<T>(p, a, x);
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < elements; ++i)
        count += number_of<T>(got, i) != want[static_cast<std::size_t>(i)] ? 1 : 0;
      return count;
    };
    const bool ordered = op == Op::CumMax || op == Op::CumMin;
    CHECK((ordered && dtype != DType::uint64 ? wrong(std::int64_t()) : wrong(std::uint64_t())) == 0);
  }
}

}  // namespace

TEST_CASE("sums, products, extremes and recurrences, by items and by groups") {
  if (!has_opencl()) return;
  for (const bool cpu : {true, false}) {
    opencl::Options options = opencl_options();
    if (!cpu) options.adjust = [](opencl::DeviceTable& t) { t.cpu = false; };
    opencl::OpenClBackend device(0, options);
    if (!cpu && device.table().group_size < 256) continue;  // a simulator's
    for (const Sizes& s : {Sizes{1, 1, 1}, Sizes{3, 7, 1}, Sizes{2, 300, 1}, Sizes{1, 2049, 1}, Sizes{1, 70'001, 1},
                           Sizes{2, 500, 3}, Sizes{300, 20, 1}}) {
      check(device, Op::CumSum, DType::float32, s);
      check(device, Op::Recurrence, DType::float32, s);
      check(device, Op::Recurrence, DType::float32, s, Recursion::number);
      check(device, Op::Recurrence, DType::float32, s, Recursion::restarts);
      check(device, Op::CumMax, DType::float32, s);
    }
    const Sizes one{2, 5000, 1}, beside{2, 400, 5};
    for (const DType dtype : tested_dtypes()) {
      check(device, Op::CumSum, dtype, one);
      check(device, Op::CumMin, dtype, beside);
    }
    check(device, Op::Recurrence, DType::int64, one, Recursion::restarts);
    check(device, Op::CumProd, DType::float32, one);
    check(device, Op::CumProd, DType::int32, beside);
    check(device, Op::CumSum, DType::float16, one);
  }
}

TEST_CASE("the error of a sum does not grow with its length") {
  if (!has_opencl()) return;
  constexpr std::int64_t n = 1 << 20;
  for (const bool cpu : {true, false}) {
    opencl::Options options = opencl_options();
    if (!cpu) options.adjust = [](opencl::DeviceTable& t) { t.cpu = false; };
    opencl::OpenClBackend device(0, options);
    if (!cpu && device.table().group_size < 256) continue;
    for (const Sizes& s : {Sizes{1, n, 1}, Sizes{1, n / 2, 2}}) {
      const Bytes x(DType::float32, n), got(DType::float32, n);
      for (std::int64_t i = 0; i < n; ++i) write_element(x, i, put(0.1F));
      run_there(device, scanning(Op::CumSum, DType::float32, s, Recursion::factors), {&x, &got});
      double worst = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double exact = static_cast<double>(0.1F) * static_cast<double>(i / s.inner + 1);
        worst = std::max(worst, std::fabs(number_of<double>(got, i) / exact - 1));
      }
      INFO(cpu, " ", s.inner, " ", worst);
      CHECK(worst < 2e-6);
    }
  }
}

TEST_CASE("a sum has the same bits each time, and sizes share a source") {
  if (!has_opencl()) return;
  opencl::OpenClBackend device(0, opencl_options());
  const auto source = [&](std::int64_t extent) {
    const source::items::Rendered r =
        source::items::render(scanning(Op::CumSum, DType::float32, {1, extent, 1}, Recursion::factors),
                              source::opencl::dialect(), device.table(), {});
    return r.body;
  };
  CHECK(source(70'001) == source(90'001));
  const LoopProgram p = scanning(Op::CumSum, DType::float32, {1, 70'001, 1}, Recursion::factors);
  const Bytes x = random_bytes(DType::float32, 70'001, 3);
  const Bytes one(DType::float32, 70'001), two(DType::float32, 70'001);
  run_there(device, p, {&x, &one});
  run_there(device, p, {&x, &two});
  CHECK(one.same_bits(two));
}

// doctest runs the cases in the order of the file, so this one comes last.
TEST_CASE("in a language near Metal the programs of this source pass a compiler's syntax check") {
  if (has_opencl()) MetalUnit::instance().check();
}

}  // namespace opencl_scan_test
