// Runs the cases that tests/data/torch_functions.py recorded.
#pragma once

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

namespace oriel::testing {

using nlohmann::json;

/// The inputs and arguments of a case.
struct RecordedArguments {
  std::vector<Tensor> tensors;
  json named;

  const Tensor& operator[](std::size_t k) const { return tensors.at(k); }
  bool has(const char* name) const { return named.contains(name) && !named[name].is_null(); }
  std::int64_t whole(const char* name) const { return named.at(name).get<std::int64_t>(); }
  double number(const char* name) const { return named.at(name).get<double>(); }
  bool flag(const char* name) const { return named.at(name).get<bool>(); }
  std::string text(const char* name) const { return named.at(name).get<std::string>(); }
  Ints ints(const char* name) const {
    if (named.at(name).is_number()) return {whole(name)};
    return named.at(name).get<std::vector<std::int64_t>>();
  }
};

using Results = std::vector<Tensor>;
using RecordedFunctions = std::map<std::string, std::function<Results(const RecordedArguments&)>>;

/// Small whole numbers of both signs, in no order.
inline Tensor mixed_numbers(const Shape& shape) {
  return (remainder(iota(shape) * 7, 23) - 11).to(DType::float32).realize();
}

inline double recorded_number(const json& x) {
  if (x.is_number()) return x.get<double>();
  const auto text = x.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return (text[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
}

inline Tensor recorded_tensor(const json& t) {
  std::vector<double> numbers;
  for (const json& x : t[2]) numbers.push_back(recorded_number(x));
  const Shape shape = t[1].get<std::vector<std::int64_t>>();
  const DType dtype = dtype_from_name(t[0].get<std::string>());
  // Integers are small, so float64 holds them; the result lies in memory in its dtype.
  return Tensor::from(numbers, shape).to(dtype).realize();
}

inline bool same_number(double got, double want, double tolerance) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  return std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
}

/// Runs every `stride`-th case of a file. `tolerance` is that of float32, relative above 1 and absolute below; for
/// float64 it is 1e-7 of that.
inline void run_recorded(const std::string& file, const RecordedFunctions& functions, double tolerance,
                         std::size_t stride = 1) {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/torch_functions_" + file + ".json");
  REQUIRE(in);
  const json cases = json::parse(in)["cases"];
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < cases.size() && wrong < 20; k += stride) {
    const json& one = cases[k];
    const auto name = one[0].get<std::string>();
    const auto function = functions.find(name);
    REQUIRE_MESSAGE(function != functions.end(), name);
    RecordedArguments arguments;
    for (const json& t : one[1]) arguments.tensors.push_back(recorded_tensor(t));
    arguments.named = one[2];
    Results results;
    std::string fault;
    try {
      results = function->second(arguments);
    } catch (const Error& error) {
      fault = error.what();
    }
    const json& want = one[3];
    if (fault.empty() && results.size() != want.size()) fault = "as many results as " + std::to_string(results.size());
    for (std::size_t r = 0; fault.empty() && r < want.size(); ++r) {
      const Tensor& got = results[r];
      const Shape shape = want[r][1].get<std::vector<std::int64_t>>();
      if (got.shape() != shape || std::string(oriel::name(got.dtype())) != want[r][0].get<std::string>()) {
        fault = "the result is " + got.str();
        break;
      }
      const std::vector<double> numbers = got.to(DType::float64).to_vector<double>();
      const double allowed = !is_floating(got.dtype())       ? 0
                             : got.dtype() == DType::float64 ? tolerance * 1e-7
                                                             : tolerance;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (same_number(numbers[i], recorded_number(want[r][2][i]), allowed)) continue;
        fault =
            "element " + std::to_string(i) + " of result " + std::to_string(r) + " is " + std::to_string(numbers[i]);
        break;
      }
    }
    wrong += !fault.empty();
    CHECK_MESSAGE(fault.empty(), fault, "\n", one.dump().substr(0, 2000));
  }
}

}  // namespace oriel::testing
