// Linear algebra beside NumPy's recorded answers (tests/data/numpy_linalg.py), by residuals, and what it refuses.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace linalg_test {

using namespace oriel;
using nlohmann::json;

namespace {

std::vector<double> doubles(const Tensor& x) { return x.to(DType::float64).to_vector<double>(); }

Tensor tensor(const json& t) {
  return Tensor::from(t[1].get<std::vector<double>>(), t[0].get<std::vector<std::int64_t>>());
}

/// The largest difference, in units of the largest number.
double difference(const Tensor& got, const Tensor& want) {
  REQUIRE(got.shape() == want.shape());
  const std::vector<double> a = doubles(got), b = doubles(want);
  double most = 1, apart = 0;
  for (const double v : b) most = std::max(most, std::abs(v));
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k] == b[k])) apart = std::max(apart, std::isfinite(a[k] - b[k]) ? std::abs(a[k] - b[k]) : HUGE_VAL);
  }
  return apart / most;
}

Tensor random(const Shape& shape, std::uint64_t seed, DType dtype = DType::float64) {
  return normal(Key(seed), shape, 0, 1, dtype);
}

Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }
Tensor unit(const Tensor& x) { return eye(x.size(-1), -1, 0, x.dtype()).expand(x.shape()); }

std::vector<Tensor> answers(const std::string& name, const std::vector<Tensor>& in) {
  if (name == "solve") return {solve(in[0], in[1])};
  if (name == "inverse") return {inverse(in[0])};
  if (name == "det") return {det(in[0])};
  if (name == "cholesky") return {cholesky(in[0])};
  if (name == "eigvalsh") return {eigvalsh(in[0])};
  if (name == "svdvals") return {svdvals(in[0])};
  if (name == "abs_r") return {abs(qr(in[0]).r)};
  if (name == "pinv") return {pinv(in[0])};
  if (name == "lstsq") return {lstsq(in[0], in[1])};
  if (name == "matrix_rank") return {matrix_rank(in[0])};
  if (name == "matrix_power") return {matrix_power(in[0], 3), matrix_power(in[0], -2)};
  if (name == "slogdet") {
    const SlogDet d = slogdet(in[0]);
    return {d.sign, d.logabsdet};
  }
  if (name == "eig_sums") {
    const Eig e = eig(in[0]);
    const Tensor squares = e.values_real * e.values_real - e.values_imag * e.values_imag;
    return {sum(e.values_real, -1), sum(squares, -1), sort(hypot(e.values_real, e.values_imag), -1)};
  }
  using enum MatrixNorm;
  std::vector<Tensor> out;
  if (name == "norms")
    for (const MatrixNorm n : {frobenius, nuclear, two, minus_two, one, minus_one, infinity, minus_infinity})
      out.push_back(matrix_norm(in[0], n));
  if (name == "cond")
    for (const MatrixNorm n : {two, minus_two, one, infinity, frobenius}) out.push_back(cond(in[0], n));
  return out;
}

}  // namespace

TEST_CASE("NumPy's answers") {
  std::ifstream file(ORIEL_TEST_DATA "/numpy_linalg.json");
  const json cases = json::parse(file);
  CHECK(cases.size() > 100);
  for (const json& c : cases) {
    const auto name = c[0].get<std::string>();
    CAPTURE(name);
    CAPTURE(c[1].dump());
    for (const DType dtype : {DType::float64, DType::float32}) {
      std::vector<Tensor> in;
      for (const json& t : c[1]) in.push_back(tensor(t).to(dtype).realize());
      const std::vector<Tensor> got = answers(name, in);
      REQUIRE(got.size() == c[2].size());
      for (std::size_t k = 0; k < got.size(); ++k) {
        CHECK(got[k].dtype() == (name == "matrix_rank" ? DType::int64 : dtype));
        CHECK(difference(got[k], tensor(c[2][k])) < (dtype == DType::float64 ? 1e-9 : 3e-3));
      }
    }
  }
}

TEST_CASE("factors multiply to the matrix, and are what they are called") {
  for (const auto& [m, n] : {std::pair{4, 4}, {6, 3}, {3, 6}, {1, 5}, {20, 17}}) {
    const Tensor x = random({2, m, n}, 7).realize();
    const std::int64_t k = std::min(m, n);
    for (const bool complete : {false, true}) {
      const Qr f = qr(x, complete);
      CHECK(f.q.shape() == Shape{2, m, complete ? m : k});
      CHECK(difference(product(f.q, f.r), x) < 1e-13);
      const Tensor square = product(f.q.transpose(), f.q);
      CHECK(difference(square, unit(square)) < 1e-13);
      CHECK(difference(triu(f.r), f.r) == 0);
      const Svd s = svd(x, complete);
      CHECK(s.u.shape() == Shape{2, m, complete ? m : k});
      CHECK(s.vh.shape() == Shape{2, complete ? n : k, n});
      const Tensor left = s.u.shrink({{0, k}}, -1) * s.s.unsqueeze(-2);
      CHECK(difference(product(left, s.vh.shrink({{0, k}}, -2)), x) < 1e-13);
      const Tensor rows = product(s.vh, s.vh.transpose());
      CHECK(difference(rows, unit(rows)) < 1e-13);
    }
    const Lu f = lu(x);
    CHECK(difference(product(f.p, product(f.l, f.u)), x) < 1e-13);
    CHECK(difference(tril(f.l), f.l) == 0);
    CHECK(difference(triu(f.u), f.u) == 0);
    CHECK(double(max(abs(f.l))) == 1);
    CHECK(doubles(sum(f.p, -1)) == std::vector<double>(static_cast<std::size_t>(2 * m), 1));
  }
  const Tensor a = random({3, 7, 7}, 8), spd = product(a, a.transpose()) + 7 * eye(7, -1, 0, DType::float64);
  CHECK(difference(product(cholesky(spd), cholesky(spd).transpose()), spd) < 1e-13);
  CHECK(difference(cholesky(spd, true), cholesky(spd).transpose()) < 1e-13);
  // Only the lower triangle is read.
  CHECK(difference(cholesky(tril(spd)), cholesky(spd)) == 0);
  const Eigh e = eigh(spd);
  CHECK(difference(product(e.vectors * e.values.unsqueeze(-2), e.vectors.transpose()), spd) < 1e-13);
  CHECK(difference(sort(e.values), e.values) == 0);
  CHECK(difference(eigvalsh(spd), e.values) < 1e-13);
  // x (v + i w) = (a + i b) (v + i w), in two parts.
  const Eig g = eig(a);
  const Tensor re = g.values_real.unsqueeze(-2), im = g.values_imag.unsqueeze(-2);
  CHECK(difference(product(a, g.vectors_real), g.vectors_real * re - g.vectors_imag * im) < 1e-12);
  CHECK(difference(product(a, g.vectors_imag), g.vectors_real * im + g.vectors_imag * re) < 1e-12);
}

TEST_CASE("solutions of sizes with code of their own, of others, and of many batches at once") {
  for (const int n : {1, 2, 3, 4, 5, 8, 9, 33}) {
    CAPTURE(n);
    const Tensor x = (random({500, n, n}, 9) + 3 * eye(n, -1, 0, DType::float64)).realize();
    const Tensor b = random({500, n, 3}, 10).realize();
    CHECK(difference(product(x, solve(x, b)), b) < 1e-8);
    CHECK(difference(solve(x, b.shrink({{0, 1}}, -1)), solve(x, b).shrink({{0, 1}}, -1)) < 1e-8);
    CHECK(difference(product(x, inverse(x)), unit(x)) < 1e-8);
    for (const bool upper : {false, true})
      for (const bool ones : {false, true}) {
        Tensor t = upper ? triu(x) : tril(x);
        if (ones) t = (upper ? triu(x, 1) : tril(x, -1)) * 0.1 + unit(x);
        const Tensor other = ones ? t + 2 * unit(x) : t + (upper ? tril(x, -1) : triu(x, 1));  // not read
        CHECK(difference(product(t, triangular_solve(other, b, upper, ones)), b) < 1e-6);
      }
  }
  // Batches broadcast, integers are float32, halves are rounded once.
  CHECK(solve(random({4, 1, 3, 3}, 1), random({5, 3, 2}, 2)).shape() == Shape{4, 5, 3, 2});
  CHECK(doubles(solve(Tensor::of<int>({{2, 0}, {0, 4}}), Tensor::of<int>({2, 8}))) == std::vector<double>{1, 2});
  CHECK(det(Tensor::of<int>({{2, 1}, {1, 1}})).dtype() == DType::float32);
  CHECK(inverse(full({1, 1}, 3, DType::float16)).dtype() == DType::float16);
  CHECK(doubles(inverse(full({1, 1}, 3, DType::float16)))[0] == static_cast<double>(float(float16_t(1.0F / 3))));
  // Views and pending work are operands.
  const Tensor x = random({3, 3}, 3), b = random({3, 2}, 4);
  CHECK(difference(solve(x.transpose(), b.flip(0) * 2), inverse(x).transpose().matmul(b.flip(0)) * 2) < 1e-12);
  // No batches, and matrices without elements.
  CHECK(solve(zeros({0, 3, 3}), zeros({0, 3, 1})).shape() == Shape{0, 3, 1});
  CHECK(doubles(det(zeros({2, 0, 0}))) == std::vector<double>{1, 1});
  CHECK(matrix_power(x, 0).shape() == Shape{3, 3});
  CHECK(difference(matrix_power(x, 5), product(product(product(product(x, x), x), x), x)) < 1e-12);
}

TEST_CASE("determinants and condition numbers whose parts leave the range") {
  const auto of = [](std::vector<double> pivots, DType dtype) {
    const auto n = static_cast<std::int64_t>(pivots.size());
    return double(det((Tensor::from(pivots, {n}).unsqueeze(0) * eye(n, -1, 0, DType::float64)).to(dtype)));
  };
  for (const int half : {1, 2, 3, 4, 10}) {
    for (const auto& [dtype, exponent] : {std::pair{DType::float32, 100}, {DType::float64, 700}}) {
      const double large = std::ldexp(1.5, exponent), small = std::ldexp(0.5, -exponent);
      std::vector<double> pivots(static_cast<std::size_t>(half), large);
      pivots.insert(pivots.end(), static_cast<std::size_t>(half), small);
      CHECK(of(pivots, dtype) == std::pow(0.75, half));
      std::swap(pivots.front(), pivots.back());
      pivots[0] = -pivots[0];
      CHECK(of(pivots, dtype) == -std::pow(0.75, half));
      pivots[1] = 0;
      CHECK(of(pivots, dtype) == 0);
    }
  }
  CHECK(of({1e30, 1e30}, DType::float32) == HUGE_VAL);
  CHECK(of({1e-30, -1e-30}, DType::float32) == 0);
  CHECK(of({0x1p-75, 0x1p-74}, DType::float32) == 0x1p-149);
  CHECK(std::isnan(of({1e30, 1e30, NAN, 1e-30}, DType::float32)));
  // Digits are not lost below the range either.
  CHECK(of({0x1.000002p-70, 0x1.000002p-70, 0x1p70, 0x1p70}, DType::float32) == 0x1.000004p0);

  CHECK(doubles(cond(zeros({2, 2}))) == std::vector<double>{HUGE_VAL});
  CHECK(doubles(cond(zeros({1, 1}), MatrixNorm::minus_two)) == std::vector<double>{HUGE_VAL});
  for (const float scale : {1e30F, 1e-30F, 1.0F})
    CHECK(float(cond(eye(2) * scale, MatrixNorm::frobenius)) == doctest::Approx(2));
}

TEST_CASE("matrices without elements, and no matrices") {
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (const Shape& batch : {Shape{}, Shape{2}, Shape{0}, Shape{3, 0}}) {
      const auto with = [&](std::initializer_list<std::int64_t> each) {
        Shape shape = batch;
        for (const std::int64_t n : each) shape.push_back(n);
        return shape;
      };
      // What is read has the elements that its shape says; q, u and vh are orthogonal.
      const auto holds = [&](const Tensor& x, std::initializer_list<std::int64_t> each) {
        CHECK(x.shape() == with(each));
        CHECK(doubles(x).size() == static_cast<std::size_t>(x.numel()));
      };
      const auto orthogonal = [&](const Tensor& x, std::int64_t n, std::int64_t columns) {
        holds(x, {n, columns});
        const Tensor square = columns <= n ? product(x.transpose(), x) : product(x, x.transpose());
        CHECK(difference(square, unit(square)) < 1e-5);
      };
      for (const auto& [m, n] : {std::pair{0, 0}, {3, 0}, {0, 2}, {1, 0}, {0, 1}, {3, 2}}) {
        CAPTURE(to_string(batch));
        CAPTURE(m);
        CAPTURE(n);
        const Tensor x = (iota(with({m, n})) % 3 + 1).to(dtype);
        const std::int64_t k = std::min(m, n);
        for (const bool full : {false, true}) {
          const Svd s = svd(x, full);
          orthogonal(s.u, m, full ? m : k);
          holds(s.s, {k});
          orthogonal(s.vh, full ? n : k, n);
          const Qr f = qr(x, full);
          orthogonal(f.q, m, full ? m : k);
          holds(f.r, {full ? m : k, n});
        }
        const Lu f = lu(x);
        holds(f.p, {m, m});
        holds(f.l, {m, k});
        holds(f.u, {k, n});
        CHECK(difference(product(f.p, product(f.l, f.u)), x) < 1e-5);
        holds(svdvals(x), {k});
        holds(pinv(x), {n, m});
        holds(lstsq(x, ones(with({m, 4}), dtype)), {n, 4});
        holds(lstsq(x, ones(with({m, 0}), dtype)), {n, 0});
        holds(matrix_rank(x), {});
        if (k == 0) CHECK(doubles(matrix_rank(x)) == std::vector<double>(static_cast<std::size_t>(numel(batch)), 0));
        if (k == 0 && m > 0) CHECK(doubles(lstsq(x, ones(with({m, 4}), dtype))).empty());
        if (k == 0 && n > 0) CHECK(double(sum(abs(lstsq(x, ones(with({m, 4}), dtype))))) == 0);
        for (const MatrixNorm norm : {MatrixNorm::frobenius, MatrixNorm::nuclear, MatrixNorm::one, MatrixNorm::two})
          holds(matrix_norm(x, norm), {});
      }
      for (const std::int64_t n : {0, 1, 2}) {
        const Tensor x = (eye(n, -1, 0, dtype) * 2).expand(with({n, n}));
        for (const bool upper : {false, true}) {
          holds(cholesky(x, upper), {n, n});
          holds(triangular_solve(x, ones(with({n, 3}), dtype), upper), {n, 3});
          holds(triangular_solve(x, ones(with({n, 0}), dtype), upper, true), {n, 0});
        }
        holds(solve(x, ones(with({n, 3}), dtype)), {n, 3});
        holds(solve(x, ones(with({n, 0}), dtype)), {n, 0});
        holds(inverse(x), {n, n});
        holds(eigh(x).values, {n});
        holds(eigh(x).vectors, {n, n});
        holds(eigvalsh(x), {n});
        const Eig g = eig(x);
        for (const Tensor& values : {g.values_real, g.values_imag}) holds(values, {n});
        for (const Tensor& vectors : {g.vectors_real, g.vectors_imag}) holds(vectors, {n, n});
        const auto count = static_cast<std::size_t>(numel(batch));
        CHECK(doubles(det(x)) == std::vector<double>(count, std::pow(2, n)));
        CHECK(doubles(slogdet(x).sign) == std::vector<double>(count, 1));
        holds(slogdet(x).logabsdet, {});
        for (const std::int64_t power : {-1, 0, 1, 3}) holds(matrix_power(x, power), {n, n});
        if (n == 0) continue;  // a matrix of nothing has no condition number
        holds(cond(x), {});
        holds(cond(x, MatrixNorm::one), {});
      }
    }
  }
  // NumPy's answers.
  CHECK(doubles(svd(zeros({3, 0}), true).u) == doubles(eye(3)));
  CHECK(doubles(svd(zeros({0, 2}), true).vh) == doubles(eye(2)));
  CHECK(doubles(qr(zeros({3, 0}), true).q) == doubles(eye(3)));
}

TEST_CASE("captured functions, symbolic sizes, files and explanations") {
  FunctionOptions options;
  options.dynamic = Dynamic::yes;
  const auto plain = [](Tensor x, Tensor b) { return solve(matmul(x, x.transpose()) + eye(x.size(1)), b * 2) + 1; };
  const auto f = function(plain, options);
  const auto x = [](int batch, int n) { return random({batch, n, n}, 5, DType::float32).realize(); };
  const auto b = [](int batch, int n) { return random({batch, n, 2}, 6, DType::float32).realize(); };
  for (const auto& [batch, n] : {std::pair{3, 4}, {7, 4}, {2, 9}, {40, 3}})
    CHECK(difference(f(x(batch, n), b(batch, n)), plain(x(batch, n), b(batch, n))) == 0);
  CHECK(f.counts().traces == 1);

  const test::TemporaryFolder folder;
  const std::string path = folder / "f.oriel";
  f.save(path);
  const auto loaded = load_function<Tensor(Tensor, Tensor)>(path);
  CHECK(difference(loaded(x(5, 6), b(5, 6)), plain(x(5, 6), b(5, 6))) == 0);

  const std::string text = explain(solve(x(5, 6) * 2, b(5, 6))).str();
  CHECK(text.find("host_solve") != std::string::npos);
  CHECK(text.find("calls the host function solve on 5 batches") != std::string::npos);
  CHECK(text.find("because a host function reads it") != std::string::npos);
  CHECK_THROWS_WITH_AS(
      export_cpp({solve(x(5, 6), b(5, 6))}, folder.path(), {.name = "solver"}),
      "export_cpp: kernel solver_k00_host_solve calls the host function \"solve\", which is no source; export what "
      "comes before and after it, and call it between the two",
      ArgumentError);
}

TEST_CASE("what only shows when it runs names the first matrix of the batch") {
  Tensor x = (eye(3).expand({5000, 3, 3}) * 1).realize();
  x[3100] = 0;
  x[4000] = 0;
  x.realize();
  const auto refused = [](const Tensor& t) {
    try {
      t.realize();
    } catch (const ArgumentError& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  CHECK(refused(solve(x, ones({3}))) == "solve: matrix 3100 of the batch is singular: pivot 0 is 0");
  CHECK(refused(inverse(x)) == "inverse: matrix 3100 of the batch is singular: pivot 0 is 0");
  CHECK(refused(cholesky(x)) == "cholesky: matrix 3100 of the batch is not positive definite");
  CHECK(refused(svd(full({2, 2}, NAN)).s) == "svd: matrix 0 of the batch holds a NaN or an infinity");
  CHECK(refused(eigh(full({2, 2}, NAN)).values) == "eigh: matrix 0 of the batch holds a NaN or an infinity");
  CHECK(refused(eig(full({2, 2}, INFINITY)).values_real) == "eig: matrix 0 of the batch holds a NaN or an infinity");
  CHECK(refused(lstsq(full({2, 2}, NAN), ones({2}))) == "lstsq: matrix 0 of the batch holds a NaN or an infinity");
  CHECK(doubles(det(x[3100]))[0] == 0);
  CHECK(doubles(slogdet(x[3100]).logabsdet)[0] == -HUGE_VAL);
  CHECK(doubles(slogdet(x[3100]).sign)[0] == 0);
}

TEST_CASE("tolerances are numbers, or one for each matrix") {
  const Tensor x = diag(Tensor::of<float>({100, 1, 0.01F})), two = stack({x, x});
  CHECK(doubles(matrix_rank(x)) == std::vector<double>{3});
  CHECK(doubles(matrix_rank(x, 0.1)) == std::vector<double>{2});
  CHECK(doubles(matrix_rank(two, Tensor::of<double>({0.1, 10}))) == std::vector<double>{2, 1});
  CHECK(doubles(matrix_rank(two, 0.001 * max(svdvals(two), -1))) == std::vector<double>{2, 2});
  CHECK(doubles(diagonal(pinv(x, 0.001)))[2] == 0);
  const Tensor inverted = pinv(two, Tensor::of<float>({0.001F, 0.1F}));
  CHECK(inverted.dtype() == DType::float32);
  const std::vector<double> found = doubles(diagonal(inverted, 0, 1, 2));
  const double want[] = {0.01, 1, 0, 0.01, 0, 0};
  for (std::size_t k = 0; k < 6; ++k) CHECK(found[k] == doctest::Approx(want[k]));
  CHECK_THROWS_WITH_AS(
      (void)matrix_rank(two, ones(3)),
      "matrix_rank: (3, 1) and (2, 3) do not broadcast: axis -2 is 3 and 2; extents must agree or be 1", ShapeError);
}

TEST_CASE("matrices on another device than the default one have default tolerances, too") {
  Tensor x;
  try {
    x = diag(Tensor::of<float>({2, 0, 4})).to(Device::opencl()).realize();
  } catch (const DeviceError&) {
    return;
  }
  CHECK(doubles(matrix_rank(x)) == std::vector<double>{2});
  CHECK(doubles(pinv(x))[0] == doctest::Approx(0.5));
}

TEST_CASE("shapes that do not fit are refused when the call is built") {
  const Tensor x = ones({3, 4}), square = ones({3, 3});
  CHECK_THROWS_WITH_AS((void)inverse(x), "inverse: (3, 4) holds matrices that are not square", ShapeError);
  CHECK_THROWS_WITH_AS((void)det(ones({3})), "det: (3) has 1 axes; give matrices (.., m, n)", ShapeError);
  CHECK_THROWS_WITH_AS((void)solve(square, ones({4})), "solve: b has 4 rows for matrices of 3", ShapeError);
  CHECK_THROWS_WITH_AS((void)solve(square, 3), "solve: b has no axis; give (.., n, m) or (n)", ShapeError);
  CHECK_THROWS_AS((void)solve(ones({2, 3, 3}), ones({4, 3, 1})), ShapeError);
  CHECK_THROWS_WITH_AS((void)pinv(ones({3})), "pinv: (3) has 1 axes; give matrices (.., m, n)", ShapeError);
  CHECK_THROWS_AS((void)matrix_power(x, 2), ShapeError);
}

}  // namespace linalg_test
