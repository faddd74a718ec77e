// Ten steps of 1000 Kalman filters: position and speed in one dimension, of which the position is measured.
#include "beside.hpp"
using namespace oriel;

void kalman() {
  constexpr std::int64_t n = 1000, steps = 10;
  const Floats z = random_floats(n * steps, 4);
  const Tensor seen = Tensor::borrow(z, {steps, n, 1, 1});
  const Tensor f = Tensor::of<float>({{1, 1}, {0, 1}}), h = Tensor::of<float>({{1, 0}});
  const Tensor q = eye(2) * 0.01F, r = eye(1) * 0.5F;
  beside(
      "Kalman filters",
      [&] {
        Tensor x = zeros({n, 2, 1}), p = eye(2).expand({n, 2, 2});
        for (std::int64_t k = 0; k < steps; ++k) {
          x = matmul(f, x);
          p = matmul(matmul(f, p), f.transpose()) + q;
          const Tensor hp = matmul(h, p);
          const Tensor gain = solve(matmul(hp, h.transpose()) + r, hp).transpose();
          x = x + matmul(gain, seen[k] - matmul(h, x));
          p = p - matmul(gain, hp);
        }
        return x;
      },
      [&] {
        Floats out;
        for (std::size_t i = 0; i < n; ++i) {
          float x = 0, v = 0, a = 1, b = 0, c = 0, d = 1;  // the state, and the covariance {{a, b}, {c, d}}
          for (std::size_t k = 0; k < steps; ++k) {
            x += v;
            a = a + b + c + d + 0.01F;
            b += d;
            c += d;
            d += 0.01F;
            const float scale = 1 / (a + 0.5F), g = a * scale, u = b * scale, apart = z[k * n + i] - x;
            x += g * apart;
            v += u * apart;
            c -= u * a;
            d -= u * b;
            b -= g * b;
            a -= g * a;
          }
          out.push_back(x);
          out.push_back(v);
        }
        return out;
      },
      1e-3);
}
