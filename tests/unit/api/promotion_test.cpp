// The dtypes of results, against PyTorch's answers.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

const nlohmann::json& table() {
  static const nlohmann::json json = [] {
    std::ifstream file(std::string(ORIEL_TEST_DATA) + "/torch_promotion.json");
    REQUIRE(file);
    return nlohmann::json::parse(file);
  }();
  return json;
}

// What we say: a dtype's name, or "" for a refusal.
template <class F>
std::string answer(F&& f) {
  try {
    return std::string(name(f().dtype()));
  } catch (const UserError&) {
    return "";
  }
}

// A kernel that this build of PyTorch lacks says nothing about the rule, unless the rule's dtype is given; what we
// define beyond PyTorch is not held against it.
void check(const nlohmann::json& want, const std::string& got) {
  if (want.is_string()) {
    CHECK(got == want.get<std::string>());
  } else if (want["kind"] == "rule") {
    CHECK(got.empty());
  } else if (!got.empty() && want["rule_dtype"].is_string()) {
    CHECK(got == want["rule_dtype"].get<std::string>());
  }
}

using Binary = std::map<std::string, Tensor (*)(const Operand&, const Operand&)>;

}  // namespace

TEST_CASE("two tensors") {
  const Binary ops = {{"add", &oriel::operator+ },
                       {"sub", &oriel::operator- },
                        {"mul", &oriel::operator* },
                         {"div_true", &oriel::operator/ }, {"div_floor", &floor_divide}, {"div_trunc", &trunc_divide},
                          {"floor_divide", &floor_divide}, {"remainder", &remainder}, {"fmod", &fmod}, {"pow", &pow},
                          {"eq", &oriel::operator== },
                           {"lt", &oriel::operator<}, {"maximum", &maximum},
                            {"bitwise_and", &oriel::operator& },
                             {"bitwise_left_shift", &oriel::operator<< },
                              {"logical_and", &logical_and},
                              {"where", [](const Operand& a, const Operand& b) { return where(true, a, b); }},
                              {"cat", [](const Operand& a, const Operand& b) {
                                 return concat({+a, +b}, 0);
                               }}};
  int pairs = 0;
  for (const auto& [op_name, op] : ops) {
    for (const auto& [left, row] : table()["tensor_tensor"][op_name].items()) {
      for (const auto& [right, want] : row.items()) {
        const std::string what = op_name + " " + left + " " + right;
        INFO(what);
        const Tensor a = zeros({2}, dtype_from_name(left));
        const Tensor b = zeros({2}, dtype_from_name(right));
        check(want, answer([&, f = op] { return f(a, b); }));
        ++pairs;
      }
    }
  }
  CHECK(pairs == 1800);
}

TEST_CASE("a tensor and a number") {
  const Binary ops = {
      {"add", &oriel::operator+ },
       {"mul", &oriel::operator* },
        {"div_true", &oriel::operator/ }, {"floor_divide", &floor_divide}, {"remainder", &remainder}, {"pow", &pow},
         {"eq", &oriel::operator== },
          {"lt", &oriel::operator<}, {"where", [](const Operand& a, const Operand& b) { return where(true, a, b); }}};
  for (const auto& [op_name, op] : ops) {
    for (const auto& [left, row] : table()["tensor_with_number"][op_name].items()) {
      const Tensor a = zeros({2}, dtype_from_name(left));
      const std::string what = op_name + " " + left;
      INFO(what);
      check(row["bool"], answer([&, f = op] { return f(a, true); }));
      check(row["int"], answer([&, f = op] { return f(a, 1); }));
      check(row["float"], answer([&, f = op] { return f(a, 1.5); }));
    }
  }
}

TEST_CASE("one tensor") {
  using F = Tensor (*)(const Operand&);
  const std::map<std::string, F> ops = {{"neg", &oriel::operator- }, {"exp", &exp}, {"log", &log}, {"sin", &sin},
                                         {"sqrt", &sqrt}, {"tanh", &tanh}, {"sigmoid", &sigmoid}, {"sign", &sign},
                                         {"reciprocal", &reciprocal}, {"rsqrt", &rsqrt},
                                         {"bitwise_not", &oriel::operator~},
                                          {"logical_not", &logical_not},
                                          {"isnan", &isnan},
                                          {"sum", [](const Operand& x) { return sum(x); }},
                                          {"prod", [](const Operand& x) { return prod(x); }},
                                          {"amax", [](const Operand& x) { return max(x); }},
                                          {"argmax", [](const Operand& x) { return argmax(x); }},
                                          {"logsumexp", [](const Operand& x) { return logsumexp(x); }}};
  for (const auto& [op_name, op] : ops) {
    for (const auto& [dtype, want] : table()["unary_and_reductions"][op_name].items()) {
      const std::string what = op_name + " " + dtype;
      INFO(what);
      const Tensor x = zeros({2}, dtype_from_name(dtype));
      check(want, answer([&, f = op] { return f(x); }));
    }
  }
}

namespace {

using InPlace = std::map<std::string, void (*)(Tensor&, const Operand&)>;

const InPlace& in_place() {
  static const InPlace ops = {{"add_", [](Tensor& x, const Operand& y) { x += y; }},
                              {"mul_", [](Tensor& x, const Operand& y) { x *= y; }},
                              {"div_", [](Tensor& x, const Operand& y) { x /= y; }},
                              {"copy_", [](Tensor& x, const Operand& y) { x.assign(y); }},
                              {"fill_", [](Tensor& x, const Operand& y) { x.assign(y); }}};
  return ops;
}

}  // namespace

TEST_CASE("in place, two tensors: the dtype stays, or the write is refused") {
  int pairs = 0;
  for (const auto& [op_name, rows] : table()["inplace"].items()) {
    for (const auto& [left, row] : rows.items()) {
      for (const auto& [right, want] : row.items()) {
        const std::string what = op_name + " " + left + " " + right;
        INFO(what);
        const Tensor y = zeros({2}, dtype_from_name(right));
        check(want, answer([&, f = in_place().at(op_name)] {
                Tensor x = zeros({2}, dtype_from_name(left));
                f(x, y);
                return x;
              }));
        ++pairs;
      }
    }
  }
  CHECK(pairs == 400);
}

TEST_CASE("in place, a tensor and a number") {
  for (const auto& [op_name, rows] : table()["inplace_number"].items()) {
    if (op_name == "pow_") continue;  // no operator: x.assign(pow(x, y)) casts
    for (const auto& [left, row] : rows.items()) {
      const std::string what = op_name + " " + left;
      INFO(what);
      const auto with = [&, f = in_place().at(op_name)](const Operand& y) {
        return answer([&] {
          Tensor x = zeros({2}, dtype_from_name(left));
          f(x, y);
          return x;
        });
      };
      check(row["bool"], with(true));
      check(row["int"], with(1));
      check(row["float"], with(1.5));
    }
  }
}
