// The mean price of an Asian option over 20,000 paths of 32 steps.
#include "beside.hpp"
using namespace oriel;

void monte_carlo() {
  constexpr std::int64_t paths = 20'000, steps = 32;
  const Tensor draws = normal(Key(13), {paths, steps}).realize();
  const Floats z = draws.to_vector<float>();
  beside(
      "Monte Carlo prices",
      [&] {
        const Tensor path = exp(cumsum(draws * 0.02F + 0.0001F, 1));
        return mean(maximum(mean(path, 1) - 1, 0)).reshape({1});
      },
      [&] {
        double total = 0;
        for (std::int64_t i = 0; i < paths; ++i) {
          float log_price = 0, sum = 0;
          for (std::int64_t t = 0; t < steps; ++t) {
            log_price += z[i * steps + t] * 0.02F + 0.0001F;
            sum += std::exp(log_price);
          }
          total += std::max(sum / steps - 1, 0.0F);
        }
        return Floats{static_cast<float>(total / paths)};
      });
}
