// The functions keep the errors that the table of ops states. Float32 functions of one argument are tested on arguments
// from the whole range and on all arguments near those where a function changes its method; `function_errors` tests all
// 2^32. Functions of two arguments and of float64 are tested on special numbers and on samples.
#include <doctest/doctest.h>

#include <set>
#include <utility>

#include "programs.hpp"
#include "support/function_errors.hpp"
#include "support/isa_levels.hpp"

namespace accuracy_test {

using namespace oriel;
using namespace oriel::test;

namespace {

void check(const OneArgument& f, std::uint64_t stride, std::uint64_t first = 0,
           std::uint64_t last = std::uint64_t{1} << 32) {
  std::vector<const backend::isa::Table*> tables;
  for (const std::string& level : isa_levels()) tables.push_back(&backend::isa::table(level.c_str()));
  const std::vector<FunctionError> worst = largest_errors(f, tables, stride, first, last);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    INFO(tables[t]->name, " ", graph::name(f.op), ": ", worst[t].ulps, " units at ", worst[t].at);
    CHECK(worst[t].ulps <= stated_error(f.op, DType::float32, tables[t]->name));
  }
}

}  // namespace

TEST_CASE("every op with a stated error is measured, in both floats") {
  std::set<std::pair<graph::Op, DType>> measured;
  for (const OneArgument& f : one_argument_functions()) measured.emplace(f.op, DType::float32);
  for (const SampledFunction& f : sampled_functions()) measured.emplace(f.op, f.dtype);
  for (const graph::OpRow& row : graph::kOpTable) {
    CAPTURE(row.name);
    if (row.error.float32 == 0) continue;
    CHECK(measured.count({row.op, DType::float32}) == 1);
    CHECK(measured.count({row.op, DType::float64}) == 1);
  }
}

TEST_CASE("functions of one argument keep their errors over the whole float32 range") {
  for (const OneArgument& f : one_argument_functions()) check(f, 4999);
}

TEST_CASE("functions of one argument keep their errors where they change their way and at the edges") {
  const float edges[] = {0.0F,     1e-45F,  1.1754944e-38F, 0.17328F, 0.34657F, 0.5F,   0.785398F, 0.0009765625F, 0.9F,
                         1.0F,     3.919F,  3.95F,          4.0F,     9.01F,    9.02F,  10.0F,     11.0F,         87.0F,
                         88.7228F, 103.97F, 104.0F,         125.0F,   128.0F,   149.5F, 20000.0F,  100000.0F};
  const std::uint32_t infinity = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity());
  for (const OneArgument& f : one_argument_functions()) {
    const auto look = [&](std::uint64_t middle) {
      check(f, 1, middle - std::min<std::uint64_t>(middle, 600), std::min(middle + 600, std::uint64_t{1} << 32));
    };
    for (const float edge : edges) {
      look(std::bit_cast<std::uint32_t>(edge));
      look(std::bit_cast<std::uint32_t>(-edge));
    }
    look(infinity);
    look(infinity | 0x80000000U);
    look(0xffffffffU);
  }
}

TEST_CASE("functions of two arguments and of float64 keep their errors, and C's special cases") {
  std::vector<const backend::isa::Table*> tables;
  for (const std::string& level : isa_levels()) tables.push_back(&backend::isa::table(level.c_str()));
  for (const SampledFunction& f : sampled_functions()) {
    const std::vector<SampledError> worst = largest_sampled_errors(f, tables, 60000, 1);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      INFO(tables[t]->name, " ", graph::name(f.op), " of ", name(f.dtype), ": ", worst[t].ulps, " units at ",
           worst[t].x, ", ", worst[t].y);
      CHECK(worst[t].ulps <= stated_error(f.op, f.dtype, tables[t]->name));
    }
  }
}

}  // namespace accuracy_test
