// Runs the cases that tests/data/torch_gradients.py recorded.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
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

/// The tensors of a case, and its other arguments by name.
struct Sample {
  const json& named;
  const std::vector<Tensor>& inputs;

  const Tensor& x() const { return inputs[0]; }
  const Tensor& y() const { return inputs[1]; }
  bool has(const char* name) const { return named.contains(name) && !named[name].is_null(); }
  bool is_tensor(const char* name) const { return has(name) && named[name].is_object(); }
  const Tensor& tensor(const char* name) const { return inputs.at(named.at(name).at("t").get<std::size_t>()); }
  std::vector<Tensor> tensors(const char* name) const {
    std::vector<Tensor> out;
    for (const json& each : named.at(name)) out.push_back(inputs.at(each.at("t").get<std::size_t>()));
    return out;
  }
  /// A tensor or a number.
  Operand operand(const char* name, double otherwise = 0) const {
    return is_tensor(name) ? Operand(tensor(name)) : Operand(number(name, otherwise));
  }
  std::int64_t whole(const char* name, std::int64_t otherwise = 0) const {
    return has(name) && named[name].is_number() ? named[name].get<std::int64_t>() : otherwise;
  }
  double number(const char* name, double otherwise = 0) const {
    if (!has(name)) return otherwise;
    if (named[name].is_boolean()) return named[name].get<bool>() ? 1 : 0;
    if (named[name].is_string()) return (text(name)[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    return named[name].get<double>();
  }
  bool flag(const char* name, bool otherwise = false) const {
    return has(name) && named[name].is_boolean() ? named[name].get<bool>() : otherwise;
  }
  std::string text(const char* name, const char* otherwise = "") const {
    return has(name) && named[name].is_string() ? named[name].get<std::string>() : otherwise;
  }
  Ints ints(const char* name, const Ints& otherwise = {}) const {
    if (!has(name)) return otherwise;
    if (named[name].is_number()) return {whole(name)};
    return Ints(named[name].get<std::vector<std::int64_t>>());
  }
  Shape shape(const char* name) const {
    const Ints sizes = ints(name);
    return {sizes.begin(), sizes.end()};
  }
  /// One axis or several; by default all.
  Axes axes(const char* name = "dim") const {
    if (!has(name) || (named[name].is_array() && named[name].empty())) return {};
    return named[name].is_number() ? Axes(whole(name)) : Axes(ints(name));
  }
  KeepDim keep() const { return flag("keepdim"); }
};

using Program = std::function<Tensor(const Sample&)>;
using Programs = std::map<std::string, Program>;

/// Several results as one line of elements.
inline Tensor joined(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<Tensor> lines;
  for (const Tensor& part : parts) lines.push_back(part.reshape(-1));
  return concat(lines);
}

inline Tensor recorded_input(const json& t) {
  std::vector<double> elements;
  for (const json& x : t[1])
    elements.push_back(x.is_number() ? x.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return Tensor::from(elements, Shape(t[0].get<std::vector<std::int64_t>>()))
      .to(t.size() > 2 ? dtype_from_name(t[2].get<std::string>()) : DType::float64)
      .realize();
}

/// What the recording multiplies elements by.
inline Tensor recorded_factors(const Tensor& like) {
  return ((remainder(iota(like.shape()) * 7 + 3, 11).to(DType::float64)) / 4 - 1.25).realize();
}

inline std::string difference(const Tensor& got, const json& want) {
  if (got.shape() != Shape(want[0].get<std::vector<std::int64_t>>())) return "shape of " + got.str();
  const std::vector<double> have = got.to(DType::float64).to_vector<double>();
  double most = 1;
  for (const json& x : want[1]) most = std::max(most, std::abs(x.get<double>()));
  for (std::size_t i = 0; i < have.size(); ++i) {
    const auto wanted = want[1][i].get<double>();
    if (!(std::abs(have[i] - wanted) <= 1e-8 * most))
      return "element " + std::to_string(i) + ": " + std::to_string(have[i]) + ", not " + std::to_string(wanted);
  }
  return {};
}

/// The first derivative that differs from what a case says, or the error; else nothing.
inline std::string fault_of(const json& one, const Program& program) {
  std::vector<Tensor> inputs, by, tangents;
  for (const json& t : one[1]) inputs.push_back(recorded_input(t));
  const auto fixed = one[2].contains("fixed") ? one[2]["fixed"].get<std::size_t>() : inputs.size();
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!is_floating(inputs[k].dtype()) || k == fixed) continue;
    places.push_back(k);
    by.push_back(inputs[k]);
    tangents.push_back(recorded_factors(inputs[k]));
  }
  const auto of = [&](const std::vector<Tensor>& x) {
    std::vector<Tensor> all = inputs;
    for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = x[k];
    return program({one[2], all});
  };
  try {
    const auto at = vjp(of, by);
    if (at.value.shape() != Shape(one[4][0].get<std::vector<std::int64_t>>())) return "result " + at.value.str();
    const Tensor g = recorded_factors(at.value);
    const std::vector<Tensor> pulled = at.pull(g);
    for (std::size_t k = 0; k < by.size(); ++k)
      if (std::string fault = difference(pulled[k], one[3][k]); !fault.empty()) return "vjp " + fault;
    if (std::string fault = difference(at.push(tangents), one[4]); !fault.empty()) return "jvp " + fault;
    if (one[5].empty()) return {};
    const auto product = [&](const std::vector<Tensor>& x) {
      const std::vector<Tensor> shares = vjp(of, x).pull(g);
      Tensor total = zeros({}, DType::float64);
      for (std::size_t k = 0; k < shares.size(); ++k) total = total + sum(shares[k] * tangents[k]);
      return total;
    };
    const std::vector<Tensor> second = grad(product)(by);
    for (std::size_t k = 0; k < by.size(); ++k)
      if (std::string fault = difference(second[k], one[5][k]); !fault.empty()) return "hvp " + fault;
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

inline void run_recorded_gradients(const std::string& family, const Programs& programs) {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/torch_gradients_" + family + ".json");
  REQUIRE(in);
  const json cases = json::parse(in)["cases"];
  for (const json& one : cases) {
    const auto program = programs.find(one[0].get<std::string>());
    CHECK_MESSAGE(program != programs.end(), one[0]);
    if (program == programs.end()) continue;
    const std::string fault = fault_of(one, program->second);
    CHECK_MESSAGE(fault.empty(), one[0], one[2].dump(), " ", one[1].dump().substr(0, 160), ": ", fault);
  }
}

}  // namespace oriel::testing
