// Derivatives of linear algebra beside central differences, of batches, to second order.
#include <doctest/doctest.h>

#include <functional>

#include <cmath>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::grad_linalg_test {
namespace {

using Numbers = std::vector<double>;

Tensor random(const Shape& shape, std::uint64_t seed = 1) {
  return normal(Key(seed), shape, 0, 1, DType::float64).realize();
}
Numbers numbers(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }
Tensor unit(std::int64_t n) { return eye(n, -1, 0, DType::float64); }

/// A number in which no symmetry makes derivatives vanish.
Tensor loss(const Tensor& y) {
  const Tensor w = cos(iota({numel(y.shape())}).to(DType::float64) * 1.7 + 0.3).reshape(y.shape());
  return sum(square(y) * w + y * w);
}
template <class... T>
Tensor loss(const std::tuple<T...>& parts) {
  return std::apply([](const auto&... part) { return (loss(part) + ...); }, parts);
}

void expect(const GradientCheck& found) {
  INFO(found.str());
  CHECK(found.ok);
}
template <class F, class... Args>
void first(F f, const Args&... x) {
  expect(check_gradient(f, x...));
}
/// The derivative, and that of the gradient.
template <class F, class... Args>
void both(F f, const Args&... x) {
  expect(check_gradient(f, x...));
  const auto value = [&]<std::size_t... K>(std::index_sequence<K...>) {
    return grad<K...>([f](const Args&... y) { return loss(f(y...)); });
  }
  (std::index_sequence_for<Args...>());
  expect(check_gradient_with(
      {.step = 1e-5, .tolerance = 3e-6}, [&](const Args&... y) { return value(y...); }, x...));
}

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }
Tensor symmetric(const Tensor& x) { return (x + transposed(x)) * 0.5; }
Tensor positive(const Tensor& x) { return matmul(x, transposed(x)) + unit(x.size(-1).value()); }
Tensor apart(std::int64_t n) { return random({2, n, n}) * 0.3 + diag(iota({n}).to(DType::float64) * 1.5 + 1); }

TEST_CASE("triangles") {
  both([](Tensor x) { return cholesky(positive(x)); }, random({2, 3, 3}));
  both([](Tensor x) { return cholesky(symmetric(x) + unit(5) * 6, true); }, random({5, 5}));
  for (const Shape& shape : {Shape{2, 3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    CAPTURE(shape[1].value());
    both(
        [](Tensor x) {
          const Lu f = lu(x);
          return std::tuple(f.l, f.u);
        },
        random(shape));
    both(
        [](Tensor x) {
          const Qr f = qr(x);
          return std::tuple(f.q, f.r);
        },
        random(shape));
  }
  both([](Tensor x) { return qr(x, true).q; }, random({3, 3}));
}

TEST_CASE("solutions") {
  both([](Tensor x, Tensor b) { return solve(x, b); }, apart(3), random({2, 3, 2}, 2));
  both([](Tensor x, Tensor b) { return solve(x, b); }, apart(3), random({3}, 2));
  both([](Tensor x) { return inverse(x); }, apart(3));
  for (const bool upper : {false, true})
    for (const bool ones : {false, true})
      both([=](Tensor x, Tensor b) { return triangular_solve(x, b, upper, ones); }, apart(3), random({2, 3, 2}, 2));
  both([](Tensor x) { return matrix_power(x, 3); }, apart(2) * 0.5);
  both([](Tensor x) { return matrix_power(x, -2); }, apart(2));
}

TEST_CASE("determinants") {
  both([](Tensor x) { return det(x); }, random({2, 3, 3}));
  both([](Tensor x) { return det(x); }, random({2, 1, 1}));
  both([](Tensor x) { return slogdet(x).logabsdet; }, random({2, 3, 3}));
  CHECK(grad([](Tensor x) { return det(x); })(zeros({0, 0}, DType::float64)).shape() == Shape{0, 0});
  // Of matrices of rank 2, 1 and 0.
  const Tensor one = Tensor::of<double>({{1, 2, 3}, {2, 4, 6}, {3, 6, 9}});
  first([](Tensor x) { return det(x); }, stack({Tensor::of<double>({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}), one, one * 0}));
  CHECK(numbers(grad([](Tensor x) { return det(x); })(Tensor::of<double>({{1, 2}, {2, 4}}))) == Numbers{4, -2, -2, 1});
  const Tensor far = grad([](Tensor x) { return slogdet(x).logabsdet; })(Tensor::of<double>({{1, 2}, {2, 4}}));
  CHECK_THROWS_AS((void)far.to_vector<double>(), ArgumentError);
}

TEST_CASE("third derivatives") {
  const auto third = [](auto f) {
    return check_gradient_with(
        {.step = 1e-5, .tolerance = 1e-5},
        [f](Tensor x) {
          return grad([f](Tensor y) { return loss(grad([f](Tensor z) { return loss(f(z)); })(y)); })(x);
        },
        diag(Tensor::of<double>({1.5, 2})) + random({2, 2}) * 0.2);
  };
  expect(third([](Tensor x) { return det(x); }));
  expect(third([](Tensor x) { return inverse(x); }));
  expect(third([](Tensor x) { return cholesky(positive(x)); }));
  expect(third([](Tensor x) { return svdvals(x); }));
  expect(third([](Tensor x) { return qr(x).r; }));
}

/// What singular vectors say whatever their signs are.
auto singular(const Svd& f) {
  return std::tuple(square(f.u), f.s, square(f.vh), matmul(f.u * sin(f.s).unsqueeze(-2), f.vh));
}

TEST_CASE("singular values") {
  for (const Shape& shape : {Shape{2, 3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    CAPTURE(shape[1].value());
    both([](Tensor x) { return singular(svd(x)); }, random(shape));
    both([](Tensor x) { return svd(x).s; }, random(shape));
    both([](Tensor x) { return svdvals(x); }, random(shape));
    first([](Tensor x) { return square(svd(x).u); }, random(shape));
    first([](Tensor x) { return square(svd(x).vh); }, random(shape));
    first(
        [](Tensor x) {
          const Svd f = svd(x, true);
          const SymInt k = f.s.size(-1);
          return std::tuple(square(f.u.shrink({{0, k}}, -1)), f.s, square(f.vh.shrink({{0, k}}, -2)));
        },
        random(shape));
    for (const MatrixNorm norm : {MatrixNorm::nuclear, MatrixNorm::two, MatrixNorm::minus_two, MatrixNorm::frobenius})
      first([norm](Tensor x) { return matrix_norm(x, norm); }, random(shape));
  }
  first([](Tensor x) { return cond(x); }, apart(3));
  first([](Tensor x) { return cond(x, MatrixNorm::frobenius); }, apart(3));
}

TEST_CASE("eigenvalues") {
  both(
      [](Tensor x) {
        const Eigh e = eigh(symmetric(x));
        return std::tuple(e.values, square(e.vectors));
      },
      random({2, 3, 3}));
  both([](Tensor x) { return eigvalsh(symmetric(x)); }, random({2, 3, 3}));
  both([](Tensor x) { return eigh(symmetric(x)).values; }, random({2, 3, 3}));
  // Real ones, and pairs of complex ones.
  const auto general = [](Tensor x) {
    const Eig e = eig(x);
    return std::tuple(e.values_real, square(e.values_imag), square(e.vectors_real) + square(e.vectors_imag));
  };
  both(general, apart(3));
  both(general, Tensor::of<double>({{1, 2, 0.5}, {-3, 1, 0.2}, {0.3, 0.7, 3}}));
  both([](Tensor x) { return std::tuple(eig(x).values_real, eig(x).values_imag); },
       stack({Tensor::of<double>({{1, 2}, {-3, 1}}), Tensor::of<double>({{1, 2}, {3, 4}})}));
}

TEST_CASE("inverses in the sense of least squares") {
  for (const Shape& shape : {Shape{2, 3, 3}, Shape{2, 4, 2}, Shape{2, 2, 4}}) {
    CAPTURE(shape[1].value());
    both([](Tensor x) { return pinv(x); }, random(shape));
    both([](Tensor x, Tensor b) { return lstsq(x, b); }, random(shape), random({2, shape[1], 2}, 2));
  }
  both([](Tensor x, Tensor b) { return lstsq(x, b); }, random({3, 2}), random({3}, 2));
  // Where the rank stays 2.
  both([](Tensor a, Tensor b) { return pinv(matmul(a, b), 1e-9); }, random({4, 2}), random({2, 3}, 2));
  both([](Tensor a, Tensor b, Tensor c) { return lstsq(matmul(a, b), c); }, random({4, 2}), random({2, 3}, 2),
       random({4}, 3));
  first([](Tensor x) { return pinv(x); }, unit(3));
}

TEST_CASE("equal values") {
  const Tensor one = unit(3);
  CHECK(numbers(grad([](Tensor x) { return sum(svdvals(x)); })(one)) == numbers(one));
  CHECK(numbers(grad([](Tensor x) { return sum(svd(x).s); })(one)) == numbers(one));
  CHECK(numbers(grad([](Tensor x) { return sum(eigh(x).values); })(one)) == numbers(one));
  CHECK(numbers(grad([](Tensor x) { return sum(eig(x).values_real); })(one)) == numbers(one));
  const auto finite = [](const Tensor& x) { return all(isfinite(x)).item<bool>(); };
  CHECK(!finite(grad([](Tensor x) { return loss(svd(x).u); })(one)));
  CHECK(!finite(grad([](Tensor x) { return loss(eigh(x).vectors); })(one)));
}

TEST_CASE("float32, forward derivatives, many at once, captured functions") {
  const auto f = [](Tensor x) {
    const Svd s = svd(x);
    const Tensor l = cholesky(positive(x.to(DType::float64)).to(x.dtype()));
    return loss((solve(l, s.u) + matmul(s.vh, inverse(x))).to(DType::float64)) + det(x).to(DType::float64) * 0;
  };
  const Tensor x = apart(3)[0];
  const Numbers exact = numbers(grad(f)(x)), rounded = numbers(grad(f)(x.to(DType::float32)));
  for (std::size_t k = 0; k < exact.size(); ++k) CHECK(rounded[k] == doctest::Approx(exact[k]).epsilon(1e-3));
  // A product with the reverse derivative is that with the forward one.
  const Tensor t = random({3, 3}, 5), c = random({3, 3}, 6);
  for (const auto& g : std::vector<std::function<Tensor(Tensor)>>{
           [](Tensor y) { return inverse(y); }, [](Tensor y) { return svd(y).u; }, [](Tensor y) { return svd(y).vh; },
           [](Tensor y) { return qr(y).q; }, [](Tensor y) { return eigh(y).vectors; }, [](Tensor y) { return pinv(y); },
           [](Tensor y) { return lu(y).l; }}) {
    const auto at = vjp(g, x);
    CHECK(sum(at.push(t) * c).item<double>() == doctest::Approx(sum(at.pull(c) * t).item<double>()));
  }
  const Tensor many = apart(3);
  const auto one = [](Tensor y) {
    return grad([](Tensor z) { return loss(solve(z, ones({3}, DType::float64))) + loss(qr(z).r) + det(z); })(y);
  };
  const Numbers mapped = numbers(vmap(one)(many)), apart_1 = numbers(one(many[1]));
  for (std::size_t k = 0; k < apart_1.size(); ++k) CHECK(mapped[9 + k] == doctest::Approx(apart_1[k]));
  const auto captured = function(one);
  const Numbers again = numbers(captured(many[1]));
  for (std::size_t k = 0; k < apart_1.size(); ++k) CHECK(again[k] == doctest::Approx(apart_1[k]));
}

void expect_numbers(const Tensor& found, const Numbers& want) {
  const Numbers all = numbers(found);
  REQUIRE(all.size() == want.size());
  for (std::size_t k = 0; k < want.size(); ++k) CHECK(all[k] == doctest::Approx(want[k]).epsilon(1e-3));
}

TEST_CASE("derivatives by symmetric matrices are symmetric, as PyTorch's are") {
  const Tensor x = Tensor::of<double>({{4, 2, 1}, {2, 3, 0.5}, {1, 0.5, 2}});
  const Tensor w = Tensor::of<double>({{1, 0, 0}, {2, 3, 0}, {-1, 0.5, 2}});
  const Numbers by_cholesky{0.4191, -0.0745, -0.5274, -0.0745, 1.0607, 0.1768, -0.5274, 0.1768, 0.7559};
  expect_numbers(grad([&](Tensor a) { return sum(cholesky(a) * w); })(x), by_cholesky);
  const Numbers by_eigh{0.7018, 1.4226, 0.6604, 1.4226, -0.1757, 0.0952, 0.6604, 0.0952, 0.9739};
  const auto f = [&](Tensor a) {
    const Eigh e = eigh(a);
    return sum(square(e.vectors) * w) + sum(e.values * w[2]);
  };
  expect_numbers(grad(f)(x), by_eigh);
}

TEST_CASE("captured functions of symbolic sizes ask no more than what they are derivatives of") {
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  static const auto value = [](Tensor y) {
    const Tensor p = matmul(y, transposed(y)) + eye(y.size(-2), -1, 0, y.dtype());
    const Lu parts = lu(y);
    return loss(solve(p, y)) + loss(cholesky(p)) + loss(square(svd(y).u)) + loss(pinv(y)) + loss(parts.l) +
           loss(parts.u) + loss(qr(y).r) + slogdet(p).logabsdet + loss(lstsq(y, y)) + loss(eigvalsh(p)) +
           loss(eig(p).values_real);
  };
  const auto gradient = [](Tensor y) { return grad(value)(y); };
  const auto captured = function(gradient, options);
  const auto plain = function(value, options);
  for (const auto& [rows, columns] : {std::pair{3, 2}, {4, 2}, {5, 3}, {6, 5}, {7, 4}, {3, 5}, {4, 7}, {3, 3}}) {
    CAPTURE(rows);
    const Tensor x = (random({rows, columns}) + eye(rows, columns, 0, DType::float64) * 4).realize();
    expect_numbers(captured(x), numbers(gradient(x)));
    (void)plain(x).item<double>();
  }
  CHECK(captured.counts().traces == plain.counts().traces);
}

TEST_CASE("matrices without elements") {
  for (const Shape& shape : {Shape{0, 0}, Shape{2, 0, 0}, Shape{0, 3, 3}}) {
    const Tensor x = zeros(shape, DType::float64);
    const auto f = [](Tensor y) {
      return sum(cholesky(y)) + sum(inverse(y)) + sum(solve(y, y)) + sum(det(y)) + sum(slogdet(y).logabsdet) +
             sum(lu(y).u) + sum(qr(y).q) + sum(svd(y).u) + sum(svdvals(y)) + sum(eigh(y).vectors) + sum(eigvalsh(y)) +
             sum(eig(y).vectors_real) + sum(pinv(y)) + sum(lstsq(y, y));
    };
    CHECK(grad(f)(x).realize().shape() == shape);
  }
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}}) {
    const auto f = [](Tensor y) {
      const Svd full = svd(y, true);
      return sum(lu(y).l) + sum(qr(y).r) + sum(svd(y).vh) + sum(full.u) + sum(pinv(y)) + sum(lstsq(y, y));
    };
    CHECK(grad(f)(zeros(shape, DType::float64)).realize().shape() == shape);
  }
}

TEST_CASE("what has no derivative") {
  CHECK_THROWS_WITH_AS(
      (void)grad([](Tensor x) { return loss(qr(x, true).q); })(random({3, 2})),
      "grad: qr: the columns of a complete q beyond those of x have no derivative, as any basis will do; "
      "call qr without complete",
      ArgumentError);
  CHECK_THROWS_AS((void)grad([](Tensor x) { return matrix_rank(x); })(random({3, 2})), DTypeError);
}

}  // namespace
}  // namespace oriel::testing::grad_linalg_test
