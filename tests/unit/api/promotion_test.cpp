// The dtypes of results, compared with PyTorch's: every table of tests/data/torch_promotion.json.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "oriel/oriel.hpp"

namespace promotion_test {

using namespace oriel;

namespace {

using Json = nlohmann::json;
using Binary = std::map<std::string, Tensor (*)(const Operand&, const Operand&)>;
using Unary = std::map<std::string, Tensor (*)(const Operand&)>;

const Json& table(const char* name) {
  static const Json json = [] {
    std::ifstream file(std::string(ORIEL_TEST_DATA) + "/torch_promotion.json");
    REQUIRE(file);
    return Json::parse(file);
  }();
  REQUIRE(json.contains(name));
  return json[name];
}

// Oriel's answer: the dtype's name, or "" if the operation is refused.
template <class F>
std::string answer(F&& f) {
  try {
    return std::string(name(f().dtype()));
  } catch (const UserError&) {
    return "";
  }
}

// Ops that take integers and bool as floats here, while PyTorch refuses them; and matmul, which promotes its operands
// here.
const std::set<std::string> kBeyond{"mean", "var", "std", "gelu", "softmax", "matmul"};

// If this build of PyTorch has no kernel for the dtypes, the expected answer is the dtype of PyTorch's promotion rule.
// If Oriel's op refuses such operands too (bit operations on floats, quotients of bool), then `met`, the dtype to which
// the operands are promoted, must be that dtype.
void check(const std::string& op, const Json& want, const std::string& got, const std::string& met) {
  INFO(op);
  if (want.is_string()) {
    CHECK(got == want.get<std::string>());
  } else if (kBeyond.count(op) != 0) {
    CHECK(!got.empty());
  } else if (want["kind"] == "rule") {
    CHECK(got.empty());
  } else if (want["rule_dtype"].is_string()) {
    CHECK((got.empty() ? met : got) == want["rule_dtype"].get<std::string>());
  } else {
    CHECK(got.empty());
  }
}

DType float_or(DType dtype) { return is_floating(dtype) ? dtype : DType::float32; }

// Checks that every op of the table is tested here.
template <class Map>
void check_ops(const Json& ops, const Map& ours) {
  for (const auto& [op, rows] : ops.items()) {
    INFO(op);
    CHECK(ours.count(op) == 1);
  }
  CHECK(ops.size() == ours.size());
}

// The rows of a table are the left operand's dtypes, the columns the right operand's.
int check_pairs(const char* name, const Binary& ops, const Shape& left_shape, const Shape& right_shape) {
  check_ops(table(name), ops);
  int pairs = 0;
  for (const auto& [op, f] : ops) {
    for (const auto& [left, row] : table(name)[op].items()) {
      for (const auto& [right, want] : row.items()) {
        const std::string what = std::string(name) + " " + left + " " + right;
        INFO(what);
        const Tensor a = zeros(left_shape, dtype_from_name(left));
        const Tensor b = zeros(right_shape, dtype_from_name(right));
        check(op, want, answer([&, f = f] { return f(a, b); }), answer([&] { return a + b; }));
        ++pairs;
      }
    }
  }
  return pairs;
}

int check_numbers(const char* name, const Binary& ops, const Shape& shape) {
  check_ops(table(name), ops);
  int pairs = 0;
  for (const auto& [op, f] : ops) {
    for (const auto& [left, row] : table(name)[op].items()) {
      const Tensor a = zeros(shape, dtype_from_name(left));
      const std::string what = std::string(name) + " " + left;
      INFO(what);
      check(op, row["bool"], answer([&, f = f] { return f(a, true); }), answer([&] { return a + true; }));
      check(op, row["int"], answer([&, f = f] { return f(a, 1); }), answer([&] { return a + 1; }));
      check(op, row["float"], answer([&, f = f] { return f(a, 1.5); }), answer([&] { return a + 1.5; }));
      pairs += 3;
    }
  }
  return pairs;
}

Tensor choose(const Operand& a, const Operand& b) { return where(true, a, b); }

// clang-format off
const Binary kArithmetic{
    {"add", &oriel::operator+},
    {"sub", &oriel::operator-},
    {"mul", &oriel::operator*},
    {"div_true", &oriel::operator/},
    {"floor_divide", &floor_divide},
    {"pow", &pow},
    {"eq", &oriel::operator==},
    {"where", &choose},
};
// clang-format on

Binary with(Binary ops, const Binary& more) {
  ops.insert(more.begin(), more.end());
  return ops;
}

Binary only(const std::set<std::string>& names) {
  Binary ops;
  for (const std::string& op : names) ops.insert(*kArithmetic.find(op));
  return ops;
}

}  // namespace

TEST_CASE("two tensors") {
  // clang-format off
  const Binary ops = with(kArithmetic, {
      {"div_floor", &floor_divide},
      {"div_trunc", &trunc_divide},
      {"remainder", &remainder},
      {"fmod", &fmod},
      {"lt", &oriel::operator<},
      {"maximum", &maximum},
      {"atan2", &atan2},
      {"bitwise_and", &oriel::operator&},
      {"bitwise_left_shift", &oriel::operator<<},
      {"logical_and", &logical_and},
      {"matmul", &matmul},
      {"cat", [](const Operand& a, const Operand& b) { return concat({+a, +b}, 0); }},
      {"result_type", &oriel::operator+},
  });
  // clang-format on
  CHECK(check_pairs("tensor_tensor", ops, {2, 2}, {2, 2}) == 2100);
}

TEST_CASE("tensors without axes have less say than those with axes") {
  CHECK(check_pairs("dim_with_rank0", with(kArithmetic, {{"maximum", &maximum}}), {2}, {}) == 900);
  CHECK(check_pairs("rank0_with_dim", only({"add", "div_true", "where", "pow"}), {}, {2}) == 400);
  CHECK(check_pairs("rank0_with_rank0", only({"add", "div_true"}), {}, {}) == 200);
  for (const Json& entry : table("dim_first_with_rank0_result_type")) {
    const Tensor a = zeros({2}, dtype_from_name(entry["operands"][0].get<std::string>()));
    const Tensor b = zeros({}, dtype_from_name(entry["operands"][1].get<std::string>()));
    CHECK(name((a * b).dtype()) == entry["result"].get<std::string>());
  }
  // Three kinds of operands at once: an int8 tensor with axes, an int64 tensor without, and a float number.
  CHECK((where(true, zeros({2}, DType::int8), zeros({}, DType::int64))).dtype() == DType::int8);
  CHECK(clamp(zeros({2}, DType::int8), zeros({}, DType::int64), 1.5).dtype() == DType::float32);
  CHECK(clamp(zeros({2}, DType::int8), zeros({}, DType::float16), 1.5).dtype() == DType::float16);
  // clamp has the dtype of minimum(maximum(x, low), high).
  CHECK(clamp(zeros({2}, DType::int16), 1.0, zeros({2}, DType::bfloat16)).dtype() == DType::float32);
  const Tensor any[] = {zeros({2}, DType::int16), zeros({2}, DType::bfloat16), zeros({}, DType::float16),
                        zeros({2}, DType::bool_), zeros({}, DType::int64)};
  const auto same = [](const Operand& x, const Operand& low, const Operand& high) {
    CHECK(clamp(x, low, high).dtype() == minimum(maximum(x, low), high).dtype());
    CHECK(clamp(x, low, high).shape() == minimum(maximum(x, low), high).shape());
  };
  for (const Tensor& x : any) {
    for (const Tensor& y : any) {
      same(x, 1.0, y);
      same(x, y, 1.0);
      same(x, 1, y);
      same(1.0, x, y);
      for (const Tensor& z : any) same(x, y, z);
    }
  }
}

TEST_CASE("a tensor and a number") {
  // clang-format off
  const Binary ops = with(kArithmetic, {
      {"rsub", [](const Operand& a, const Operand& b) { return b - a; }},
      {"rdiv_true", [](const Operand& a, const Operand& b) { return b / a; }},
      {"rpow", [](const Operand& a, const Operand& b) { return pow(b, a); }},
      {"remainder", &remainder},
      {"lt", &oriel::operator<},
      {"clamp_min", &maximum},
      {"bitwise_and", &oriel::operator&},
      {"lshift", &oriel::operator<<},
  });
  // clang-format on
  CHECK(check_numbers("tensor_with_number", ops, {2}) == 480);
  CHECK(check_numbers("rank0_with_number", only({"add", "div_true"}), {}) == 60);
}

TEST_CASE("one tensor") {
  // clang-format off
  const Unary ops{
      {"neg", &oriel::operator-}, {"abs", &abs}, {"exp", &exp}, {"log", &log}, {"sin", &sin}, {"sqrt", &sqrt},
      {"tanh", &tanh}, {"sigmoid", &sigmoid}, {"relu", &relu}, {"gelu", &gelu}, {"floor", &floor}, {"ceil", &ceil},
      {"round", &round}, {"trunc", &trunc}, {"sign", &sign}, {"square", &square}, {"reciprocal", &reciprocal},
      {"rsqrt", &rsqrt}, {"bitwise_not", &oriel::operator~}, {"logical_not", &logical_not}, {"isnan", &isnan},
      {"sum", [](const Operand& x) { return sum(x); }},
      {"mean", [](const Operand& x) { return mean(x); }},
      {"prod", [](const Operand& x) { return prod(x); }},
      {"amax", [](const Operand& x) { return max(x); }},
      {"max", [](const Operand& x) { return max(x); }},
      {"argmax", [](const Operand& x) { return argmax(x); }},
      {"argmin", [](const Operand& x) { return argmin(x); }},
      {"all", [](const Operand& x) { return all(x); }},
      {"any", [](const Operand& x) { return any(x); }},
      {"var", [](const Operand& x) { return var(x); }},
      {"std", [](const Operand& x) { return stddev(x); }},
      {"logsumexp", [](const Operand& x) { return logsumexp(x); }},
      {"softmax", [](const Operand& x) { return softmax(x); }},
      {"cumsum", [](const Operand& x) { return cumsum(x, 0); }},
      {"cumprod", [](const Operand& x) { return cumprod(x, 0); }},
      {"sort_values", [](const Operand& x) { return sort(x); }},
      {"argsort", [](const Operand& x) { return argsort(x); }},
      {"count_nonzero", [](const Operand& x) { return count_nonzero(x); }},
      {"norm", [](const Operand& x) { return norm(x); }},
  };
  // clang-format on
  check_ops(table("unary_and_reductions"), ops);
  for (const auto& [op, f] : ops) {
    for (const auto& [dtype, want] : table("unary_and_reductions")[op].items()) {
      INFO(dtype);
      const Tensor x = zeros({2}, dtype_from_name(dtype));
      const std::string got = answer([&, f = f] { return f(x); });
      check(op, want, got, dtype);
      if (kBeyond.count(op) != 0) CHECK(got == name(float_or(x.dtype())));
    }
  }
}

TEST_CASE("in place: the dtype stays, or the result is refused") {
  const auto kept = [](const std::string& op, Tensor x, const Operand& y) {
    if (op == "add_") return x += y;
    if (op == "mul_") return x *= y;
    if (op == "div_") return x /= y;
    if (op == "copy_" || op == "fill_") return x.assign(y);
    FAIL(op);
    return x;
  };
  int entries = 0;
  for (const auto& [op, rows] : table("inplace").items()) {
    for (const auto& [left, row] : rows.items()) {
      for (const auto& [right, want] : row.items()) {
        const std::string what = op + " " + left + " " + right;
        INFO(what);
        const Tensor x = zeros({2}, dtype_from_name(left));
        const Tensor y = ones({2}, dtype_from_name(right));
        const std::string got = answer([&, &op = op] { return kept(op, x, y); });
        ++entries;
        // PyTorch's copy_ converts everything. assign follows the rule of the other operations in place.
        if (op == "copy_" && !can_cast(y.dtype(), x.dtype()))
          CHECK(got.empty());
        else
          check(op, want, got, left);
      }
    }
  }
  CHECK(entries == 400);
  for (const auto& [op, rows] : table("inplace_number").items()) {
    for (const auto& [left, row] : rows.items()) {
      INFO(left);
      const Tensor x = zeros({2}, dtype_from_name(left));
      const auto check_one = [&, &op = op, &left = left](const char* kind, const Operand& y) {
        const std::string got = answer([&] {
          // There is no operator that raises to a power in place; this does what it would do.
          if (op != "pow_") return kept(op, x, y);
          const Tensor power = pow(x, y);
          if (!can_cast(power.dtype(), x.dtype())) throw DTypeError("pow", power.str());
          return power.to(x.dtype());
        });
        // PyTorch's fill_ truncates.
        if (op == "fill_" && kind == std::string("float") && !is_floating(x.dtype()))
          CHECK(got.empty());
        else
          check(op, row[kind], got, left);
      };
      check_one("bool", true);
      check_one("int", 1);
      check_one("float", 1.5);
      entries += 3;
    }
  }
  CHECK(entries == 550);
}

TEST_CASE("the errors of operations in place") {
  Tensor x = Tensor::of<int>({1, 2});
  CHECK_THROWS_WITH_AS(
      x /= 2, "div: the result is float32 and cannot be kept in int32; write x = x op y, or cast first", DTypeError);
  CHECK(x.to_vector<int>() == std::vector<int>{1, 2});
  x += Tensor::of<std::int64_t>({1, 1});
  CHECK(x.to_vector<int>() == std::vector<int>{2, 3});
}

TEST_CASE("promoting and casting dtypes") {
  int pairs = 0;
  for (const auto& [left, row] : table("promote_types").items()) {
    for (const auto& [right, want] : row.items()) {
      INFO(left);
      INFO(right);
      const DType a = dtype_from_name(left);
      const DType b = dtype_from_name(right);
      CHECK(name(promote(a, b)) == want.get<std::string>());
      CHECK(can_cast(a, b) == table("can_cast")[left][right].get<bool>());
      ++pairs;
    }
  }
  CHECK(pairs == 100);
}

TEST_CASE("factories") {
  const std::map<std::string, Tensor> ours{{"tensor(1)", scalar(1)},
                                           {"tensor(1.5)", scalar(1.5)},
                                           {"tensor(True)", scalar(true)},
                                           {"tensor([])", Tensor()},
                                           {"zeros(2)", zeros({2})},
                                           {"arange(3)", arange(3)},
                                           {"arange(3.0)", arange(3.0)},
                                           {"full((2,),1)", full({2}, 1)},
                                           {"full((2,),1.0)", full({2}, 1.0)},
                                           {"full((2,),True)", full({2}, true)},
                                           {"linspace", linspace(0, 1, 3)},
                                           // A list of numbers of several kinds, as C++ expresses it.
                                           {"tensor([1,2.5])", stack({scalar(1), scalar(2.5)})},
                                           {"tensor([True,2])", stack({scalar(true), scalar(2)})}};
  check_ops(table("factories"), ours);
  for (const auto& [call, tensor] : ours) {
    INFO(call);
    CHECK(name(tensor.dtype()) == table("factories")[call].get<std::string>());
  }
}

TEST_CASE("unsigned integers beyond the table") {
  using enum DType;
  // Two unsigned dtypes: the wider one. With a signed one: a signed dtype wide enough for both. No integer dtype holds
  // both uint64 and negative numbers, so these promote to a float.
  CHECK(promote(uint8, uint16) == uint16);
  CHECK(promote(uint16, uint32) == uint32);
  CHECK(promote(uint64, uint8) == uint64);
  CHECK(promote(uint16, int8) == int32);
  CHECK(promote(uint16, int16) == int32);
  CHECK(promote(uint16, int32) == int32);
  CHECK(promote(uint32, int16) == int64);
  CHECK(promote(uint32, int64) == int64);
  CHECK(promote(uint64, int8) == float32);
  CHECK(promote(uint64, int64) == float32);
  for (const DType u : {uint16, uint32, uint64}) {
    const std::string which(name(u));
    INFO(which);
    for (const DType other : {bool_, float16, bfloat16, float32, float64, uint8, uint16, uint32, uint64, int8, int64}) {
      CHECK(promote(u, other) == promote(other, u));
      CHECK(can_cast(u, other) == (other != bool_));
      CHECK(can_cast(other, u) == !is_floating(other));
    }
    CHECK(promote(u, bool_) == u);
    for (const DType f : {float16, bfloat16, float32, float64}) CHECK(promote(u, f) == f);
    const Tensor x = ones({2}, u);
    CHECK((x + 1).dtype() == u);
    CHECK((x + true).dtype() == u);
    CHECK((x + 1.5).dtype() == float32);
    CHECK((x + zeros({}, int64)).dtype() == u);
    CHECK((zeros({2}, int8) + zeros({}, u)).dtype() == int8);
    CHECK((x / x).dtype() == float32);
    CHECK((x == x).dtype() == bool_);
    CHECK((x & x).dtype() == u);
    CHECK((~x).dtype() == u);
    CHECK(exp(x).dtype() == float32);
    CHECK(max(x).dtype() == u);
    CHECK(sum(x).dtype() == (u == uint64 ? uint64 : int64));
    CHECK(prod(x).dtype() == (u == uint64 ? uint64 : int64));
    CHECK(cumsum(x, 0).dtype() == sum(x).dtype());
    CHECK(cumprod(x, 0).dtype() == sum(x).dtype());
    CHECK(sort(x).dtype() == u);
    CHECK(argsort(x).dtype() == int64);
    CHECK(count_nonzero(x).dtype() == int64);
    CHECK(atan2(x, x).dtype() == float32);
    CHECK(linspace(0, 4, 3, u).dtype() == u);
    CHECK(zeros_like(x).dtype() == u);
    CHECK_THROWS_AS(norm(x), DTypeError);
    CHECK(mean(x).dtype() == float32);
    Tensor y = x;
    if (u != uint64) CHECK((y += zeros({2}, int64)).dtype() == u);
    CHECK_THROWS_AS(y += 0.5, DTypeError);
  }
  Tensor y = ones({2}, uint64);
  CHECK_THROWS_AS(y += zeros({2}, int64), DTypeError);
}

}  // namespace promotion_test
