// What definitions compute, and which kernels they become.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::values_test {
namespace {

using Floats = std::vector<float>;

Tensor numbers(const Shape& shape) {
  return (arange(numel(shape).value()) % 13).to(DType::float32).reshape(shape).realize();
}

Tensor run(const std::string& text, const std::vector<Tensor>& tensors, const ComprehensionOptions& options = {}) {
  const std::vector<Operand> arguments(tensors.begin(), tensors.end());
  return comprehension(text).call(arguments, options);
}

// The loop programs of a pending tensor, without the kernels' names.
std::string programs(const Tensor& x) {
  std::string out;
  for (const ExplainedKernel& kernel : explain(x).kernels) out += kernel.program.substr(kernel.program.find('\n'));
  return out;
}

Floats of(const std::string& right, const std::string& type = "float") {
  const Tensor x =
      Tensor::of<float>({-2.5F, -1, -0.25F, 0, 0.5F, 1, 2.5F}).to(dtype_from_name(type == "float" ? "float32" : type));
  return run("def f(" + type + "(N) X) -> (Y) { Y(i) = " + right + " }", {x}).to(DType::float32).to_vector<float>();
}

void near(const Floats& got, float (*f)(float), float from = -100) {
  const Floats x{-2.5F, -1, -0.25F, 0, 0.5F, 1, 2.5F};
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (x[k] < from) continue;
    CHECK(got[k] == doctest::Approx(f(x[k])).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("a contraction from text is the loop program of the API") {
  const Tensor a = numbers({64, 48});
  const Tensor b = numbers({48, 80});
  CHECK(programs(run("def f(float(M,K) A, float(K,N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }", {a, b})) ==
        programs(matmul(a, b)));
  const Tensor c = numbers({5, 64, 48});
  const Tensor d = numbers({5, 48, 80});
  CHECK(programs(run("def f(float(B,M,K) A, float(B,K,N) W) -> (C) { C(b, m, n) +=! A(b, m, k) * W(b, k, n) }",
                     {c, d})) == programs(matmul(c, d)));
  // tensordot over two axes becomes a product of matrices.
  const Tensor e = numbers({64, 6, 8});
  const Tensor f = numbers({6, 8, 80});
  CHECK(programs(run("def f(float(N,P,Q) X, float(P,Q,M) Y) -> (Z) { Z(n, m) +=! X(n, p, q) * Y(p, q, m) }", {e, f})) ==
        programs(matmul(e.reshape({64, 48}), f.reshape({48, 80}))));
  // A convolution: windows of the image times the filters.
  const Tensor image = numbers({2, 4, 12, 13});
  const Tensor filter = numbers({5, 4, 3, 2});
  const Tensor windows = unfold(unfold(image, 2, 3, 1), 3, 2, 1).permute({0, 2, 3, 1, 4, 5});  // n h w c p q
  const Tensor api = sum(windows.unsqueeze(1) * filter.reshape({1, 5, 1, 1, 4, 3, 2}), {4, 5, 6});
  CHECK(programs(run("def f(float(N,C,H,W) X, float(M,C,KH,KW) F) -> (Y) {"
                     " Y(n, m, h, w) +=! X(n, c, h + p, w + q) * F(m, c, p, q) }",
                     {image, filter})) == programs(api));
  const Tensor g = numbers({16, 6, 8});
  const Tensor h = numbers({6, 10});
  const Tensor i = numbers({8, 10});
  CHECK(programs(run("def f(float(I,J,K) A, float(J,R) B, float(K,R) C) -> (D) {"
                     " D(i, r) +=! A(i, j, k) * B(j, r) * C(k, r) }",
                     {g, h, i})) == programs(sum(g.reshape({16, 1, 6, 8}) * h.transpose().reshape({1, 10, 6, 1}) *
                                                     i.transpose().reshape({1, 10, 1, 8}),
                                                 {2, 3})));
}

TEST_CASE("softmax with temporaries is one kernel") {
  const Tensor x = numbers({32, 100});
  const Tensor y =
      run("def f(float(N,M) X) -> (Y) { t(n) max=! X(n, m) e(n, m) = exp(X(n, m) - t(n))"
          " s(n) +=! e(n, m) Y(n, m) = e(n, m) / s(n) }",
          {x});
  CHECK(explain(y).kernels.size() == 1);
}

TEST_CASE("operators follow the notation's rules") {
  CHECK(of("-X(i) / 2") == Floats{1.25F, 0.5F, 0.125F, 0, -0.25F, -0.5F, -1.25F});
  CHECK(of("int32(X(i)) / 2") == Floats{-1, -1, 0, 0, 0, 0, 1});  // rounds down
}

TEST_CASE("an index as a value needs a range of its own; sizes are values") {
  const Tensor x = numbers({4});
  CHECK(run("def f(float(N) X) -> (Y) { Y(i) = X(i) * 0 + (i - 3) % 3 + N }", {x}).to_vector<float>() ==
        Floats{4, 5, 6, 4});
  CHECK(run("def f(float(N) X) -> (Y) { Y(i) = i < 2 && !(i == 0) ? 1 : 0 where exists X(i) }", {x})
            .to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 1, 0, 0});
}

TEST_CASE("literals take the dtype that they meet; results the widest") {
  const Tensor x = Tensor::of<double>({1, 2});
  CHECK(run("def f(double(N) X) -> (Y) { Y(i) = 0.1 * X(i) }", {x}).to_vector<double>() ==
        std::vector<double>{0.1, 0.2});
  const auto dtype = [](const std::string& right, DType of) {
    return run("def f(" + std::string(of == DType::float32 ? "float" : name(of)) + "(N) X) -> (Y) { Y(i) = " + right +
                   " }",
               {zeros({2}, of)})
        .dtype();
  };
  CHECK(dtype("X(i) + 1", DType::uint8) == DType::int32);
  CHECK(dtype("X(i) + 1.0", DType::int64) == DType::float32);
  CHECK(dtype("X(i) * X(i)", DType::int8) == DType::int8);
  CHECK(dtype("X(i) < 1", DType::float32) == DType::bool_);
  CHECK(dtype("sqrt(X(i))", DType::int32) == DType::float32);
  CHECK(run("def f(uint8(N) X) -> (float(N) Y) { Y(i) = X(i) }", {zeros({2}, DType::uint8)}).dtype() == DType::float32);
}

TEST_CASE("updates read what was there, and ! begins anew") {
  const Tensor x = numbers({3, 4});
  const Tensor b = Tensor::of<float>({1, 2, 100});
  CHECK(run("def f(float(N,M) X, float(N) b) -> (Y) { Y(i) = b(i) Y(i) += X(i, j) }", {x, b}).to_vector<float>() ==
        Floats{7, 24, 138});
  CHECK(run("def f(float(N,M) X, float(N) b) -> (Y) { Y(i) = b(i) Y(i) max= X(i, j) }", {x, b}).to_vector<float>() ==
        Floats{3, 7, 100});
  CHECK(run("def f(float(N,M) X, float(N) b) -> (Y) { Y(i) = b(i) Y(i) min=! X(i, j) }", {x, b}).to_vector<float>() ==
        Floats{0, 4, 8});
}

TEST_CASE("a result keeps its own coordinates inside the definition") {
  const Tensor x = Tensor::of<float>({1, 2, 3, 4, 5});
  CHECK(run("def f(float(N) X) -> (Z) { Y(i) = X(i - 2) Z(k) = Y(k + 1) * 10 + k where k in 1:6 }", {x})
            .to_vector<float>() == Floats{11, 22, 33, 44, 55});
}

TEST_CASE("quotients, remainders and conditionals in indices") {
  const Tensor x = Tensor::of<float>({0, 1, 2, 3, 4, 5, 6});
  const auto read = [&](const std::string& index, const std::string& range) {
    return run("def f(float(N) X) -> (Y) { Y(i) = X(" + index + ") where i in " + range + " }", {x}).to_vector<float>();
  };
  CHECK(read("(i + 4) / 3", "-4:6") == Floats{0, 0, 0, 1, 1, 1, 2, 2, 2, 3});
  CHECK(read("(2*i - 5) % 7", "0:5") == Floats{2, 4, 6, 1, 3});
  CHECK(read("i / 2 + 2*(i % 2) + 1", "0:6") == Floats{1, 3, 2, 4, 3, 5});
  CHECK(read("(i % 6) / 2", "0:9") == Floats{0, 0, 1, 1, 2, 2, 0, 0, 1});
  CHECK(read("i < 3 ? 6 - i : max(i - 3, 1)", "0:6") == Floats{6, 5, 4, 1, 1, 2});
  CHECK(read("i * i", "-2:3") == Floats{4, 1, 0, 1, 4});
}

TEST_CASE("conditionals keep accesses in bounds") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  CHECK(run("def f(float(N) X) -> (Y) { Y(i) = i >= 1 && i <= N ? X(i - 1) : -1 where i in 0:5 }", {x})
            .to_vector<float>() == Floats{-1, 1, 2, 3, -1});
  CHECK(
      run("def f(float(N) X) -> (Y) { Y(i, j) = i - j >= 0 && i - j < N ? X(i - j) : 0 where i in 0:3, j in 0:2 }", {x})
          .to_vector<float>() == Floats{1, 0, 2, 1, 3, 2});
}

TEST_CASE("gathers, unchecked and checked") {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}});
  const char* text = "def f(float(V,D) T, int32(L) I) -> (Y) { Y(l, d) = T(I(l), d) }";
  CHECK(run(text, {x, Tensor::of<std::int32_t>({2, 0})}).to_vector<float>() == Floats{5, 6, 1, 2});
  const Tensor bad = Tensor::of<std::int32_t>({2, -7});
  CHECK(run(text, {x, bad}, {.bounds = Bounds::zero}).to_vector<float>() == Floats{5, 6, 0, 0});
  const Tensor y = run(text, {x, bad});  // pending, as all results
  for (int twice = 0; twice < 2; ++twice)
    CHECK_THROWS_WITH_AS((void)y.to_vector<float>(),
                         doctest::Contains("f: T(I(l), d): index -7 is out of range for axis 0 of size 3; valid are 0 "
                                           "to 2"),
                         IndexError);
  const Tensor none = zeros({0, 2});
  CHECK_THROWS_WITH_AS((void)run(text, {none, bad}).to_vector<float>(),
                       doctest::Contains("is out of range for axis 0 of size 0; it has none"), IndexError);
  CHECK(run(text, {none, zeros({0}, DType::int32)}).shape() == Shape{0, 2});
  // Positions of a temporary whose first one is not 0.
  const char* shifted = "def f(float(N) X, int32(L) I) -> (Y) { T(i) = X(i - 2) where i in 2:5  Y(l) = T(I(l)) }";
  const Tensor row = Tensor::of<float>({1, 2, 3});
  CHECK(run(shifted, {row, Tensor::of<std::int32_t>({4, 2})}).to_vector<float>() == Floats{3, 1});
  CHECK_THROWS_WITH_AS((void)run(shifted, {row, Tensor::of<std::int32_t>({4, 1})}).to_vector<float>(),
                       doctest::Contains("T(I(l)): index 1 is out of range for axis 0 of size 3; valid are 2 to 4"),
                       IndexError);
  // The branch that a conditional does not take is not read.
  CHECK(run("def f(float(N) X, int32(L) I) -> (Y) { Y(l) = I(l) >= 0 ? X(I(l)) : -1 }",
            {Tensor::of<float>({1, 2, 3}), bad})
            .to_vector<float>() == Floats{3, -1});
}

TEST_CASE("empty domains give empty results, and reductions over them the identity") {
  CHECK(
      run("def f(float(M,K) A, float(K,N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }", {zeros({2, 0}), zeros({0, 2})})
          .to_vector<float>() == Floats{0, 0, 0, 0});
  CHECK(run("def f() -> (Y) { Y(i, j) = 3 where i in 4:4, j in 3:20 }", {}).shape() == Shape{0, 17});
}

TEST_CASE("an exists clause gives a range, and counts as many times as it has values") {
  CHECK(run("def f(float(N) A, float(M) B) -> (Y) { Y(i) +=! A(i) where exists B(k) }",
            {Tensor::of<float>({1, 2}), zeros({5})})
            .to_vector<float>() == Floats{5, 10});
}

TEST_CASE("builtin functions are C's") {
  near(of("exp(X(i))"), [](float x) { return std::exp(x); });
  near(of("expm1(X(i))"), [](float x) { return std::expm1(x); });
  near(
      of("log1p(X(i))"), [](float x) { return std::log1p(x); }, -0.9F);
  near(of("cbrt(X(i))"), [](float x) { return std::cbrt(x); });
  near(of("sinh(X(i))"), [](float x) { return std::sinh(x); });
  near(of("asinh(X(i))"), [](float x) { return std::asinh(x); });
  near(of("cosh(X(i))"), [](float x) { return std::cosh(x); });
  near(of("atan(X(i))"), [](float x) { return std::atan(x); });
  near(of("round(X(i))"), [](float x) { return std::round(x); });
  near(of("rint(X(i))"), [](float x) { return std::rint(x); });
  near(of("fdim(X(i), 1)"), [](float x) { return std::fdim(x, 1.0F); });
  near(of("hypot(X(i), 3)"), [](float x) { return std::hypot(x, 3.0F); });
  near(of("copysign(2, X(i))"), [](float x) { return std::copysign(2.0F, x); });
  near(of("remainder(X(i), 2)"), [](float x) { return std::remainder(x, 2.0F); });
  near(of("fma(X(i), 2, 1)"), [](float x) { return std::fma(x, 2.0F, 1.0F); });
  near(of("erfc(X(i))"), [](float x) { return std::erfc(x); });
  near(of("exp10(X(i))"), [](float x) { return std::pow(10.0F, x); });
}

TEST_CASE("builtin functions that are ops are these ops") {
  const Tensor x = numbers({8});
  const auto one = [&](const std::string& name, Tensor (*op)(const Operand&)) {
    CAPTURE(name);
    CHECK(programs(run("def f(float(N) X) -> (Y) { Y(i) = " + name + "(X(i)) }", {x})) == programs(op(x)));
  };
  one("expm1", &expm1);
  one("log1p", &log1p);
  one("log10", &log10);
  one("asin", &asin);
  one("acos", &acos);
  one("atan", &atan);
  one("sinh", &sinh);
  one("cosh", &cosh);
  one("asinh", &asinh);
  one("acosh", &acosh);
  one("atanh", &atanh);
  one("erfc", &erfc);
  const auto two = [&](const std::string& name, Tensor (*op)(const Operand&, const Operand&)) {
    CAPTURE(name);
    CHECK(programs(run("def f(float(N) X) -> (Y) { Y(i) = " + name + "(X(i), 1.5) }", {x})) == programs(op(x, 1.5F)));
  };
  two("hypot", &hypot);
  two("copysign", &copysign);
  two("nextafter", &nextafter);
}

TEST_CASE("erfc keeps its digits where erf is near 1") {
  const std::vector<double> at{-9, -3, -0.46, 0, 0.3, 0.47, 1, 3.999, 4.001, 6, 9, 26, 28, INFINITY, -INFINITY, NAN};
  const auto erfc_of = [&](const char* type, DType dtype) {
    const Tensor x = Tensor::from(at, {static_cast<std::int64_t>(at.size())}).to(dtype);
    return run("def f(" + std::string(type) + "(N) X) -> (Y) { Y(i) = erfc(X(i)) }", {x})
        .to(DType::float64)
        .to_vector<double>();
  };
  const std::vector<double> doubles = erfc_of("double", DType::float64);
  const std::vector<double> floats = erfc_of("float", DType::float32);
  for (std::size_t k = 0; k + 1 < at.size(); ++k) {
    CAPTURE(at[k]);
    const double want = std::erfc(at[k]);
    CHECK(std::abs(doubles[k] - want) <= 4e-15 * want);
    CHECK(std::abs(floats[k] - std::erfc(static_cast<double>(static_cast<float>(at[k])))) <= 2e-6 * want + 1e-38);
  }
  CHECK(std::isnan(doubles.back()));
  CHECK(std::isnan(floats.back()));
}

TEST_CASE("canonical texts forget the names of indices, comments and layout") {
  const auto canonical = [](const char* text) { return comprehension(text).canonical_text(); };
  const char* a = "def f(float(N) X) -> Y { Y(i) +=! X(i + k) where k in 0:2 }";
  CHECK(canonical(a) == canonical("def f(float(N) X) -> (Y) {\n  # shifted\n  Y(a)+=! X(a+b) where b in 0:2 }"));
  CHECK(canonical(a) != canonical("def f(float(N) X) -> (Y) { Y(i) +=! X(k + i) where k in 0:3 }"));
}

TEST_CASE("arguments of other dtypes are refused, numbers are taken") {
  const Comprehension f = comprehension("def f(float(N) X, float a) -> (Y) { Y(i) = a * X(i) }");
  CHECK(Tensor(f(Tensor::of<float>({1, 2}), 3)).to_vector<float>() == Floats{3, 6});
  try {
    f(Tensor::of<double>({1, 2}), 3);
    FAIL("taken");
  } catch (const ComprehensionError& error) {
    CHECK(error.kind() == "dtype_mismatch");
  }
}

}  // namespace oriel::values_test

TEST_CASE("a result that is one number has the strides of a tensor, pending or in memory") {
  const auto transposed = oriel::comprehension("def f(float(M, N) X) -> (Y) { Y(j, i) = X(i, j) }");
  const auto same = oriel::comprehension("def f(float(M, N) X) -> (Y) { Y(i, j) = 1.5 where i in 0:M, j in 0:N }");
  for (const oriel::Shape& shape : {oriel::Shape{2, 0}, oriel::Shape{0, 3}, oriel::Shape{2, 3}}) {
    for (const auto* f : {&transposed, &same}) {
      const oriel::Tensor y = (*f)(oriel::ones(shape) + 1);
      const oriel::Ints moved = y.transpose().flip(0).strides();
      y.realize();
      CHECK(moved == y.transpose().flip(0).strides());
    }
  }
}  // namespace oriel::values_test
