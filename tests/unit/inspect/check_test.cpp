// The check of results (ORIEL_CHECK), and the explanation of what ran last (ORIEL_EXPLAIN).
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "oriel/oriel.hpp"

namespace check_test {

using namespace oriel;

namespace {

struct Checking {
  explicit Checking(ResultCheck check) { set_result_check(check); }
  ~Checking() { set_result_check(ResultCheck::off); }
};

struct Refused {
  std::string message;
  int line = 0;
};

Refused refusal(const Tensor& x) {
  try {
    x.realize();
  } catch (const UserError& error) {
    CHECK(error.operation() == "check");
    return {std::string(error.message()), error.site().line};
  }
  return {};
}

bool holds(std::string_view text, const std::string& part) { return text.find(part) != std::string_view::npos; }

Tensor given(std::initializer_list<float> values) { return Tensor::of<float>(values); }

}  // namespace

TEST_CASE("the first NaN that a kernel stores names its line") {
  const Checking nan(ResultCheck::nan);
  CHECK(result_check() == ResultCheck::nan);
  const Tensor x = given({1, 4, -1, 9}) * 1;
  const Tensor root = sqrt(x);
  const int line = __LINE__ - 1;
  const Tensor total = sum(root) * 2;
  const Refused both = refusal(stack({total, total + 1}));
  CHECK(both.line >= line);
  CHECK(holds(both.message, "NaN in element 0"));
  CHECK(holds(both.message, "fused into this kernel"));
  CHECK(holds(both.message, "Sqrt"));
  CHECK(holds(both.message, "check_test.cpp:" + std::to_string(line)));
  CHECK(holds(both.message, "none of its operands in memory holds one"));
  // Nothing was computed, and nothing is lost: the same without the check.
  set_result_check(ResultCheck::off);
  CHECK(std::isnan(total.item<float>()));
}

TEST_CASE("the element, the kernel and what was there before") {
  const Checking nan(ResultCheck::nan);
  const Refused alone = refusal(log(given({1, 2, -3})));
  const int line = __LINE__ - 1;
  CHECK(alone.line == line);
  CHECK(holds(alone.message, "NaN in element 2 of 3"));
  CHECK(holds(alone.message, "Log"));
  const Refused later = refusal(given({1, std::numeric_limits<float>::quiet_NaN()}) + 1);
  CHECK(holds(later.message, "already, in element 1"));
  // A write of a part of memory that holds a NaN elsewhere is no offender.
  set_result_check(ResultCheck::off);
  Tensor y = given({1, std::numeric_limits<float>::quiet_NaN(), 3}).realize();
  set_result_check(ResultCheck::nan);
  y[0] = 5;
  CHECK(refusal(y).message.empty());
}

TEST_CASE("infinities are looked for where they are asked for, in each dtype") {
  const Tensor x = given({0, 1});
  {
    const Checking nan(ResultCheck::nan);
    CHECK(refusal(1 / x).message.empty());
    CHECK(refusal(iota({3}) * 2).message.empty());
  }
  const Checking infinite(ResultCheck::infinite);
  CHECK(result_check() == ResultCheck::infinite);
  CHECK(holds(refusal(1 / x).message, "infinity in element 0 of 2"));
  CHECK(holds(refusal(exp(x.to(DType::float16) * 100)).message, "infinity in element 1"));
  CHECK(holds(refusal(1 / x.to(DType::float64)).message, "infinity in element 0"));
  CHECK(holds(refusal((x - x) / x.to(DType::bfloat16)).message, "NaN in element 0"));
}

TEST_CASE("in captured functions the error names the line of the result") {
  const auto f = capture([](Tensor x) { return log(x) + 1; });
  CHECK(f(given({1, 2})).count() == 2);
  const Checking nan(ResultCheck::nan);
  try {
    (void)f(given({1, -2}));
    FAIL_CHECK("no error");
  } catch (const UserError& error) {
    CHECK(holds(error.message(), "NaN in element 1 of 2"));
    CHECK(error.site().line > 0);
  }
  CHECK(f(given({1, 3})).count() == 2);
}

TEST_CASE("what ran last is explained after it ran") {
  const Tensor before = (given({1, 2}) * 3).realize();
  CHECK(holds(explain(before).str(), "nothing to run on"));
  CHECK(holds(explain(before).str(), "keep_explanations(true)"));
  keep_explanations(true);
  const Tensor y = exp(given({1, 2, 3}) * 2);
  CHECK_FALSE(explain(y).ran);
  y.realize();
  const Explanation after = explain(y);
  CHECK(after.ran);
  REQUIRE(after.kernels.size() == 1);
  CHECK(holds(after.kernels[0].name, "exp"));
  CHECK(holds(after.str(), "This ran last:\n1 kernel on "));
  const Tensor z = sum(y).realize();  // another kernel
  CHECK(holds(explain(y).kernels[0].name, "sum"));
  keep_explanations(false);
  CHECK(explain(z).kernels.empty());
}

}  // namespace check_test
