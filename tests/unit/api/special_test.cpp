// Special functions, parts of floats and whole numbers beside SciPy's and NumPy's recorded answers
// (tests/data/scipy_special.py), and what they refuse.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace special_test {

using namespace oriel;
using nlohmann::json;

namespace {

using Tensors = std::vector<Tensor>;

const std::map<std::string, std::function<Tensors(const Tensors&)>> kFunctions = {
    {"lgamma", [](const Tensors& x) { return Tensors{lgamma(x[0])}; }},
    {"digamma", [](const Tensors& x) { return Tensors{digamma(x[0])}; }},
    {"i0", [](const Tensors& x) { return Tensors{i0(x[0])}; }},
    {"erfinv", [](const Tensors& x) { return Tensors{erfinv(x[0])}; }},
    {"frexp",
     [](const Tensors& x) {
       const Parts parts = frexp(x[0]);
       return Tensors{parts.mantissa, parts.exponent};
     }},
    {"ldexp", [](const Tensors& x) { return Tensors{ldexp(x[0], x[1])}; }},
    {"gcd", [](const Tensors& x) { return Tensors{gcd(x[0], x[1])}; }},
    {"lcm", [](const Tensors& x) { return Tensors{lcm(x[0], x[1])}; }},
    {"bitwise_count", [](const Tensors& x) { return Tensors{bitwise_count(x[0])}; }},
};

double number(const json& x) {
  if (x.is_number()) return x.get<double>();
  const auto text = x.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
}

Tensor tensor(const json& t) {
  const DType dtype = dtype_from_name(t[0].get<std::string>());
  if (is_integer(dtype)) return Tensor::from(t[1].get<std::vector<std::int64_t>>()).to(dtype).realize();
  std::vector<double> numbers;
  for (const json& x : t[1]) numbers.push_back(number(x));
  return Tensor::from(numbers).to(dtype).realize();
}

template <class F>
void each_case(F&& f) {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/scipy_special.json");
  REQUIRE(in);
  for (const json& one : json::parse(in)) {
    Tensors inputs;
    for (const json& t : one[1]) inputs.push_back(tensor(t));
    f(one[0].get<std::string>(), inputs, one[2]);
  }
}

bool computed_by_series(const std::string& name) {
  return name == "lgamma" || name == "digamma" || name == "i0" || name == "erfinv";
}

}  // namespace

TEST_CASE("special functions give SciPy's answers") {
  each_case([](const std::string& name, const Tensors& inputs, const json& results) {
    if (!computed_by_series(name)) return;
    const auto got = kFunctions.at(name)(inputs)[0].to_vector<double>();
    const auto x = inputs[0].to_vector<double>();
    for (std::size_t k = 0; k < got.size(); ++k) {
      const double want = number(results[0][1][k]);
      INFO(name, " of ", x[k], " is ", got[k], ", not ", want);
      if (std::isnan(want)) {
        CHECK(std::isnan(got[k]));
      } else if (std::isinf(want)) {
        CHECK(got[k] == want);
      } else {
        CHECK(std::abs(got[k] - want) <= 2e-14 * std::max(1.0, std::abs(want)));
      }
    }
  });
}

TEST_CASE("special functions of float32 are rounded once") {
  each_case([](const std::string& name, const Tensors& inputs, const json&) {
    if (!computed_by_series(name)) return;
    const Tensor x = inputs[0].to(DType::float32);
    const Tensor got = kFunctions.at(name)({x})[0];
    const Tensor want = kFunctions.at(name)({x.to(DType::float64)})[0].to(DType::float32);
    CHECK(got.dtype() == DType::float32);
    CHECK(bool(all(got == want || (isnan(got) && isnan(want)))));
  });
}

TEST_CASE("parts of floats, divisors and bits are NumPy's exactly") {
  each_case([](const std::string& name, const Tensors& inputs, const json& results) {
    if (computed_by_series(name)) return;
    const Tensors got = kFunctions.at(name)(inputs);
    for (std::size_t r = 0; r < got.size(); ++r) {
      const Tensor want = tensor(results[r]);
      INFO(name, " of ", inputs[0].str());
      CHECK(got[r].dtype() == want.dtype());
      CHECK(bool(all(got[r] == want || (isnan(got[r]) && isnan(want)))));
      CHECK(bool(all(signbit(got[r]) == signbit(want) || isnan(want))));
    }
  });
}

TEST_CASE("special functions at their ends") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(double(lgamma(-infinity)) == infinity);
  CHECK(double(i0(infinity)) == infinity);
  CHECK(std::isnan(double(digamma(-infinity))));
  CHECK(std::signbit(float(erfinv(-0.0F))));
  CHECK(lgamma(Tensor::of<int>({3})).dtype() == DType::float32);
  CHECK(lgamma(Tensor::of<float16_t>({3})).dtype() == DType::float16);
}

TEST_CASE("parts of halves, and a product with a subnormal result rounded once") {
  const Parts parts = frexp(Tensor::of<float16_t>({12, 0.25}));
  CHECK(parts.mantissa.dtype() == DType::float16);
  CHECK(bool(all(parts.mantissa == Tensor::of<float>({0.75F, 0.5F}))));
  CHECK(parts.exponent.to_vector<int>() == std::vector<int>{4, -1});
  const float x = 0x1.800002p-126F;  // by thirds it would be rounded to even thrice
  CHECK(float(ldexp(x, -10)) == std::ldexp(x, -10));
  CHECK(float(ldexp(-6.819524e-39F, -10)) == std::ldexp(-6.819524e-39F, -10));
}

TEST_CASE("exponents beyond int64") {
  const Tensor exponents = Tensor::of<std::uint64_t>({~std::uint64_t{0}, std::uint64_t{1} << 63, 3, 0});
  const Tensor x = Tensor::of<double>({1, -1, 1, 5});
  CHECK(ldexp(x, exponents).to_vector<double>() == std::vector<double>{HUGE_VAL, -HUGE_VAL, 8, 5});
}

TEST_CASE("divisors broadcast and take numbers") {
  CHECK(gcd(Tensor::of<int>({12, -8}), 18).to_vector<int>() == std::vector<int>{6, 2});
  CHECK(lcm(Tensor::of<int>({{4}, {0}}), Tensor::of<int>({6, 10})).to_vector<int>() == std::vector<int>{12, 20, 0, 0});
}

TEST_CASE("what special functions refuse") {
  const Tensor x = ones(2);
  CHECK_THROWS_WITH_AS(gcd(x, 2), doctest::Contains("gcd: the operands are float32; give integers"), DTypeError);
  CHECK_THROWS_WITH_AS(lcm(x, 2), doctest::Contains("lcm: the operands are float32; give integers"), DTypeError);
  CHECK_THROWS_WITH_AS(ldexp(x, x), doctest::Contains("ldexp: exponents are float32; give integers"), DTypeError);
  CHECK_THROWS_WITH_AS(bitwise_count(x), doctest::Contains("bitwise_count: float32 has no bits to count"), DTypeError);
}

}  // namespace special_test
