// A bilateral filter: each pixel becomes the mean of the 5 x 5 around it, by closeness in place and in value.
#include <algorithm>

#include "beside.hpp"
using namespace oriel;

void bilateral() {
  constexpr std::int64_t n = 200;
  const Floats x = random_floats(n * n, 9);
  const Tensor picture = Tensor::borrow(x, {n, n});
  beside(
      "bilateral filter",
      [&] {
        const Tensor wide = pad(picture, {{2, 2}, {2, 2}}, PadMode::replicate);
        const Tensor around = unfold(unfold(wide, 0, 5, 1), 1, 5, 1);  // (n, n, 5, 5)
        const Tensor away = square(arange(5) - 2.0F) / -8.0F;
        const Tensor weight = exp(away + away.unsqueeze(1) - square(around - picture.reshape({n, n, 1, 1})) * 2);
        return sum(weight * around, {2, 3}) / sum(weight, {2, 3});
      },
      [&] {
        Floats out;
        const auto at = [&](std::int64_t i, std::int64_t j) {
          return x[std::clamp<std::int64_t>(i, 0, n - 1) * n + std::clamp<std::int64_t>(j, 0, n - 1)];
        };
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            float sum = 0, total = 0;
            for (std::int64_t di = -2; di <= 2; ++di)
              for (std::int64_t dj = -2; dj <= 2; ++dj) {
                const float v = at(i + di, j + dj), apart = v - at(i, j);
                const float w = std::exp(static_cast<float>(di * di + dj * dj) / -8.0F - apart * apart * 2);
                sum += w * v;
                total += w;
              }
            out.push_back(sum / total);
          }
        return out;
      });
}
