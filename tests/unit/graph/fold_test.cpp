// Operations on single numbers: conversions and every elementwise op, by hand and against the oracle.
#include "graph/fold.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oriel/error.hpp"
#include "reference/number.hpp"

namespace fold_test {

using namespace oriel;
using namespace oriel::graph;

namespace {

std::int64_t ints(Op op, DType dtype, std::int64_t x, std::int64_t y) {
  const Scalar operands[] = {Scalar::of_int(dtype, x), Scalar::of_int(dtype, y)};
  return evaluate(op, dtype, operands).i;
}

double floats(Op op, DType dtype, double x, double y) {
  const Scalar operands[] = {Scalar::of_float(dtype, x), Scalar::of_float(dtype, y)};
  return evaluate(op, dtype, operands).f;
}

reference::Number number(const Scalar& s) {
  return is_floating(s.dtype) ? reference::Number::floating(s.f) : reference::Number::integer(s.i);
}

}  // namespace

TEST_CASE("conversions") {
  CHECK(Scalar::of_int(DType::int8, 200).i == -56);
  CHECK(Scalar::of_int(DType::uint8, -1).i == 255);
  CHECK(Scalar::of_int(DType::bool_, 2).i == 1);
  CHECK(Scalar::of_float(DType::int8, 300).i == 127);
  CHECK(Scalar::of_float(DType::int8, -300).i == -128);
  CHECK(Scalar::of_float(DType::uint8, -3.5).i == 0);
  CHECK(Scalar::of_float(DType::int32, NAN).i == 0);
  CHECK(Scalar::of_float(DType::int32, -2.9).i == -2);
  CHECK(Scalar::of_float(DType::int64, 1e30).i == INT64_MAX);
  CHECK(static_cast<std::uint64_t>(Scalar::of_float(DType::uint64, 1e30).i) == UINT64_MAX);
  CHECK(Scalar::of_float(DType::bool_, NAN).i == 1);
  CHECK(Scalar::of_float(DType::float16, 1e6).f == INFINITY);
  CHECK(Scalar::of_int(DType::uint64, -1).cast(DType::float32).f == 0x1p64);
  CHECK(Scalar::of_int(DType::int64, (1LL << 24) + 1).cast(DType::float32).f == 0x1p24);
  CHECK(Scalar::of_float(DType::float32, 0).is_zero());
  CHECK_FALSE(Scalar::of_float(DType::float32, -0.0).is_zero());
  CHECK(Scalar::of_int(DType::uint64, -1).str() == "18446744073709551615");
  CHECK(Scalar::of_float(DType::float32, 0.1).str() == "0.1");
  CHECK(Scalar::of_int(DType::bool_, 1).str() == "true");
}

TEST_CASE("integers by hand") {
  CHECK(ints(Op::Add, DType::int8, 100, 100) == -56);
  CHECK(ints(Op::Sub, DType::uint8, 1, 2) == 255);
  CHECK(ints(Op::FloorDiv, DType::int32, -7, 2) == -4);
  CHECK(ints(Op::TruncDiv, DType::int32, -7, 2) == -3);
  CHECK(ints(Op::Remainder, DType::int32, -7, 3) == 2);
  CHECK(ints(Op::Remainder, DType::int32, 7, -3) == -2);
  CHECK(ints(Op::Fmod, DType::int32, -7, 3) == -1);
  for (const Op op : {Op::FloorDiv, Op::TruncDiv, Op::Remainder, Op::Fmod}) CHECK(ints(op, DType::int32, 5, 0) == 0);
  CHECK(ints(Op::FloorDiv, DType::int64, INT64_MIN, -1) == INT64_MIN);
  CHECK(ints(Op::FloorDiv, DType::int8, -128, -1) == -128);
  CHECK(ints(Op::Pow, DType::int32, 3, 4) == 81);
  CHECK(ints(Op::Pow, DType::int32, 2, -1) == 0);
  CHECK(ints(Op::Pow, DType::int32, -1, -3) == -1);
  CHECK(ints(Op::Pow, DType::int32, 0, -1) == 0);
  CHECK(ints(Op::Pow, DType::int32, 0, 0) == 1);
  CHECK(ints(Op::Shl, DType::int8, 1, 7) == -128);
  CHECK(ints(Op::Shl, DType::int32, 1, 32) == 0);
  CHECK(ints(Op::Shl, DType::int32, 1, -1) == 0);
  CHECK(ints(Op::Shr, DType::int32, -5, 1) == -3);
  CHECK(ints(Op::Shr, DType::int32, -5, 99) == -1);
  CHECK(ints(Op::Shr, DType::uint8, 255, 4) == 15);
  CHECK(ints(Op::Add, DType::bool_, 1, 1) == 1);
  CHECK(ints(Op::Max, DType::uint64, -1, 1) == -1);
}

TEST_CASE("floats by hand") {
  CHECK(floats(Op::FloorDiv, DType::float32, -7, 2) == -4);
  CHECK(floats(Op::Remainder, DType::float32, -7, 3) == 2);
  CHECK(floats(Op::Remainder, DType::float32, -1, INFINITY) == INFINITY);
  CHECK(floats(Op::Fmod, DType::float32, -7, 3) == -1);
  CHECK(std::isnan(floats(Op::Max, DType::float32, NAN, 1)));
  CHECK(std::isnan(floats(Op::Min, DType::float32, 1, NAN)));
  CHECK(floats(Op::Add, DType::float16, 2048, 1) == 2048);
  CHECK(floats(Op::Add, DType::float32, 0x1p24, 1) == 0x1p24);
  CHECK(floats(Op::Add, DType::float64, 0x1p24, 1) == 0x1p24 + 1);
  const Scalar half = Scalar::of_float(DType::float32, 2.5);
  CHECK(evaluate(Op::Round, DType::float32, {&half, 1}).f == 2);
  CHECK(evaluate(Op::Bitcast, DType::int32, {&half, 1}).i == 0x40200000);
  CHECK(evaluate(Op::Cast, DType::int8, {&half, 1}).i == 2);
}

TEST_CASE("every op, on every dtype it takes, agrees with the oracle") {
  const double values[] = {0, 1, -1, 2, -3, 0.5, 2.5, -2.5, 7, 100, -128, 1e9, INFINITY, -INFINITY, NAN};
  for (const OpRow& row : kOpTable) {
    if (row.op_class != OpClass::Elementwise || row.rule == DTypeRule::Select || row.rule == DTypeRule::Convert)
      continue;
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!ops::takes(row.op, dtype)) continue;
      const DType result = ops::gives_bool(row.op) ? DType::bool_ : dtype;
      if (row.functor == ops::FunctorKind::Function && is_floating(dtype)) {
        const Scalar operands[] = {Scalar::of_float(dtype, 1), Scalar::of_float(dtype, 1)};
        CHECK_THROWS_AS(evaluate(row.op, result, {operands, row.arity}), InternalError);
        continue;
      }
      for (const double x : values) {
        for (const double y : values) {
          const Scalar operands[] = {Scalar::of_float(dtype, x), Scalar::of_float(dtype, y)};
          const reference::Number numbers[] = {number(operands[0]), number(operands[1])};
          const Scalar got = evaluate(row.op, result, {operands, row.arity});
          const reference::Number want = reference::apply(row.op, dtype, result, {numbers, row.arity});
          INFO(row.name, " ", oriel::name(dtype), " ", x, " ", y, " got ", got.str(), " want ", want.i, " ", want.f);
          CHECK(reference::accepts(result, want, number(got)));
          if (row.arity == 1) break;
        }
      }
    }
  }
}

TEST_CASE("quotients of floats towards minus infinity are Python's") {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/floor_divide.jsonl");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const auto row = nlohmann::json::parse(line);
    const DType dtype = row[0] == "float64" ? DType::float64 : DType::float32;
    const auto number_at = [&](std::size_t k) { return std::strtod(row[k].get<std::string>().c_str(), nullptr); };
    const double got = floats(Op::FloorDiv, dtype, number_at(1), number_at(2));
    const double want = number_at(3);
    INFO(line, " got ", got);
    CHECK((std::isnan(want) ? std::isnan(got) : got == want && std::signbit(got) == std::signbit(want)));
    // Dividend minus remainder is a multiple of the divisor, up to rounding.
    const double rest = floats(Op::Remainder, dtype, number_at(1), number_at(2));
    const double unit = dtype == DType::float64 ? 0x1p-52 : 0x1p-23;
    if (std::isfinite(want) && std::isfinite(number_at(2)) && std::fabs(want) < 1 / unit && number_at(2) != 0)
      CHECK(std::fabs(number_at(1) - rest - want * number_at(2)) <=
            2 * unit * std::max(std::fabs(number_at(1)), std::fabs(number_at(2))));
  }
  CHECK(rows > 1000);
}

}  // namespace fold_test
