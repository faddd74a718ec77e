// Definitions whose dtypes follow their arguments, and results that need no declaration.
#include <doctest/doctest.h>

#include "oriel/oriel.hpp"

namespace oriel::generic_test {
namespace {

const char* const kProduct = "def mm<T>(T(M, K) A, T(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }";

std::string kind_of(const auto& f) {
  try {
    f();
    return "nothing";
  } catch (const ComprehensionError& error) {
    return error.kind();
  }
}

}  // namespace

TEST_CASE("one definition for every dtype") {
  const Comprehension mm = comprehension(kProduct);
  const Tensor a = iota({2, 3});
  const Tensor b = iota({3, 2});
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::int32, DType::int64, DType::uint8}) {
    CAPTURE(std::string(name(dtype)));
    const Tensor c = mm(a.to(dtype), b.to(dtype));
    CHECK(c.dtype() == dtype);
    CHECK(c.to(DType::int64).to_vector<std::int64_t>() == std::vector<std::int64_t>{10, 13, 28, 40});
  }
}

TEST_CASE("several variables, casts, declared results and numbers") {
  const Comprehension f = comprehension(
      "def f<S, T>(S(N) X, T(N) Y, S a) -> (S(N) Z, W) { Z(i) = a * X(i) + S(Y(i))  W(i) = T(X(i)) * Y(i) }");
  const Tensor x = Tensor::of<double>({1, 2});
  const Tensor y = Tensor::of<std::int32_t>({3, 4});
  const ComprehensionResults results = f(x, y, 2);
  CHECK(results["Z"].to_vector<double>() == std::vector<double>{5, 8});
  CHECK(results["W"].to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 8});
  CHECK(f(y, y, scalar(2, DType::int32))["Z"].dtype() == DType::int32);
  const Comprehension numbers = comprehension("def g<T>(T a) -> (B) { B(i) = a where i in 0:2 }");
  CHECK(numbers(0.5)->to_vector<float>() == std::vector<float>{0.5, 0.5});
}

TEST_CASE("what does not fit") {
  const Comprehension mm = comprehension(kProduct);
  CHECK_THROWS_WITH_AS(
      mm(ones({2, 3}), ones({3, 2}, DType::float64)),
      doctest::Contains(
          "'B' is T, which is float32 by 'A', but its argument is float64; convert one of them with to()"),
      ComprehensionError);
  CHECK_THROWS_WITH_AS(mm(ones({2, 3}, DType::bfloat16), ones({3, 2}, DType::bfloat16)),
                       doctest::Contains("'A' is bfloat16, which the notation lacks"), ComprehensionError);
  CHECK(kind_of([] { comprehension("def f<float>(float(N) A) -> (B) { B(i) = A(i) }"); }) == "parse_error");
  CHECK(kind_of([] { comprehension("def f<T(T(N) A) -> (B) { B(i) = A(i) }"); }) == "parse_error");
  CHECK(kind_of([] { comprehension("def f<T>(T(N) A) -> (B) { B(T) = A(T) }"); }) == "parse_error");
  // A variable is valid only in its definition.
  CHECK(kind_of([] {
          comprehension("def f<T>(T(N) A) -> (B) { B(i) = A(i) } def g(T(N) A) -> (B) { B(i) = A(i) }");
        }) == "parse_error");
}

TEST_CASE("one result is an operand, several are not") {
  const Comprehension mm = comprehension(kProduct);
  const Tensor a = ones({2, 2});
  CHECK(sum(mm(a, a) + 1).item<float>() == 12);
  CHECK((mm(a, a) * mm(a, a)).to_vector<float>() == std::vector<float>{4, 4, 4, 4});
  CHECK(mm(mm(a, a), a)->to_vector<float>() == std::vector<float>{4, 4, 4, 4});
  Tensor c;
  c = mm(a, a);
  CHECK(c.shape() == (*mm(a, a)).shape());
  CHECK(explain(mm(a, a)).kernels.size() == 1);
  const Comprehension two = comprehension("def f(float(N) A) -> (B, C) { B(i) = A(i)  C(i) = 2 * A(i) }");
  CHECK_THROWS_WITH_AS(two(ones({3})) + 1, "comprehension: there are 2 results; name one of B, C, as in results[\"B\"]",
                       ArgumentError);
}

}  // namespace oriel::generic_test
