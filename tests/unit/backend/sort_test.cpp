// Sorted rows and their positions: every dtype, instruction set and method, compared with std::stable_sort.
#include <doctest/doctest.h>

#include <random>

#include "backend/eigen/tile/one_op.hpp"
#include "sort_case.hpp"
#include "source/cpp/render.hpp"
#include "support/isa_levels.hpp"

namespace sort_test {

using namespace oriel;
using namespace oriel::test;

namespace {

using backend::eigen::SortPlan;

void check(const SortCase& c, const backend::isa::Table& table, backend::eigen::Threads& threads,
           std::mt19937_64& random) {
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
      plan.run(threads, arguments, {});
      CHECK(is_sorted_from(c, positions, x, out));
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
    const LoopProgram program = sorting(dtype, rows, extent, false, positions);
    return backend::eigen::make_sort_plan(program, table)->describe(program);
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

}  // namespace sort_test
