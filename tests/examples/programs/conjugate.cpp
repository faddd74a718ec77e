// Conjugate gradients: 30 rounds on the Laplacian of a grid, which is a stencil and no matrix.
#include "beside.hpp"
using namespace oriel;

namespace {
constexpr std::int64_t n = 200;

Tensor laplacian(const Tensor& x) {
  const Tensor wide = pad(x, {{1, 1}, {1, 1}});
  const auto at = [&](std::int64_t i, std::int64_t j) { return wide.slice({{i, i + n}, {j, j + n}}); };
  return 4 * x - at(0, 1) - at(2, 1) - at(1, 0) - at(1, 2);
}

void laplacian(const Floats& x, Floats& y) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 4 * x[i * n + j];
      if (i > 0) sum -= x[(i - 1) * n + j];
      if (i + 1 < n) sum -= x[(i + 1) * n + j];
      if (j > 0) sum -= x[i * n + j - 1];
      if (j + 1 < n) sum -= x[i * n + j + 1];
      y[i * n + j] = sum;
    }
}

double dot(const Floats& a, const Floats& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}
}  // namespace

void conjugate() {
  const Floats b = random_floats(n * n, 8);
  const Tensor right = Tensor::borrow(b, {n, n});
  beside(
      "conjugate gradients",
      [&] {
        Tensor x = zeros({n, n}), r = right, p = right, rr = sum(r * r);
        for (int round = 0; round < 30; ++round) {
          const Tensor ap = laplacian(p);
          const Tensor step = rr / sum(p * ap);
          x = x + step * p;
          r = r - step * ap;
          const Tensor next = sum(r * r);
          p = r + (next / rr) * p;
          rr = next;
        }
        return x;
      },
      [&] {
        Floats x(b.size()), r = b, p = b, ap(b.size());
        double rr = dot(r, r);
        for (int round = 0; round < 30; ++round) {
          laplacian(p, ap);
          const auto step = static_cast<float>(rr / dot(p, ap));
          for (std::size_t k = 0; k < x.size(); ++k) {
            x[k] += step * p[k];
            r[k] -= step * ap[k];
          }
          const double next = dot(r, r);
          for (std::size_t k = 0; k < x.size(); ++k) p[k] = r[k] + static_cast<float>(next / rr) * p[k];
          rr = next;
        }
        return x;
      },
      1e-2);
}
