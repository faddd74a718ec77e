// The programs of tests/bench/signals_bench.cpp at small sizes beside plain loops: recursive filters, equalised
// pictures, Kalman filters.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "oriel/oriel.hpp"

namespace signals_test {

using namespace oriel;

TEST_CASE("two recursive filters are scans") {
  const Tensor x = uniform(Key(1), {500});
  const auto got = linear_recurrence(0.9F, 0.1F * linear_recurrence(0.9F, 0.1F * x, 0), 0).to_vector<float>();
  const auto in = x.to_vector<float>();
  float a = 0, b = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    a = 0.9F * a + 0.1F * in[k];
    b = 0.9F * b + 0.1F * a;
    CHECK(got[k] == doctest::Approx(b).epsilon(1e-5));
  }
}

TEST_CASE("an equalised histogram spreads the greys") {
  const Tensor picture = (uniform(Key(2), {64, 64}) * 60 + 90).to(DType::uint8);
  const Tensor share = cumsum(segment_sum(1, picture.reshape(-1), 256), 0) / 4096.0F;
  const Tensor even = (255 * share).to(DType::uint8).take(picture);
  std::array<std::int64_t, 256> counts{};
  for (const std::uint8_t v : picture.to_vector<std::uint8_t>()) ++counts[v];
  std::vector<std::uint8_t> want;
  for (const std::uint8_t v : picture.to_vector<std::uint8_t>()) {
    std::int64_t below = 0;
    for (std::size_t k = 0; k <= v; ++k) below += counts[k];
    want.push_back(static_cast<std::uint8_t>(255 * (static_cast<float>(below) / 4096)));
  }
  CHECK(even.shape() == picture.shape());
  CHECK(even.to_vector<std::uint8_t>() == want);
}

TEST_CASE("a level of a pyramid keeps what is linear") {
  const Tensor weights = Tensor::of<float>({1, 4, 6, 4, 1}) / 16;
  const auto smaller = [&](const Tensor& x) {
    const Tensor wide = pad(x, {{2, 2}, {2, 2}}, PadMode::replicate);
    return sum(unfold(sum(unfold(wide, 0, 5, 2) * weights, -1), 1, 5, 2) * weights, -1);
  };
  CHECK(allclose(smaller(full({8, 6}, 2.5F)), full({4, 3}, 2.5F)));
  const Tensor slope = iota({16, 16}).to(DType::float32);
  const Tensor inner = every(slope, {2, 2}).slice({{1, -1}, {1, -1}});
  CHECK(allclose(smaller(slope).slice({{1, -1}, {1, -1}}), inner));
}

TEST_CASE("Kalman filters of a batch are products and a solve") {
  constexpr std::int64_t n = 3, steps = 6;
  const Tensor seen = uniform(Key(3), {steps, n, 1, 1});
  const Tensor f = Tensor::of<float>({{1, 1}, {0, 1}}), h = Tensor::of<float>({{1, 0}});
  const Tensor q = eye(2) * 0.01F, r = eye(1) * 0.5F;
  Tensor x = zeros({n, 2, 1}), p = eye(2).expand({n, 2, 2});
  for (std::int64_t k = 0; k < steps; ++k) {
    x = matmul(f, x);
    p = matmul(matmul(f, p), f.transpose()) + q;
    const Tensor hp = matmul(h, p);
    const Tensor gain = solve(matmul(hp, h.transpose()) + r, hp).transpose();
    x = x + matmul(gain, seen[k] - matmul(h, x));
    p = p - matmul(gain, hp);
  }
  const auto z = seen.to_vector<float>();
  const auto got = x.to_vector<float>();
  for (std::size_t i = 0; i < n; ++i) {
    float place = 0, speed = 0, a = 1, b = 0, c = 0, d = 1;  // the state, and the covariance {{a, b}, {c, d}}
    for (std::size_t k = 0; k < steps; ++k) {
      place += speed;
      a = a + b + c + d + 0.01F;
      b += d;
      c += d;
      d += 0.01F;
      const float g = a / (a + 0.5F), u = b / (a + 0.5F), apart = z[k * n + i] - place;
      place += g * apart;
      speed += u * apart;
      c -= u * a;
      d -= u * b;
      b -= g * b;
      a -= g * a;
    }
    CHECK(got[2 * i] == doctest::Approx(place).epsilon(1e-4));
    CHECK(got[2 * i + 1] == doctest::Approx(speed).epsilon(1e-4));
  }
}

}  // namespace signals_test
