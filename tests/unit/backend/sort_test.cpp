// Sorted rows and their positions: every dtype, instruction set and method, compared with std::stable_sort.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "backend/eigen/tile/sort.hpp"
#include "programs.hpp"
#include "source/cpp/render.hpp"
#include "support/isa_levels.hpp"

using namespace oriel;
using namespace oriel::test;

namespace {

using backend::eigen::SortPlan;

LoopProgram sorting(DType dtype, std::int64_t rows, std::int64_t extent, bool descending, bool positions) {
  LoopProgram p;
  p.name = "sort";
  p.outer = {rows};
  p.sorting = codegen::Sorting{rows, extent, descending, positions};
  p.form = codegen::Sort{};
  p.arguments.push_back({dtype, rows * extent, false, "in0", -1, false});
  p.arguments.push_back({positions ? DType::int64 : dtype, rows * extent, true, "out0", -1, false});
  codegen::verify(p);
  return p;
}

/// The element as a number that compares as its dtype does; nullopt for a NaN.
std::optional<double> value_of(DType dtype, const char* at) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::bool_:
    case DType::uint8:
      return read(std::uint8_t{});
    case DType::int8:
      return read(std::int8_t{});
    case DType::int16:
      return read(std::int16_t{});
    case DType::uint16:
      return read(std::uint16_t{});
    case DType::int32:
      return read(std::int32_t{});
    case DType::uint32:
      return read(std::uint32_t{});
    case DType::float16: {
      const auto bits = read(std::uint16_t{});
      const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
      if (exponent == 31 && mantissa != 0) return std::nullopt;
      const double size = exponent == 31  ? INFINITY
                          : exponent == 0 ? std::ldexp(mantissa, -24)
                                          : std::ldexp(1024 + mantissa, exponent - 25);
      return (bits & 0x8000) != 0 ? -size : size;
    }
    case DType::bfloat16: {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(read(std::uint16_t{})) << 16);
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
    case DType::float32: {
      const float x = read(float{});
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
    default: {
      const double x = read(double{});
      return std::isnan(x) ? std::nullopt : std::optional<double>(x);
    }
  }
}

struct Case {
  DType dtype;
  std::int64_t rows, extent;
  bool descending;
};

/// The positions of a row in sorted order. With `zeros`, -0 comes before 0.
std::vector<std::int64_t> ordered(const Case& c, const char* row, bool zeros) {
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  const auto before = [&](std::int64_t a, std::int64_t b) {
    if (c.dtype == DType::int64 || c.dtype == DType::uint64) {
      std::int64_t x = 0, y = 0;
      std::memcpy(&x, row + a * 8, 8);
      std::memcpy(&y, row + b * 8, 8);
      return c.dtype == DType::int64 ? x < y : static_cast<std::uint64_t>(x) < static_cast<std::uint64_t>(y);
    }
    const auto x = value_of(c.dtype, row + a * bytes), y = value_of(c.dtype, row + b * bytes);
    if (!x || !y) return x && !y;
    if (zeros && *x == 0 && *y == 0) return std::signbit(*x) && !std::signbit(*y);
    return *x < *y;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(c.extent));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return c.descending ? before(b, a) : before(a, b); });
  return order;
}

bool same_element(DType dtype, const char* a, const char* b) {
  if (is_floating(dtype) && !value_of(dtype, a) && !value_of(dtype, b)) return true;
  return std::memcmp(a, b, itemsize(dtype)) == 0;
}

/// Few different values, special ones among them; or random bits.
void fill(const Bytes& x, std::mt19937_64& random, bool few) {
  const auto bytes = static_cast<std::int64_t>(itemsize(x.dtype()));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    std::uint64_t bits = random();
    if (few) bits = bits % 4 == 0 ? bits >> 8 & 0x8000000000000000 : (bits >> 8) % 3 << (8 * bytes - 8);
    if (few && is_floating(x.dtype()) && random() % 4 == 0)
      bits = random() % 2 == 0 ? ~std::uint64_t{0} : 0x8000000000000000 >> (64 - 8 * bytes);
    if (x.dtype() == DType::bool_) bits &= 1;
    std::memcpy(static_cast<char*>(x.data()) + i * bytes, &bits, static_cast<std::size_t>(bytes));
  }
}

void check(const Case& c, const backend::isa::Table& table, backend::eigen::Threads& threads, std::mt19937_64& random) {
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  const Bytes x(c.dtype, c.rows * c.extent);
  fill(x, random, random() % 2 == 0);
  for (const bool positions : {false, true}) {
    const LoopProgram program = sorting(c.dtype, c.rows, c.extent, c.descending, positions);
    const auto chosen = backend::eigen::make_sort_plan(program, table);
    const std::int64_t lanes = 64 / (positions ? 8 : bytes);
    for (const std::int64_t method : {lanes, std::int64_t{0}}) {
      if (method > 0 && c.extent > 1100) continue;
      INFO(table.name, " ", name(c.dtype), " ", c.rows, "x", c.extent, c.descending ? " descending" : "",
           positions ? " positions" : "", method > 0 ? " network" : " radix");
      SortPlan plan = *chosen;
      plan.lanes = method;
      const Bytes out(positions ? DType::int64 : c.dtype, c.rows * c.extent);
      void* const arguments[] = {x.data(), out.data()};
      backend::eigen::run_sort(plan, threads, arguments);
      bool same = true;
      for (std::int64_t r = 0; r < c.rows && same; ++r) {
        const char* row = static_cast<const char*>(x.data()) + r * c.extent * bytes;
        const std::vector<std::int64_t> want = ordered(c, row, !positions);
        for (std::int64_t i = 0; i < c.extent && same; ++i) {
          const std::int64_t from = want[static_cast<std::size_t>(i)];
          same = positions ? out.as<std::int64_t>()[r * c.extent + i] == from
                           : same_element(c.dtype, static_cast<const char*>(out.data()) + (r * c.extent + i) * bytes,
                                          row + from * bytes);
        }
      }
      CHECK(same);
    }
  }
}

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (int d = 0; d < kDTypeCount; ++d) all.push_back(static_cast<DType>(d));
  return all;
}

}  // namespace

TEST_CASE("both methods sort every dtype at every level, around the blocks of the network and its tiles") {
  std::mt19937_64 random(1);
  backend::eigen::Threads one(1);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (const DType dtype : all_dtypes()) {
      for (const std::int64_t extent : {2, 3, 15, 16, 17, 31, 32, 33, 48, 65, 100, 129, 257})
        for (const std::int64_t rows : {1, 7, 9}) check({dtype, rows, extent, random() % 2 == 0}, table, one, random);
      check({dtype, 65, 5, false}, table, one, random);
      check({dtype, 2, 1030, true}, table, one, random);
    }
  }
}

TEST_CASE("long rows, with counters of both widths, and rows shared among threads") {
  std::mt19937_64 random(2);
  backend::eigen::Threads one(1), three(3);
  const backend::isa::Table& table = backend::isa::table();
  for (const DType dtype : all_dtypes()) {
    check({dtype, 1, 16383, false}, table, one, random);
    check({dtype, 1, 20000, true}, table, one, random);
    check({dtype, 101, 300, false}, table, three, random);
    check({dtype, 5, 5000, true}, table, three, random);
  }
}

TEST_CASE("short rows go through the network, long ones digit by digit") {
  const backend::isa::Table& table = backend::isa::table();
  const auto method = [&](DType dtype, std::int64_t rows, std::int64_t extent, bool positions) {
    return backend::eigen::describe_sort(
        *backend::eigen::make_sort_plan(sorting(dtype, rows, extent, false, positions), table));
  };
  CHECK(method(DType::float32, 1 << 20, 9, false) == "network: 16 rows side by side");
  CHECK(method(DType::float32, 1, 1 << 20, false) == "radix: digit by digit, row by row");
  CHECK(method(DType::float64, 1, 1 << 20, true) == "radix: digit by digit, row by row");
  CHECK(method(DType::int8, 1000, 25, true) == "network: 8 rows side by side");
}

TEST_CASE("verify refuses a sort whose rows do not fill its arguments, or whose result has another dtype") {
  LoopProgram p = sorting(DType::float32, 3, 4, false, false);
  p.arguments[0].elements = 11;
  CHECK_THROWS_WITH_AS(codegen::verify(p), "verify: kernel sort: sorting: 3 rows of 4 do not fill its arguments",
                       InternalError);
  p = sorting(DType::float32, 3, 4, false, false);
  p.sorting->positions = true;
  CHECK_THROWS_WITH_AS(codegen::verify(p),
                       "verify: kernel sort: sorting: its result has dtype float32; int64 is expected", InternalError);
}
