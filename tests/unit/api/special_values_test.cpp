// Every op of floats at special values, on the default device: where C's result is NaN, an infinity or a zero of either
// sign, or is exact at an infinity, so is the op's.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "reference/formats.hpp"
#include "reference/number.hpp"

namespace special_values_test {

using namespace oriel;

namespace {

std::vector<double> special_values(DType dtype) {
  const reference::Format format = reference::format(dtype);
  const double least = std::ldexp(1.0, format.lowest - format.digits + 1);
  std::vector<double> list{NAN};
  for (const double x : {0.0, HUGE_VAL, format.largest, least, std::ldexp(1.0, format.lowest), 0.5, 1.0, 1.5, 2.0, 3.0,
                         9.25, 20.0, 100.0, 1000.0}) {
    list.push_back(x);
    list.push_back(-x);
  }
  return list;
}

struct Case {
  std::string text;
  double got, want;
  bool exact;  // C's result at an infinity, which is exact
};

void check(const Case& c) {
  INFO(c.text, " is ", c.got, ", C's ", c.want);
  if (std::isnan(c.want)) {
    CHECK(std::isnan(c.got));
  } else if (c.want == 0 || std::isinf(c.want)) {
    CHECK((c.got == c.want && std::signbit(c.got) == std::signbit(c.want)));
  } else if (c.exact) {
    CHECK(c.got == c.want);
  } else {
    CHECK(std::isfinite(c.got));
  }
}

/// Is the result a zero or an infinity only because the exact one is beyond the format's range? Then its neighbour is
/// right, too.
bool at_the_edge(DType dtype, double exact) {
  const reference::Format format = reference::format(dtype);
  const double size = std::fabs(exact);
  return size != 0 && std::isfinite(size) &&
         (size > format.largest * 0.99 || size < std::ldexp(1.0, format.lowest - format.digits + 3));
}

}  // namespace

TEST_CASE("ops of floats at special values are C's") {
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    const std::vector<double> some = special_values(dtype);
    const auto n = static_cast<std::int64_t>(some.size());
    const Tensor first = Tensor::from(some, {n, 1}).to(dtype).expand({n, n}).contiguous().realize();
    const Tensor second = Tensor::from(some, {1, n}).to(dtype).expand({n, n}).contiguous().realize();
    const Tensor alone = Tensor::from(some, {n}).to(dtype).realize();
    const auto node = [](const Tensor& x) { return detail::Access::node(x); };
    std::vector<Tensor> results;
    std::vector<graph::Op> ops;
    for (const graph::OpRow& row : graph::kOpTable) {
      if (row.op_class != graph::OpClass::Elementwise || row.arity > 2 || row.rule == graph::DTypeRule::Convert ||
          !ops::takes(row.op, dtype) || ops::gives_bool(row.op))
        continue;
      ops.push_back(row.op);
      results.push_back(detail::Access::tensor(row.arity == 1 ? graph::unary(row.op, node(alone))
                                                              : graph::binary(row.op, node(first), node(second))));
      results.back() = results.back().to(DType::float64);
    }
    realize(results);
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const bool two = graph::row(ops[k]).arity == 2;
      const std::vector<double> got = results[k].to_vector<double>();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double x = two ? some[i / some.size()] : some[i];
        const double y = two ? some[i % some.size()] : 0;
        const double exact = reference::float_value(ops[k], dtype, x, y);
        // The larger of 0 and -0 may be either, and so may the sign of a NaN that copysign reads.
        const bool free = (ops[k] == graph::Op::Min || ops[k] == graph::Op::Max) && x == 0 && y == 0;
        if (free || at_the_edge(dtype, exact) || (ops[k] == graph::Op::Copysign && std::isnan(y))) continue;
        const double want = reference::round_to(dtype, exact);
        check({std::string(graph::name(ops[k])) + " of " + std::string(name(dtype)) + " at " + std::to_string(x) +
                   ", " + std::to_string(y),
               got[i], want, (std::isinf(x) || std::isinf(y)) && want == std::trunc(want)});
      }
    }
  }
}

}  // namespace special_values_test
