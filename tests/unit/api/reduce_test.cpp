#include "oriel/reduce.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "oriel/oriel.hpp"

namespace reduce_test {

using namespace oriel;

namespace {
using Floats = std::vector<float>;
using Ints64 = std::vector<std::int64_t>;
const Tensor x = Tensor::of<float>({{1, 5, 3}, {4, 2, 6}});
}  // namespace

TEST_CASE("axes") {
  CHECK(sum(x).item<float>() == 21);
  CHECK(sum(x, 0).to_vector<float>() == Floats{5, 7, 9});
  CHECK(sum(x, -1).to_vector<float>() == Floats{9, 12});
  CHECK(sum(x, {0, 1}, true).shape() == Shape{1, 1});
  CHECK(sum(x, {-1, 0}).shape() == Shape{});
  CHECK(sum(x, 1, true).shape() == Shape{2, 1});
  CHECK(sum(x, Ints{}).shape() == Shape{2, 3});
  CHECK_THROWS_WITH_AS(sum(x, 2), "sum: axis 2 of a tensor with 2 axes; give one of -2 to 1", ShapeError);
  CHECK_THROWS_WITH_AS(max(x, {1, -1}), "max: axes (1, -1) name axis 1 twice; name each once", ShapeError);
}

TEST_CASE("every reduction") {
  CHECK(prod(x, 1).to_vector<float>() == Floats{15, 48});
  CHECK(max(x, 1).to_vector<float>() == Floats{5, 6});
  CHECK(min(x, 1).to_vector<float>() == Floats{1, 2});
  CHECK(any(x > 4, 1).to_vector<bool>() == std::vector<bool>{true, true});
  CHECK(all(x > 1, 1).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(mean(x, 1).to_vector<float>() == Floats{3, 4});
  CHECK(var(x, 1).to_vector<float>() == Floats{4, 4});
  CHECK(var(x, 1, false, 0).to_vector<float>()[0] == doctest::Approx(8.0 / 3));
  CHECK(stddev(x, 1).to_vector<float>() == Floats{2, 2});
  CHECK(argmax(x, 1).to_vector<std::int64_t>() == Ints64{1, 2});
  CHECK(argmin(x, 0).to_vector<std::int64_t>() == Ints64{0, 1, 0});
  CHECK(argmax(x).item<std::int64_t>() == 5);
  CHECK(argmax(x, {0, 1}, true).shape() == Shape{1, 1});
}

TEST_CASE("ties, NaN and integers") {
  CHECK(argmax(Tensor::of<int>({3, 9, 9})).item<std::int64_t>() == 1);
  CHECK(argmin(Tensor::of<float>({3, NAN, 1, NAN})).item<std::int64_t>() == 1);
  CHECK(argmax(Tensor::of<float>({3, NAN, 9})).item<std::int64_t>() == 1);
  CHECK(std::isnan(max(Tensor::of<float>({3, NAN, 9})).item<float>()));
  CHECK(std::isnan(sum(Tensor::of<float>({3, NAN})).item<float>()));
  CHECK(sum(Tensor::of<std::int8_t>({100, 100})).item<std::int64_t>() == 200);
  CHECK(sum(Tensor::from(std::vector<bool>{true, true})).item<std::int64_t>() == 2);
  CHECK(sum(Tensor::of<std::uint64_t>({1, 2})).dtype() == DType::uint64);
  CHECK(mean(Tensor::of<int>({1, 2})).item<float>() == 1.5F);
  // A sum of 4096 ones that was kept in float16 would stop at 2048.
  CHECK(sum(ones({4096}, DType::float16)).to(DType::float32).item<float>() == 4096);
}

TEST_CASE("over nothing") {
  const Tensor none = zeros({0, 2});
  CHECK(sum(none, 0).to_vector<float>() == Floats{0, 0});
  CHECK(prod(none, 0).to_vector<float>() == Floats{1, 1});
  CHECK(max(none, 0).to_vector<float>() == Floats{-INFINITY, -INFINITY});
  CHECK(min(none, 0).to_vector<float>() == Floats{INFINITY, INFINITY});
  CHECK(max(zeros({0}, DType::int8)).item<std::int8_t>() == -128);
  CHECK(any(none).item<bool>() == false);
  CHECK(all(none).item<bool>() == true);
  CHECK(std::isnan(mean(none, 0).to_vector<float>()[0]));
  CHECK(logsumexp(none, 0).to_vector<float>() == Floats{-INFINITY, -INFINITY});
  CHECK(argmax(none, 1).numel() == 0);
  CHECK_THROWS_WITH_AS(argmax(none, 0),
                       "argmax: axes (0) of (0, 2) have no elements, so there is no position to return", ShapeError);
  CHECK(softmax(none, 0).numel() == 0);
}

TEST_CASE("compositions") {
  const Floats s = softmax(Tensor::of<float>({1000, 1000})).to_vector<float>();
  CHECK(s == Floats{0.5F, 0.5F});
  CHECK(log_softmax(Tensor::of<float>({0, 0})).to_vector<float>()[0] == doctest::Approx(-std::log(2.0)));
  CHECK(logsumexp(Tensor::of<float>({1000, 1000})).item<float>() == doctest::Approx(1000 + std::log(2.0)));
  CHECK(logsumexp(Tensor::of<float>({-INFINITY, -INFINITY})).item<float>() == -INFINITY);
  CHECK(logsumexp(Tensor::of<float>({0, -20})).item<float>() == doctest::Approx(2.0611536e-9).epsilon(1e-6));
  CHECK(logsumexp(Tensor::of<float>({-20, 0, -20})).item<float>() == doctest::Approx(4.1223072e-9).epsilon(1e-6));
  CHECK(logsumexp(Tensor::of<float>({INFINITY, 1})).item<float>() == INFINITY);
  CHECK(logsumexp(Tensor::of<float>({INFINITY, -INFINITY, 0})).item<float>() == INFINITY);
  CHECK(std::isnan(logsumexp(Tensor::of<float>({NAN, 1})).item<float>()));
  // A dominant element keeps the little that the others leave it.
  const Floats logs = log_softmax(Tensor::of<float>({{0, -20, -30}, {5, 5, -INFINITY}}), 1).to_vector<float>();
  CHECK(logs[0] == doctest::Approx(-2.0612472e-9).epsilon(1e-6));
  CHECK(logs[1] == -20);
  CHECK(logs[3] == doctest::Approx(-std::log(2.0)));
  CHECK(logs[5] == -INFINITY);
  const Floats n = layer_norm(x, 1, 0).to_vector<float>();
  CHECK(n[0] == doctest::Approx(-2 / std::sqrt(8.0 / 3)));
  CHECK_THROWS_WITH_AS(layer_norm(x, 1, -1), "layer_norm: eps is -1; give a finite number >= 0", ArgumentError);
  CHECK_THROWS_WITH_AS(var(x, 1, false, NAN), "var: correction is nan; give a finite number", ArgumentError);
}

TEST_CASE("covariances of large elements") {
  for (const std::int64_t n : {3, 10, 1000}) {
    const Tensor x = full({2, n}, 1e10F).realize();
    CHECK(cov(x).to_vector<float>() == Floats{0, 0, 0, 0});
  }
  const Tensor x = Tensor::of<float>({1e30F, -1e30F});
  const Floats r = corrcoef(stack({x, -x})).to_vector<float>();
  for (std::size_t k = 0; k < 4; ++k) CHECK(r[k] == doctest::Approx(k == 0 || k == 3 ? 1 : -1));
  // And of small ones.
  const std::vector<double> small = corrcoef(Tensor::of<double>({{1e-200, -1e-200}, {1, 2}})).to_vector<double>();
  const Floats least = corrcoef(Tensor::of<float>({{4e-45F, -4e-45F}, {1e30F, 2e30F}})).to_vector<float>();
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(small[k] == doctest::Approx(k == 0 || k == 3 ? 1 : -1));
    CHECK(least[k] == doctest::Approx(k == 0 || k == 3 ? 1 : -1));
  }
}

TEST_CASE("matmul") {
  const Tensor a = Tensor::of<float>({{1, 2}, {3, 4}});
  const Tensor v = Tensor::of<float>({1, 10});
  CHECK(matmul(a, a).to_vector<float>() == Floats{7, 10, 15, 22});
  CHECK(matmul(a, v).to_vector<float>() == Floats{21, 43});
  CHECK(matmul(v, a).to_vector<float>() == Floats{31, 42});
  CHECK(matmul(v, v).item<float>() == 101);
  CHECK(matmul(zeros({5, 1, 2, 3}), zeros({4, 3, 6})).shape() == Shape{5, 4, 2, 6});
  CHECK(matmul(zeros({3}), zeros({4, 3, 6})).shape() == Shape{4, 6});
  CHECK(matmul(zeros({4, 2, 3}), zeros({3})).shape() == Shape{4, 2});
  CHECK(matmul(zeros({2, 0}), zeros({0, 2})).to_vector<float>() == Floats{0, 0, 0, 0});
  CHECK(matmul(ones({1, 3}, DType::bool_), ones({3, 1}, DType::bool_)).item<bool>());
  CHECK(matmul(ones({1, 4096}, DType::float16), ones({4096, 1}, DType::float16)).to(DType::float32).item<float>() ==
        4096);
  CHECK_THROWS_WITH_AS(matmul(a, zeros({3, 2})), "matmul: (2, 2) x (3, 2): the inner extents 2 and 3 differ",
                       ShapeError);
  CHECK_THROWS_WITH_AS(matmul(a, 2), "matmul: (2, 2) x (): an operand has no axes; give each at least one", ShapeError);
  CHECK_THROWS_AS(matmul(zeros({2, 2, 3}), zeros({3, 3, 2})), ShapeError);
}

TEST_CASE("a tensor without axes takes axis 0 or -1 in every reduction, as in PyTorch") {
  const Tensor x = scalar(3.0F);
  for (const std::int64_t axis : {0, -1}) {
    CAPTURE(axis);
    const auto plain = [&](const Tensor& y, double want) {
      CHECK(y.shape().empty());
      CHECK(y.to(DType::float64).item<double>() == want);
    };
    for (const bool keepdim : {false, true}) {
      plain(sum(x, axis, keepdim), 3);
      plain(prod(x, axis, keepdim), 3);
      plain(max(x, axis, keepdim), 3);
      plain(min(x, axis, keepdim), 3);
      plain(any(x, axis, keepdim), 1);
      plain(all(x, axis, keepdim), 1);
      plain(mean(x, axis, keepdim), 3);
      plain(var(x, axis, keepdim, 0), 0);
      plain(stddev(x, axis, keepdim, 0), 0);
      plain(count_nonzero(x, axis, keepdim), 1);
      plain(norm(x, 2, axis, keepdim), 3);
      plain(norm(x, 3, axis, keepdim), static_cast<double>(norm(x, 3, Axes{}, keepdim).item<float>()));
      plain(argmax(x, axis, keepdim), 0);
      plain(argmin(x, axis, keepdim), 0);
      plain(logsumexp(x, axis, keepdim), 3);
      CHECK(std::isnan(var(x, axis, keepdim).item<float>()));
      CHECK(std::isnan(stddev(x, axis, keepdim).item<float>()));
    }
    plain(softmax(x, axis), 1);
    plain(log_softmax(x, axis), 0);
    plain(layer_norm(x, axis), 0);
    plain(cumsum(x, axis), 3);
    plain(cumprod(x, axis), 3);
    plain(sort(x, axis), 3);
    plain(argsort(x, axis), 0);
  }
  // softmax and its relatives have a default axis.
  CHECK(softmax(x).item<float>() == 1);
  CHECK(log_softmax(x).item<float>() == 0);
  CHECK(layer_norm(x).item<float>() == 0);
  CHECK_THROWS_AS(sum(x, 1), ShapeError);
  CHECK_THROWS_AS(softmax(x, -2), ShapeError);
  CHECK_THROWS_AS(sum(x, {0, -1}), ShapeError);
}

TEST_CASE("a short sum that one kernel joins with what converts it") {
  for (const std::int64_t n : {20, 40, 100}) {
    const Tensor x = (arange(n) * 7 % 11 + 1).to(DType::int32).realize();
    const Tensor pairs = x.reshape({n, 1}).expand({-1, 2}).unsqueeze(0).unfold(1, 1, 1).unfold(2, 2, 1);
    const Tensor y = sum(pairs * Tensor::of<int>({{3, -4}}), {3, 4}).to(DType::int32);
    CHECK(y.reshape({n}).to_vector<int>() == (-x).to_vector<int>());
  }
}

TEST_CASE("sums of absolute values") {
  const Tensor signs = Tensor::of<float>({{-1, 5, -3}, {4, -2, -0.F}});
  CHECK(asum(signs, 1).to_vector<float>() == Floats{9, 6});
  CHECK(asum(signs, 0, true).shape() == Shape{1, 3});
  CHECK(asum(signs).item<float>() == 15);
  CHECK(asum(zeros({0, 3}), 0).to_vector<float>() == Floats{0, 0, 0});
  CHECK(std::isnan(asum(Tensor::of<float>({1, NAN})).item<float>()));
  CHECK(asum(Tensor::of<float>({-INFINITY, 1})).item<float>() == INFINITY);
  CHECK_THROWS_WITH_AS(asum(iota({3})), "asum: takes floats, not int64; cast it first", DTypeError);
  // One element is combined with the identity too, wherever it stands and however long the rows are.
  CHECK(asum(Tensor::of<float>({{-2}, {-0.F}}), 1).to_vector<float>() == Floats{2, 0});
  CHECK(!std::signbit(asum(Tensor::of<float>({-0.F})).item<float>()));
  for (const std::int64_t n : {2, 7, 33, 1025, 5000}) {
    const Tensor falling = -arange(static_cast<float>(n));
    CHECK(asum(falling).item<float>() == sum(abs(falling)).item<float>());
    const Tensor rows = stack({falling, -falling, falling}, 0);
    CHECK(asum(rows, 1).to_vector<float>() == sum(abs(rows), 1).to_vector<float>());
    CHECK(asum(rows, 0).to_vector<float>() == sum(abs(rows), 0).to_vector<float>());
    CHECK(asum(rows.to(DType::float16), 0).to_vector<float16_t>() ==
          sum(abs(rows.to(DType::float16)), 0).to_vector<float16_t>());
  }
}

TEST_CASE("short rows whose reduction is reduced again, along an axis of one element") {
  for (const std::int64_t terms : {1, 3, 5, 6, 7, 8, 9, 15, 16}) {
    CAPTURE(terms);
    const Tensor x = iota({40, terms}).to(DType::float32).realize();
    const Tensor m = sum(x, -1, true);
    const std::vector<float> sums = m.to_vector<float>();
    for (std::size_t r = 0; r < sums.size(); ++r)
      CHECK(sums[r] == static_cast<float>(terms * (2 * terms * static_cast<std::int64_t>(r) + terms - 1)) / 2);
    const auto twice = [&](const Tensor& again) {
      const Tensor first = sum(x, -1, true);
      std::vector<float> want = sums;
      for (float& v : want) v *= 2;
      CHECK((first + again).to_vector<float>() == want);
    };
    const Tensor lazy = sum(x, -1, true);
    twice(sum(lazy, -1, true));
    twice(max(lazy, -1, true));
    twice(mean(lazy, -1, true));
    twice(lazy * softmax(lazy));
    twice(prod(sum(lazy, -1, true), -1, true));
  }
}

TEST_CASE("a reduction is not computed in a kernel whose parallel axes are fewer") {
  const Tensor x = iota({4, 1, 3}).to(DType::float32).realize();
  const Tensor m = sum(x, -1, true), s = sum(m, -2, true);
  const Tensor beside = m + s / sum(s), most = max(x, -1, true);
  realize({most, beside});
  CHECK(most.to_vector<float>() == std::vector<float>{2, 5, 8, 11});
  CHECK(beside.to_vector<float>()[0] == 3 + 3.0F / 66);
}

TEST_CASE("sums that are the same for many rows are read once") {
  const Tensor d = (iota({32, 256}) % 7).to(DType::float32).realize();
  const Tensor w = (iota({256, 256}) % 5).to(DType::float32).realize();
  const Tensor y = w - matmul(full({256, 32}, 1.0F), d);
  CHECK(explain(y).str().find("runs on windows") != std::string::npos);
  CHECK(all(y == w - sum(d, 0)).item<bool>());
}

}  // namespace reduce_test
