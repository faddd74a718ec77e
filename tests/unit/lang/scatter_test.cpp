// Statements that write at positions: what they compute, what their ranges are, and what is refused.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::scatter_test {
namespace {

using Floats = std::vector<float>;

Tensor run(const std::string& text, const std::vector<Operand>& arguments, const ComprehensionOptions& options = {}) {
  return comprehension(text).call(arguments, options).tensor();
}

std::string diagnostic_of(const std::string& text) {
  try {
    comprehension(text);
  } catch (const ComprehensionError& error) {
    return error.diagnostic();
  }
  return "no error";
}

Tensor ints(const std::vector<std::int32_t>& values) { return Tensor::from(values); }
Tensor floats(const Floats& values) { return Tensor::from(values); }

}  // namespace

TEST_CASE("values whose positions are equal are combined, and no position gives the identity") {
  const Tensor i = ints({2, 0, 2, 2});
  const Tensor x = floats({1, 2, 4, 3});
  const auto by = [&](const std::string& op) {
    return run("def f(int32(K) I, float(K) X, float(N) like) -> (float(N) F) { F(I(i)) " + op + " X(i) }",
               {i, x, zeros({4})})
        .to_vector<float>();
  };
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(by("+=!") == Floats{2, 0, 8, 0});
  CHECK(by("*=!") == Floats{2, 1, 12, 1});
  CHECK(by("max=!") == Floats{2, -infinity, 4, -infinity});
  CHECK(by("min=!") == Floats{2, infinity, 1, infinity});
  CHECK(by("=") == Floats{2, 0, 3, 0});  // the last one
}

TEST_CASE("all other ranges are inferred") {
  const Tensor i = ints({1, 0, 1});
  const Tensor x = (arange(6)).to(DType::float32).reshape({3, 2}).realize();
  CHECK(run("def f(int32(K) I, float(K, D) X) -> (float(3, D) F) { F(I(i), j) +=! X(i, j) }", {i, x})
            .to_vector<float>() == Floats{2, 3, 4, 6, 0, 0});
  // A sum before the scatter, an index that is moved, a position by arithmetic, a position in another axis.
  CHECK(
      run("def f(int32(K) I, float(K, D) X) -> (float(4) F) { F(I(i) + 1) +=! X(i, j) }", {i, x}).to_vector<float>() ==
      Floats{0, 5, 10, 0});
  CHECK(run("def f(int32(K) I, float(K, D) X) -> (float(2, D) F) { F(I(i), j) +=! X(i, j) * 2 where i in 1:3 }", {i, x})
            .to_vector<float>() == Floats{4, 6, 8, 10});
  CHECK(run("def f(float(K) X) -> (float(7) F) { F(2*i + k) +=! X(i) where k in 0:2 }", {floats({1, 2, 3})})
            .to_vector<float>() == Floats{1, 1, 2, 2, 3, 3, 0});
  CHECK(run("def f(float(K) X) -> (float(2, 3) F) { F(1, 2 - i) = X(i) }", {floats({1, 2, 3})}).to_vector<float>() ==
        Floats{0, 0, 0, 3, 2, 1});
  CHECK(run("def f(int32(K) I, float(K) X) -> (float(2, K) F) { F(I(i), i) = X(i) }", {i, floats({5, 6, 7})})
            .to_vector<float>() == Floats{0, 6, 0, 5, 0, 7});
}

TEST_CASE("a statement before gives the sizes, and what is not written stays") {
  const Tensor i = ints({1, 3, 1});
  const Tensor x = floats({1, 2, 4});
  const auto with = [&](const std::string& more) {
    return run("def f(int32(K) I, float(K) X) -> (F) { F(n) = 10.0 where n in 0:K + 2 " + more + " }", {i, x})
        .to_vector<float>();
  };
  CHECK(with("F(I(i)) += X(i)") == Floats{10, 15, 10, 12, 10});
  CHECK(with("F(I(i)) = X(i)") == Floats{10, 4, 10, 2, 10});
  CHECK(with("F(I(i)) max= X(i) * 5") == Floats{10, 20, 10, 10, 10});
  CHECK(with("F(I(i)) +=! X(i)") == Floats{0, 5, 0, 2, 0});
  CHECK(run("def f(int32(K) I, float(K) X) -> (F) { F(n) = n where n in 2:7 F(I(i) + 3) += X(i) }", {i, x})
            .to_vector<float>() == Floats{2, 3, 9, 5, 8});  // coordinates from 2
}

TEST_CASE("other dtypes, and no elements") {
  const Tensor i = ints({1, 1, 0});
  CHECK(run("def f(int32(K) I, int32(K) X) -> (int32(2) F) { F(I(i)) +=! X(i) }", {i, ints({1, 2, 4})})
            .to_vector<std::int32_t>() == std::vector<std::int32_t>{4, 3});
  CHECK(run("def f(int32(K) I) -> (int32(2) F) { F(I(i)) +=! true }", {i}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{1, 2});
  CHECK(run("def f(int32(K) I, float16(K) X) -> (float16(2) F) { F(I(i)) +=! X(i) }",
            {i, floats({1, 2, 4}).to(DType::float16)})
            .to(DType::float32)
            .to_vector<float>() == Floats{4, 3});
  CHECK(run("def f(int32(K) I, float(K) X) -> (float(2) F) { F(I(i)) +=! X(i) }",
            {zeros({0}).to(DType::int32), zeros({0})})
            .to_vector<float>() == Floats{0, 0});
  CHECK(run("def f(int32(K) I, float(K, D) X) -> (float(2) F) { F(I(i)) *=! X(i, j) }", {i, zeros({3, 0})})
            .to_vector<float>() == Floats{1, 1});
}

TEST_CASE("a position outside is an error of the work, or left out") {
  const std::string text = "def f(int32(K) I, float(K) X) -> (float(2) F) { F(I(i)) +=! X(i) }";
  const Tensor i = ints({1, 2, -1}), x = floats({1, 2, 4});
  CHECK_THROWS_AS(run(text, {i, x}).realize(), IndexError);
  // A target without elements is never computed.
  const char* const sized = "def f(int32(K) I, float(K) X, float(M) Z) -> (float(M) F) { F(I(i)) +=! X(i) }";
  CHECK_THROWS_AS(run(sized, {i, x, zeros({0})}).realize(), IndexError);
  ComprehensionOptions unchecked;
  unchecked.bounds = Bounds::zero;
  const ComprehensionResults results = comprehension(text).call(std::vector<Operand>{i, x}, unchecked);
  CHECK(results.tensor().to_vector<float>() == Floats{0, 1});
  REQUIRE(results.warnings().size() == 1);
  CHECK(results.warnings()[0].kind == "unchecked_scatter");
  CHECK_THROWS_AS(run("def f(float(K) X) -> (float(2) F) { F(i + 1) +=! X(i) where i in 0:3 }", {x}),
                  ComprehensionError);
}

TEST_CASE("what gives no sizes is told what to write") {
  CHECK(
      diagnostic_of("def f(int32(K) I, float(K, D) X) -> (F) { F(I(i), j) +=! X(i, j) }")
          .starts_with("comprehension:1:45: error: this is a position that is written, not an index of 'F', and gives "
                       "it no size; declare the sizes, as in -> (float(N0, N1) F), or assign 'F' before, as in "
                       "F(n0, n1) = 0.0 where n0 in 0:N0, n1 in 0:N1 [parse_error]"));
  CHECK(diagnostic_of("def f(float(K) I, float(K) X) -> (float(4) F) { F(I(i)) +=! X(i) }").find("cast it") !=
        std::string::npos);
  CHECK(diagnostic_of("def f(int32(K) I, float(K, D) X) -> (float(4) F) { F(I(i)) = X(i, j) }")
            .find("[reduction_without_operator]") != std::string::npos);
  CHECK_THROWS_AS(
      run("def f(int32(K) I, float(K, D) X) -> (float(2, 5) F) { F(I(i), j) +=! X(i, j) }", {ints({0}), ones({1, 3})}),
      ComprehensionError);
}

TEST_CASE("captured functions of many sizes, exports and devices without scatters") {
  const auto f = function([](Tensor i, Tensor x, Tensor like) {
    return comprehension(
               "def f(int32(K) I, float(K, D) X, float(N) like) -> (float(N, D) F) { F(I(i), j) +=! X(i, j) }")(i, x,
                                                                                                                like)
        .tensor();
  });
  for (const std::int64_t n : {3, 4, 5, 9}) {
    const Tensor i = (arange(n) % 2).to(DType::int32).realize();
    const Tensor x = arange(2 * n).to(DType::float32).reshape({n, 2}).realize(), like = zeros({n + 1}).realize();
    CHECK(f(i, x, like).to_vector<float>() == put_add(zeros({n + 1, 2}), i, x, 0).to_vector<float>());
  }
  CHECK(f.entries().size() == 2);
  for (const Device device : devices()) {
    if (device.kind == DeviceKind::null) continue;
    const Tensor i = ints({1, 0, 1}).to(device), x = floats({1, 2, 4}).to(device);
    CHECK(run("def f(int32(K) I, float(K) X) -> (float(3) F) { F(I(i)) +=! X(i) }", {i, x}).to_vector<float>() ==
          Floats{2, 5, 0});
    CHECK(run("def f(int32(K) I, float(K) X) -> (float(3) F) { F(I(i)) = X(i) }", {i, x}).to_vector<float>() ==
          Floats{2, 4, 0});
  }
}

}  // namespace oriel::scatter_test
