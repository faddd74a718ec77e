// The price of an option by simulation: four million paths are one kernel that stores nothing. An average over a basket
// of correlated shares takes a Cholesky factor too.
#include <oriel/oriel.hpp>

#include <cmath>
#include <cstdint>
#include <iostream>

namespace {

constexpr double kPrice = 100, kStrike = 105, kRate = 0.03, kVolatility = 0.2, kYears = 1;
constexpr std::int64_t kPaths = 1 << 22;

double normal_share(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

/// The formula of Black and Scholes.
double exact_price() {
  const double spread = kVolatility * std::sqrt(kYears);
  const double d = (std::log(kPrice / kStrike) + (kRate + kVolatility * kVolatility / 2) * kYears) / spread;
  return kPrice * normal_share(d) - kStrike * std::exp(-kRate * kYears) * normal_share(d - spread);
}

}  // namespace

int main() {
  using oriel::Tensor;
  // A key is an argument: each call simulates paths of its own.
  const auto price = oriel::function([](oriel::Key key) {
    const Tensor z = normal(key, {kPaths});
    const Tensor end =
        kPrice * exp((kRate - kVolatility * kVolatility / 2) * kYears + kVolatility * std::sqrt(kYears) * z);
    return mean(maximum(end - kStrike, 0)) * std::exp(-kRate * kYears);
  });
  const auto [first, second] = split(oriel::Key(2026));
  const double one = price(first).item<float>(), other = price(second).item<float>();
  std::cout << "exact " << exact_price() << ", simulated " << one << " and " << other << '\n';
  if (std::abs(one - exact_price()) > 0.05 || std::abs(other - exact_price()) > 0.05 || one == other) return 1;

  // Returns of three shares that move together: z L^T has the covariance L L^T.
  const Tensor covariance = Tensor::of<float>({{0.04F, 0.02F, 0}, {0.02F, 0.09F, 0.03F}, {0, 0.03F, 0.0625F}});
  const Tensor z = normal(oriel::Key(7), {1 << 18, 3});
  const Tensor returns = matmul(z, cholesky(covariance).transpose());
  const Tensor found = matmul(returns.transpose(), returns) / (1 << 18);
  std::cout << found << '\n';
  return double(max(abs(found - covariance))) < 0.002 ? 0 : 1;
}
