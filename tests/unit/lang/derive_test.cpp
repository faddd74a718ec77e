// The derivative of a definition as a definition: its text, and its values beside those of oriel::grad, which are
// compared with central differences.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "lang/derive.hpp"
#include "oriel/oriel.hpp"

namespace oriel::derive_test {
namespace {

std::string derivative_of(const std::string& text, const std::vector<std::string>& by = {}) {
  return lang::derivative(*lang::check(text).back(), by);
}

// Values without ties, about as large as 1.
Tensor doubles(const Shape& shape, double from) {
  const Tensor k = arange(numel(shape).value()).to(DType::float64) + from;
  return (sin(k * 1.7) + 1.3).reshape(shape).realize();
}

Tensor positions(const Shape& shape, std::int64_t below) {
  return (arange(numel(shape).value()) * 5 % below).to(DType::int32).reshape(shape).realize();
}

/// Runs the derivative of a text of doubles, whose parameters have these shapes: tables of positions below the number,
/// if it is not 0.
void check_derivative(const std::string& text, const std::vector<std::pair<Shape, std::int64_t>>& parameters) {
  CAPTURE(text);
  const Comprehension f = comprehension(text);
  const std::string derived = derivative_of(text);
  CAPTURE(derived);
  std::vector<Tensor> all, floats;
  for (const auto& [shape, below] : parameters) {
    all.push_back(below > 0 ? positions(shape, below) : doubles(shape, static_cast<double>(all.size())));
    if (below == 0) floats.push_back(all.back());
  }
  const auto arguments = [&](const std::vector<Tensor>& given) {
    std::vector<Operand> out;
    std::size_t next = 0;
    for (std::size_t k = 0; k < all.size(); ++k) out.emplace_back(parameters[k].second > 0 ? all[k] : given[next++]);
    return out;
  };
  std::vector<Tensor> counts;
  const ComprehensionResults results = f.call(arguments(floats));
  for (const std::string& name : f.results())
    counts.push_back(doubles(results[name].shape(), 7 + static_cast<double>(counts.size())));
  const auto total = [&](const std::vector<Tensor>& given) {
    const ComprehensionResults at = f.call(arguments(given));
    Tensor out = zeros({}, DType::float64);
    for (std::size_t k = 0; k < counts.size(); ++k) out = out + sum(at[f.results()[k]] * counts[k]);
    return out;
  };
  CHECK(check_gradient(total, floats).ok);
  const std::vector<Tensor> wanted = grad(total)(floats);
  std::vector<Operand> more = arguments(floats);
  for (const Tensor& count : counts) more.emplace_back(count);
  const Comprehension g = comprehension(derived);
  const ComprehensionResults got = g.call(more);
  REQUIRE(g.results().size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CAPTURE(k);
    REQUIRE(got[g.results()[k]].shape() == wanted[k].shape());
    CHECK(max(abs(got[g.results()[k]] - wanted[k]) / (abs(wanted[k]) + 1)).to_vector<double>()[0] < 1e-12);
  }
  CHECK(derivative_of(derived).find("_grad_grad") != std::string::npos);  // which has one itself
}

}  // namespace

TEST_CASE("a product's derivative has the form of products, and no range that inference finds") {
  CHECK(derivative_of("def mm(float(M, K) A, float(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }") ==
        "def mm_grad(float(M, K) A, float(K, N) B, float(M, N) d_C) -> (float(M, K) d_A, float(K, N) d_B) {\n"
        "  d_A(i, k) +=! d_C(i, j) * B(k, j)\n"
        "  d_B(k, j) +=! d_C(i, j) * A(i, k)\n"
        "}\n");
}

TEST_CASE("the derivative by some parameters, and of a generic definition") {
  CHECK(derivative_of("def f<T>(T(N) X, T(N) Y, T a) -> (Z) { Z(i) = a * X(i) + Y(i) }", {"X", "a"}) ==
        "def f_grad<T>(T(N) X, T(N) Y, T a, T(N) d_Z) -> (T(N) d_X, T d_a) {\n"
        "  d_a +=! d_Z(i) * X(i)\n"
        "  d_X(i) +=! d_Z(i) * a\n"
        "}\n");
  CHECK_THROWS_AS(derivative_of("def f(float(N) X) -> (Y) { Y(i) = X(i) }", {"Z"}), ArgumentError);
  CHECK_THROWS_AS(derivative_of("def f(float(N) X, int32(N) I) -> (Y) { Y(i) = X(i) * I(i) }", {"I"}), ArgumentError);
  CHECK_THROWS_AS(derivative_of("def f(int32(N) X) -> (Y) { Y(i) = X(i) }"), ArgumentError);
}

TEST_CASE("positions that are read become positions that are written, and the other way round") {
  CHECK(derivative_of("def embedding(float(V, D) T, int32(B, L) I) -> (Y) { Y(b, l, d) = T(I(b, l), d) }") ==
        "def embedding_grad(float(V, D) T, int32(B, L) I, float(B, L, D) d_Y) -> (float(V, D) d_T) {\n"
        "  d_T(I(b, l), d) +=! d_Y(b, l, d)\n"
        "}\n");
  CHECK(derivative_of("def add(int32(K) I, float(K) X, float(N) like) -> (float(N) F) { F(I(i)) +=! X(i) }", {"X"}) ==
        "def add_grad(int32(K) I, float(K) X, float(N) like, float(N) d_F) -> (float(K) d_X) {\n"
        "  d_X(i) +=! d_F(I(i))\n"
        "}\n");
}

TEST_CASE("values of derivatives: products, convolutions, layers, softmax, gathers") {
  check_derivative("def f(double(M, K) A, double(K, N) B) -> (C) { C(i, j) +=! A(i, k) * B(k, j) }",
                   {{{3, 4}, 0}, {{4, 2}, 0}});
  check_derivative(
      "def f(double(N, C, L) X, double(M, C, K) F) -> (Y) { Y(n, m, i) +=! X(n, c, 2*i + 3*k) * F(m, c, k) }",
      {{{2, 2, 11}, 0}, {{3, 2, 3}, 0}});
  check_derivative(
      "def f(double(B, I) X, double(I, O) W, double(O) bias) -> (Y) {\n"
      "  h(b, o) +=! X(b, i) * W(i, o)\n  a(b, o) = tanh(h(b, o) + bias(o))\n  Y(b) +=! a(b, o) * a(b, o) }",
      {{{3, 4}, 0}, {{4, 2}, 0}, {{2}, 0}});
  check_derivative(
      "def f(double(N, M) X) -> (Y) {\n  top(n) max=! X(n, m)\n  e(n, m) = exp(X(n, m) - top(n))\n"
      "  total(n) +=! e(n, m)\n  Y(n, m) = e(n, m) / total(n) }",
      {{{3, 5}, 0}});
  check_derivative("def f(double(V, D) T, int32(B, L) I) -> (Y) { Y(b, l, d) = T(I(b, l), d) * T(I(b, l), d) }",
                   {{{4, 2}, 0}, {{2, 3}, 4}});
  check_derivative(
      "def f(double(N) X, double(K) F) -> (Y) {\n"
      "  Y(i) +=! (i + k - 1 >= 0 && i + k - 1 < N ? X(i + k - 1) : 0.0) * F(k) where i in 0:N, k in 0:K }",
      {{{6}, 0}, {{3}, 0}});
}

TEST_CASE("values of derivatives: ranges that begin elsewhere, several statements and results, reductions") {
  check_derivative("def f(double(N) X) -> (Y) { Y(i) = X(i) * X(i - 2) }", {{{7}, 0}});
  check_derivative("def f(double(N) X) -> (Y) { Y(i) = X(i) + X(i + 1) where i in 1:N - 1 }", {{{7}, 0}});
  check_derivative("def f(double(N, N) X) -> (s) { s +=! X(i, i) }", {{{3, 3}, 0}});
  check_derivative("def f(double(N) X, double(K) W) -> (Y) { Y(i) +=! X(i) where exists W(k) }", {{{3}, 0}, {{4}, 0}});
  check_derivative("def f(double(N, M) X) -> (Y) { Y(i) *=! X(i, j) }", {{{3, 4}, 0}});
  check_derivative("def f(double(N, M) X) -> (Y, Z) { Y(i) min=! X(i, j)  Z(i, j) = X(i, j) - Y(i) }", {{{3, 4}, 0}});
  check_derivative("def f(double(N) b, double(N, M) X) -> (Y) { Y(i) = b(i)  Y(i) += X(i, j)  Y(i) *= X(i, 0) }",
                   {{{3}, 0}, {{3, 2}, 0}});
  check_derivative(
      "def f(int32(K) I, double(K) X) -> (double(3) F) { F(I(i)) max=! X(i)  F(I(i)) += 2*X(i)\n"
      "  G(n) = F(n) < 100.0 ? F(n) : 0.0 }",
      {{{6}, 3}, {{6}, 0}});
  check_derivative(
      "def f(double(N) X, double a) -> (Y) { Y(i) = fmax(t, a - 0.7) * pow(t, 2.5) / (1 - rsqrt(a)) where t = X(i) }",
      {{{5}, 0}, {{}, 0}});
  check_derivative("def f(double(N) X) -> (Y) { Y(i) = X(i / 2) * log(X(i % 3)) where i in 0:2*N }", {{{4}, 0}});
}

TEST_CASE("what has no derivative in the notation is named") {
  const auto kind = [](const std::string& text) {
    try {
      derivative_of(text);
    } catch (const ComprehensionError& error) {
      return error.kind();
    }
    return std::string("none");
  };
  CHECK(kind("def f(float(N) X) -> (Y) { Y(i) = nextafter(X(i), 1.0) }") == "not_differentiable");
  CHECK(kind("def f(int32(N) I, float(N) X) -> (float(4) Y) { Y(I(i)) = X(i) }") == "not_differentiable");
  CHECK(kind("def f(float(N) X) -> (Y) { Y(i) = floor(X(i)) }") == "none");
}

}  // namespace oriel::derive_test
