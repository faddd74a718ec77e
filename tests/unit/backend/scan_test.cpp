// Sums and products of the elements up to each one: every dtype, instruction set and way to share the work, with the
// bits of the order that the tile machine's README states.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backend/eigen/tile/one_op.hpp"
#include "graph/build.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace scan_test {

using namespace oriel;
using namespace oriel::test;

namespace {

using backend::eigen::ScanPlan;
using backend::eigen::Threads;
using graph::Op;

struct Case {
  Op op;
  DType dtype;
  std::int64_t rows, extent, inner;
};

LoopProgram scanning(const Case& c) {
  LoopProgram p;
  p.name = "scan";
  p.outer = {c.rows};
  p.scanning = codegen::Scanning{c.op, c.rows, c.extent, c.inner};
  p.form = codegen::Scan{};
  const std::int64_t elements = c.rows * c.extent * c.inner;
  p.arguments.push_back({c.dtype, elements, false, "in0", -1, false});
  p.arguments.push_back({graph::scanned(c.dtype), elements, true, "out0", -1, false});
  codegen::verify(p);
  return p;
}

// Runs of 128 elements, one after the other; what is before a run is combined with each of its elements. A sum of
// floats keeps the error of what is before.
template <class T>
void scan_in_order(const Case& c, const std::vector<Word>& x, const Bytes& out) {
  const bool sums = c.op == Op::CumSum, compensated = sums && std::is_floating_point_v<T>;
  using Limits = std::numeric_limits<T>;
  const T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  const T nothing = compensated          ? -T(0)
                    : sums               ? T(0)
                    : c.op == Op::CumMax ? lowest
                    : c.op == Op::CumMin ? highest
                                         : T(1);
  const auto combine = [&](T a, T b) {
    if (c.op == Op::CumMax) return std::max(a, b);
    if (c.op == Op::CumMin) return std::min(a, b);
    return static_cast<T>(sums ? a + b : a * b);
  };
  for (std::int64_t row = 0; row < c.rows; ++row) {
    for (std::int64_t i = 0; i < c.inner; ++i) {
      T before = nothing, rest = nothing, run = nothing;
      for (std::int64_t k = 0; k < c.extent; ++k) {
        const std::int64_t at = (row * c.extent + k) * c.inner + i;
        run = combine(run, get<T>(x[static_cast<std::size_t>(at)]));
        const T part = compensated ? static_cast<T>(rest + run) : run;
        const T all = combine(before, part);
        out.as<T>()[at] = all;
        if (k % 128 != 127) continue;
        if constexpr (std::is_floating_point_v<T>) {
          const T back = all - before, error = (before - (all - back)) + (part - back);
          rest = compensated && std::isfinite(error) && error != 0 ? error : nothing;
        }
        before = all;
        run = nothing;
      }
    }
  }
}

void fill(const Bytes& x, std::mt19937_64& random) {
  std::normal_distribution<double> number(0, 1);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const DType dtype = register_dtype(x.dtype());
    write_element(x, i, with_type(dtype, [&]<class T>(T) {
                    if constexpr (std::is_same_v<T, bool>)
                      return put(random() % 2 == 0);
                    else if constexpr (std::is_floating_point_v<T>)
                      return put(static_cast<T>(number(random) + 1));
                    else
                      return put(static_cast<T>(random()));
                  }));
  }
}

void check(const Case& c, const backend::isa::Table& table, Threads& threads, std::mt19937_64& random) {
  INFO(table.name, " ", graph::name(c.op), " ", name(c.dtype), " ", c.rows, "x", c.extent, "x", c.inner, " on ",
       threads.count(), " threads");
  const LoopProgram program = scanning(c);
  const DType dtype = program.arguments[1].dtype;
  const std::int64_t elements = c.rows * c.extent * c.inner;
  const Bytes x(c.dtype, elements), out(dtype, elements), want(dtype, elements);
  fill(x, random);
  std::vector<Word> words;
  for (std::int64_t i = 0; i < elements; ++i) {
    Word w = read_element(x, i);
    if (!is_floating(dtype))
      w = with_type(c.dtype, [&]<class T>(T) { return put(static_cast<std::int64_t>(get<T>(w))); });
    words.push_back(w);
  }
  with_type(dtype, [&]<class T>(T) {
    const bool wraps = c.op == Op::CumSum || c.op == Op::CumProd;
    if constexpr (std::is_floating_point_v<T>)
      scan_in_order<T>(c, words, want);
    else if (wraps || dtype == DType::uint64)
      scan_in_order<std::uint64_t>(c, words, want);
    else
      scan_in_order<std::int64_t>(c, words, want);
  });
  void* const arguments[] = {x.data(), out.data()};
  backend::eigen::make_scan_plan(program, table)->run(threads, arguments, {});
  CHECK(std::memcmp(out.data(), want.data(), static_cast<std::size_t>(elements) * itemsize(dtype)) == 0);
}

}  // namespace

TEST_CASE("every dtype at every level, along rows and across them, around runs and strips") {
  std::mt19937_64 random(1);
  Threads one(1);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      for (const Op op : {Op::CumSum, Op::CumProd, Op::CumMax, Op::CumMin}) {
        for (const std::int64_t extent : {1, 2, 31, 33, 127, 128, 129, 255, 300, 1023, 1024, 1025, 1700})
          for (const std::int64_t rows : {1, 3, 6}) check({op, dtype, rows, extent, 1}, table, one, random);
        for (const std::int64_t extent : {1, 5, 128, 129, 400})
          for (const std::int64_t inner : {2, 3, 4, 5, 17, 63, 65, 80})
            check({op, dtype, 2, extent, inner}, table, one, random);
        check({op, dtype, 1, 140, 520}, table, one, random);
        check({op, dtype, 2, 130, 1100}, table, one, random);
      }
    }
  }
}

TEST_CASE("the number of threads changes no bit, whether they share rows, columns or runs") {
  std::mt19937_64 random(2);
  Threads two(2), five(5);
  const backend::isa::Table& table = backend::isa::table();
  for (const DType dtype : {DType::float32, DType::float64, DType::int32, DType::uint64, DType::float16}) {
    for (const Op op : {Op::CumSum, Op::CumProd, Op::CumMax, Op::CumMin}) {
      for (Threads* threads : {&two, &five}) {
        check({op, dtype, 1, 200'001, 1}, table, *threads, random);
        check({op, dtype, 3, 70'000, 1}, table, *threads, random);
        check({op, dtype, 1, 40'000, 3}, table, *threads, random);
        check({op, dtype, 1, 900, 90}, table, *threads, random);
        check({op, dtype, 1000, 90, 1}, table, *threads, random);
        check({op, dtype, 40, 2000, 1}, table, *threads, random);
        check({op, dtype, 1, 300, 1500}, table, *threads, random);
      }
    }
  }
}

TEST_CASE("infinite, undefined and negative zero sums before a run") {
  const backend::isa::Table& table = backend::isa::table();
  Threads one(1);
  const std::int64_t n = 700;
  const Bytes x(DType::float32, n), out(DType::float32, n);
  void* const arguments[] = {x.data(), out.data()};
  const auto plan = backend::eigen::make_scan_plan(scanning({Op::CumSum, DType::float32, 1, n, 1}), table);
  float* const in = x.as<float>();
  const float* const sums = out.as<float>();
  std::fill(in, in + n, -0.0F);
  plan->run(one, arguments, {});
  CHECK(std::all_of(sums, sums + n, [](float v) { return v == 0 && std::signbit(v); }));
  std::fill(in, in + n, 1.0F);
  in[5] = INFINITY;
  in[600] = -INFINITY;
  plan->run(one, arguments, {});
  CHECK(sums[4] == 5);
  CHECK(std::all_of(sums + 5, sums + 600, [](float v) { return v == INFINITY; }));
  CHECK(std::all_of(sums + 600, sums + n, [](float v) { return std::isnan(v); }));
}

TEST_CASE("a sum of many numbers keeps its digits, and sums of numbers that are not negative never fall") {
  const backend::isa::Table& table = backend::isa::table();
  Threads one(1);
  const std::int64_t n = 1'000'000;
  const Bytes x(DType::float32, n), out(DType::float32, n);
  std::mt19937 random(3);
  for (std::int64_t i = 0; i < n; ++i) x.as<float>()[i] = static_cast<float>(random() % 1000) / 999;
  void* const arguments[] = {x.data(), out.data()};
  backend::eigen::make_scan_plan(scanning({Op::CumSum, DType::float32, 1, n, 1}), table)->run(one, arguments, {});
  double sum = 0, worst = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    sum += static_cast<double>(x.as<float>()[i]);
    worst = std::max(worst, std::fabs(static_cast<double>(out.as<float>()[i]) - sum) / (1 + sum));
  }
  CHECK(worst < 16 * 0x1p-24);
  CHECK(std::is_sorted(out.as<float>(), out.as<float>() + n));
}

TEST_CASE("verify refuses a scan whose lines do not fill its arguments, or whose result has another dtype") {
  LoopProgram p = scanning({Op::CumSum, DType::int8, 3, 4, 2});
  p.arguments[0].elements = 11;
  CHECK_THROWS_WITH_AS(codegen::verify(p),
                       "verify: kernel scan: scanning: 3 blocks of 4 lines of 2 do not fill its arguments",
                       InternalError);
  p = scanning({Op::CumSum, DType::int8, 3, 4, 2});
  p.arguments[1].dtype = DType::int32;
  CHECK_THROWS_WITH_AS(codegen::verify(p),
                       "verify: kernel scan: scanning: its result has dtype int32; int64 is expected", InternalError);
}

}  // namespace scan_test
