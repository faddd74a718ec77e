// Three levels of a Gaussian pyramid: blurred by 1 4 6 4 1 along each axis, every second pixel.
#include <algorithm>

#include "beside.hpp"
using namespace oriel;

void pyramid() {
  constexpr std::int64_t n = 512;
  const Floats x = random_floats(n * n, 3);
  const Tensor picture = Tensor::borrow(x, {n, n}), weights = Tensor::of<float>({1, 4, 6, 4, 1}) / 16;
  beside(
      "image pyramid",
      [&] {
        Tensor level = picture;
        for (int k = 0; k < 3; ++k) {
          const Tensor wide = pad(level, {{2, 2}, {2, 2}}, PadMode::replicate);
          level = sum(unfold(sum(unfold(wide, 0, 5, 2) * weights, -1), 1, 5, 2) * weights, -1);
        }
        return level;
      },
      [&] {
        constexpr float w[] = {1 / 16.0F, 4 / 16.0F, 6 / 16.0F, 4 / 16.0F, 1 / 16.0F};
        Floats now = x;
        std::int64_t size = n;
        for (int k = 0; k < 3; ++k, size /= 2) {
          const auto inside = [&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, size - 1); };
          Floats rows(static_cast<std::size_t>(size / 2 * size)), next(static_cast<std::size_t>(size / 2 * (size / 2)));
          for (std::int64_t i = 0; i < size / 2; ++i) {
            for (std::int64_t t = 0; t < 5; ++t)
              for (std::int64_t j = 0; j < size; ++j)
                rows[i * size + j] += w[t] * now[inside(2 * i + t - 2) * size + j];
            for (std::int64_t j = 0; j < size / 2; ++j)
              for (std::int64_t t = 0; t < 5; ++t)
                next[i * (size / 2) + j] += w[t] * rows[i * size + inside(2 * j + t - 2)];
          }
          now = std::move(next);
        }
        return now;
      });
}
