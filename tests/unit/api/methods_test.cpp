// Members beside functions, element access, and conversions where one meaning is meant.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "ops/op.hpp"
#include "oriel/oriel.hpp"

namespace methods_test {

using namespace oriel;
using Floats = std::vector<float>;

namespace {

Tensor numbers() { return Tensor::of<float>({{0.25F, 0.5F, 0.75F}, {0.125F, 0.9F, 0.375F}}); }

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && to_string(a) == to_string(b);
}

}  // namespace

TEST_CASE("each function of one operand is a member") {
  const Tensor x = numbers();
#define CHECK_METHOD(name) CHECK_MESSAGE(same(x.name(), name(x)), #name);
  ORIEL_UNARY_METHODS(CHECK_METHOD)
  ORIEL_REDUCTION_METHODS(CHECK_METHOD)
  CHECK_METHOD(nonzero)
  CHECK_METHOD(unique)
  CHECK_METHOD(var)
  CHECK_METHOD(stddev)
  CHECK_METHOD(softmax)
  CHECK_METHOD(log_softmax)
  CHECK_METHOD(layer_norm)
  CHECK_METHOD(sort)
  CHECK_METHOD(argsort)
  CHECK_METHOD(norm)
#undef CHECK_METHOD
#define CHECK_AXES(name)                             \
  CHECK_MESSAGE(same(x.name(1), name(x, 1)), #name); \
  CHECK_MESSAGE(same(x.name({0, 1}, true), name(x, {0, 1}, true)), #name);
  ORIEL_REDUCTION_METHODS(CHECK_AXES)
#undef CHECK_AXES
}

TEST_CASE("each row of the op table with one operand has its member") {
  std::set<std::string> members;
#define ORIEL_ADD(name) members.insert(#name);
  ORIEL_UNARY_METHODS(ORIEL_ADD)
#undef ORIEL_ADD
  for (const ops::OpRow& row : ops::kOpTable) {
    if (row.op_class != ops::OpClass::Elementwise || row.arity != 1) continue;
    std::string name(row.name);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    // Operators, and Tensor::to and bitcast.
    if (name == "neg" || name == "not" || name == "cast" || name == "bitcast") continue;
    CHECK_MESSAGE(members.count(name) == 1, name);
  }
}

TEST_CASE("members with operands and numbers") {
  const Tensor x = numbers(), mask = x > 0.5F, index = Tensor::of<int>({1, 0, 1});
  CHECK(same(x.matmul(x.transpose()), matmul(x, x.transpose())));
  CHECK(same(x.pow(2), pow(x, 2)));
  CHECK(same(x.clamp(0.3, 0.6), clamp(x, 0.3, 0.6)));
  CHECK(same(x.masked_fill(mask, 0), masked_fill(x, mask, 0)));
  CHECK(same(x.masked_select(mask), masked_select(x, mask)));
  CHECK(same(x.var(0, true, 0), var(x, 0, true, 0)));
  CHECK(same(x.stddev(0, false, 0), stddev(x, 0, false, 0)));
  CHECK(same(x.norm(1, 0, true), norm(x, 1, 0, true)));
  CHECK(same(x.softmax(0), softmax(x, 0)));
  CHECK(same(x.layer_norm(0, 0.5), layer_norm(x, 0, 0.5)));
  CHECK(same(x.cumsum(1), cumsum(x, 1)));
  CHECK(same(x.cumprod(0), cumprod(x, 0)));
  CHECK(same(x.sort(0, true), sort(x, 0, true)));
  CHECK(same(x.argsort(0, true), argsort(x, 0, true)));
  CHECK(same(x.pad({{1, 0}, {0, 2}}), pad(x, {{1, 0}, {0, 2}})));
  CHECK(same(x.pad({{1, 0}, {0, 2}}, 7), pad(x, {{1, 0}, {0, 2}}, 7)));
  CHECK(same(x.repeat({2, 1}), repeat(x, {2, 1})));
  CHECK(same(x.roll(1, 1), roll(x, 1, 1)));
  CHECK(same(x.take(index, 1), take(x, index, 1)));
  CHECK(same(x.gather(Tensor::of<int>({{1}, {0}}), 1), gather(x, Tensor::of<int>({{1}, {0}}), 1)));
  CHECK(same(x.diagonal(1), diagonal(x, 1)));
  CHECK(same(x.unfold(1, 2, 1), unfold(x, 1, 2, 1)));
}

TEST_CASE("errors of members name the member's line") {
  const Tensor x = numbers();
  const auto line = [](auto&& call) {
    try {
      (void)call();
    } catch (const Error& error) {
      return error.site().line;
    }
    return 0;
  };
  CHECK(line([&] { return x.sum(7); }) == __LINE__);
  CHECK(line([&] { return x.matmul(x); }) == __LINE__);
  CHECK(line([&] { return x[5]; }) == __LINE__);
  CHECK(line([&] { return x.at({1, 5}); }) == __LINE__);
  CHECK(line([&] { return x.at({1}); }) == __LINE__);
  CHECK(line([&] { return x - (x > 2); }) == __LINE__);
  CHECK(line([&] { return (x > 2) - x; }) == __LINE__);
  CHECK(line([&] { return (x > 1) && (x.transpose() > 1); }) == __LINE__);
}

TEST_CASE("entries and elements") {
  const Tensor x = Tensor::of<int>({{1, 2, 3}, {4, 5, 6}});
  CHECK(x[1].to_vector<int>() == std::vector<int>{4, 5, 6});
  CHECK(x[-1][0].item<int>() == 4);
  CHECK(int(x.at({0, 2})) == 3);
  CHECK(int(x.at({-1, -1})) == 6);
  CHECK(x.at({0, 2}).shape() == Shape{});
  CHECK(scalar(7, DType::int32).at({}).item<int>() == 7);
  CHECK_THROWS_WITH_AS(x.at({1}), "at: 1 positions for (2, 3); give one for each of its 2 axes", ShapeError);
  CHECK_THROWS_AS(x.at({2, 0}), ShapeError);
}

TEST_CASE("a tensor of one element converts to a number") {
  const Tensor x = numbers();
  CHECK(float(x.max()) == 0.9F);
  CHECK(double(x.at({0, 0})) == 0.25);
  CHECK(int(scalar(-2.5)) == -2);
  CHECK(static_cast<std::uint8_t>(scalar(7)) == 7);
  bool reached = false;
  if (all(x == x)) reached = true;
  CHECK(reached);
  if (!all(x == x) || any(x > 1)) FAIL("all");
  if (all(x == x) && x.rank() == 2) reached = false;
  CHECK_FALSE(reached);
  CHECK(bool(scalar(std::numeric_limits<float>::quiet_NaN())));
  CHECK_FALSE(bool(Tensor::of<int>({{0}})));
  CHECK_THROWS_WITH_AS(bool(x == x), doctest::Contains("only a tensor of one element"), ShapeError);
}

TEST_CASE("one axis without braces") {
  CHECK(zeros(3).shape() == Shape{3});
  CHECK(ones(2, DType::int8).dtype() == DType::int8);
  CHECK(empty(4).shape() == Shape{4});
  CHECK(same(full(2, 1.5), full({2}, 1.5)));
  CHECK(same(full(2, 1, DType::int8), full({2}, 1, DType::int8)));
  const Tensor x = numbers();
  CHECK(x.reshape(-1).shape() == Shape{6});
  CHECK(x.view(6).shape() == Shape{6});
  CHECK(reshape(x, -1).shape() == Shape{6});
  CHECK(same(pad(x[0], {1, 2}), pad(x[0], {{1, 2}})));
  CHECK(same(pad(x[0], {1, 2}, 7), pad(x[0], {{1, 2}}, 7)));
  CHECK_THROWS_AS(pad(x, {1, 1}), ShapeError);
  CHECK(same(zeros(x.size(1)), zeros({3})));
  CHECK(same(eye(x.size(0)), eye(2)));
}

TEST_CASE("plain sizes") {
  const Tensor x = numbers();
  const std::int64_t rows = x.extent(0);
  const std::vector<float> elements(x.count());
  CHECK(rows == 2);
  CHECK(x.extent(-1) == 3);
  CHECK(elements.size() == 6);
  const SymInt n = x.size(1);
  CHECK((n + 1 == 4 && 1 + n == 4 && n * 2L == 6 && 7 - n == 4U && n / 2 == 1 && n % 2 == 1));
  CHECK((2 < n && n <= 3 && n != 4U && 4L > n && n >= 3));
  // In a captured function they fix the size: another one is another entry.
  const auto f = capture([](Tensor y) { return y * y.extent(0); }, {.dynamic = Dynamic::yes});
  CHECK(f(ones(2)).to_vector<float>() == Floats{2, 2});
  CHECK(f(ones(3)).to_vector<float>() == Floats{3, 3, 3});
  CHECK(f.entries().size() == 2);
}

TEST_CASE("one spelling for what describes a tensor") {
  const Tensor x = numbers();
  CHECK(to_string(x.dtype()) == "float32");
  CHECK(to_string(x.device()) == x.device().str());
  CHECK(to_string(x.shape()) == "(2, 3)");
  CHECK(to_string(x.size(0)) == "2");
  CHECK(to_string(x.layout()) == "(2,3):(3,1)");
  CHECK(to_string(MemoryFormat::channels_last) == "channels_last");
  CHECK(to_string(View::make({2}, {1})) == View::make({2}, {1}).str());
}

TEST_CASE("numeric limits of halves") {
  using Half = std::numeric_limits<float16_t>;
  using Brain = std::numeric_limits<bfloat16_t>;
  static_assert(Half::is_specialized && Brain::is_specialized && Half::is_iec559 && !Half::is_integer);
  CHECK(float(Half::max()) == 65504);
  CHECK(float(Half::lowest()) == -65504);
  CHECK(float(Half::min()) == std::ldexp(1.0F, -14));
  CHECK(float(Half::denorm_min()) == std::ldexp(1.0F, -24));
  CHECK(float(Half::epsilon()) == std::ldexp(1.0F, -10));
  CHECK(float(Half::round_error()) == 0.5F);
  CHECK(std::isinf(float(Half::infinity())));
  CHECK(std::isnan(float(Half::quiet_NaN())));
  CHECK(std::isnan(float(Half::signaling_NaN())));
  CHECK((Half::digits == 11 && Half::digits10 == 3 && Half::max_digits10 == 5 && Half::max_exponent == 16 &&
         Half::min_exponent == -13 && Half::max_exponent10 == 4 && Half::min_exponent10 == -4));
  using Float = std::numeric_limits<float>;
  CHECK(float(Brain::max()) == std::ldexp(255.0F, 120));
  CHECK(float(Brain::min()) == Float::min());
  CHECK(float(Brain::epsilon()) == std::ldexp(1.0F, -7));
  CHECK(float(Brain::round_error()) == 0.5F);
  CHECK((Brain::digits == 8 && Brain::digits10 == 2 && Brain::max_digits10 == 4));
  CHECK((Brain::max_exponent == Float::max_exponent && Brain::min_exponent == Float::min_exponent));
  CHECK((Brain::max_exponent10 == Float::max_exponent10 && Brain::min_exponent10 == Float::min_exponent10));
}

TEST_CASE("elements of C++'s other integers") {
  CHECK(Tensor::from(std::vector<long long>{1, -2}).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, -2});
  CHECK(Tensor::from(std::vector<unsigned long long>{~0ULL}).dtype() == DType::uint64);
  CHECK(Tensor::from(std::vector<char>{'a'}).to(DType::int32).item<int>() == 97);
  CHECK(Tensor::of<long long>({5}).to_vector<long long>() == std::vector<long long>{5});
}

}  // namespace methods_test
