// Functors whose results IEEE 754 or integer arithmetic defines give the same bits in folding and on every instruction
// set.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "graph/fold.hpp"
#include "programs.hpp"
#include "support/arguments.hpp"
#include "support/isa_levels.hpp"

namespace spellings_test {

using namespace oriel;
using namespace oriel::test;

namespace {

template <class T>
graph::Scalar scalar(DType dtype, T x) {
  if constexpr (std::is_floating_point_v<T>) return graph::Scalar::of_float(dtype, x);
  return graph::Scalar::of_int(dtype, static_cast<std::int64_t>(x));
}

template <class R>
bool same(R got, const graph::Scalar& want) {
  if constexpr (std::is_floating_point_v<R>) {
    if (std::isnan(got) || std::isnan(want.f)) return std::isnan(got) && std::isnan(want.f);
    return got == static_cast<R>(want.f) && std::signbit(got) == std::signbit(want.f);
  }
  return got == static_cast<R>(want.i);
}

template <class R, class T>
void check_op(const graph::OpRow& row, DType dtype, const backend::isa::Table& table, const std::vector<T>& x,
              const std::vector<T>& y) {
  const backend::isa::ElementFn loop = table.element[static_cast<int>(row.op)][static_cast<int>(dtype)];
  const bool there = loop != nullptr;
  REQUIRE(there);
  const auto n = static_cast<std::int64_t>(x.size());
  Bytes got(ops::gives_bool(row.op) ? DType::bool_ : dtype, n);
  std::vector<std::uint8_t> choice(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) choice[k] = k * 7 / 3 % 2 == 1;
  const bool chooses = row.arity == 3;
  loop(got.data(), chooses ? static_cast<const void*>(choice.data()) : x.data(), chooses ? x.data() : y.data(),
       y.data(), n);
  int bad = 0;
  const DType result = ops::gives_bool(row.op) ? DType::bool_ : dtype;
  for (std::size_t k = 0; k < x.size() && bad < 3; ++k) {
    const graph::Scalar a = scalar(dtype, x[k]);
    const graph::Scalar b = scalar(dtype, y[k]);
    const graph::Scalar two[] = {a, b};
    const graph::Scalar three[] = {graph::Scalar::of_int(DType::bool_, choice[k]), a, b};
    const graph::Scalar want =
        graph::evaluate(row.op, result, chooses ? std::span<const graph::Scalar>(three) : std::span(two, row.arity));
    R r;
    std::memcpy(&r, got.as<char>() + k * sizeof r, sizeof r);
    if (same(r, want)) continue;
    ++bad;
    INFO(row.name, " of ", name(dtype), " on ", table.name, ": (", +x[k], ", ", +y[k], ") gives ", +r, ", folded ",
         want.str());
    CHECK(bad == 0);
  }
}

template <class T>
void check_dtype(DType dtype) {
  std::vector<T> x = dense_arguments<T>();
  if (dtype == DType::bool_) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(k / 3 % 2);
  }
  const std::vector<T> y = transposed_arguments(x, 5);
  for (const std::string& level : isa_levels()) {
    const backend::isa::Table& table = backend::isa::table(level.c_str());
    for (const graph::OpRow& row : graph::kOpTable) {
      if (row.functor == ops::FunctorKind::None || !takes(row.op, dtype)) continue;
      if (row.functor == ops::FunctorKind::Function && is_floating(dtype)) continue;
      if (ops::gives_bool(row.op)) {
        check_op<std::uint8_t>(row, dtype, table, x, y);
      } else {
        check_op<T>(row, dtype, table, x, y);
      }
    }
  }
}

}  // namespace

TEST_CASE("folding gives the bits of every instruction set, over all dtypes") {
  check_dtype<std::uint8_t>(DType::bool_);
  check_dtype<std::int8_t>(DType::int8);
  check_dtype<std::int16_t>(DType::int16);
  check_dtype<std::int32_t>(DType::int32);
  check_dtype<std::int64_t>(DType::int64);
  check_dtype<std::uint8_t>(DType::uint8);
  check_dtype<std::uint16_t>(DType::uint16);
  check_dtype<std::uint32_t>(DType::uint32);
  check_dtype<std::uint64_t>(DType::uint64);
  check_dtype<float>(DType::float32);
  check_dtype<double>(DType::float64);
}

}  // namespace spellings_test
