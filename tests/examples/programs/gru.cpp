// Sixteen steps of a gated recurrent unit (PyTorch's GRUCell without biases), 32 sequences, 64 units.
#include "beside.hpp"
using namespace oriel;

void gru() {
  constexpr std::int64_t steps = 16, batch = 32, units = 64;
  const Floats in = random_floats(steps * batch * units, 10), a = random_floats(units * 3 * units, 11),
               b = random_floats(units * 3 * units, 12);
  const Tensor x = Tensor::borrow(in, {steps, batch, units});
  const Tensor wx = Tensor::borrow(a, {units, 3 * units}) * 0.1F, wh = Tensor::borrow(b, {units, 3 * units}) * 0.1F;
  beside(
      "GRU",
      [&] {
        Tensor h = zeros({batch, units});
        const auto part = [&](const Tensor& y, std::int64_t k) {
          return y.slice({{}, {.start = k * units, .stop = (k + 1) * units}});
        };
        for (std::int64_t t = 0; t < steps; ++t) {
          const Tensor gx = matmul(x[t], wx), gh = matmul(h, wh);
          const Tensor reset = sigmoid(part(gx, 0) + part(gh, 0)), update = sigmoid(part(gx, 1) + part(gh, 1));
          h = (1 - update) * tanh(part(gx, 2) + reset * part(gh, 2)) + update * h;
        }
        return h;
      },
      [&] {
        Floats h(batch * units), gx(3 * units), gh(3 * units), next(batch * units);
        const auto sigmoid_of = [](float v) { return 1 / (1 + std::exp(-v)); };
        for (std::int64_t t = 0; t < steps; ++t, h.swap(next)) {
          for (std::int64_t i = 0; i < batch; ++i) {
            std::fill(gx.begin(), gx.end(), 0.0F);
            std::fill(gh.begin(), gh.end(), 0.0F);
            for (std::int64_t u = 0; u < units; ++u)
              for (std::int64_t j = 0; j < 3 * units; ++j) {
                gx[j] += in[(t * batch + i) * units + u] * a[u * 3 * units + j] * 0.1F;
                gh[j] += h[i * units + u] * b[u * 3 * units + j] * 0.1F;
              }
            for (std::int64_t u = 0; u < units; ++u) {
              const float reset = sigmoid_of(gx[u] + gh[u]), update = sigmoid_of(gx[units + u] + gh[units + u]);
              next[i * units + u] =
                  (1 - update) * std::tanh(gx[2 * units + u] + reset * gh[2 * units + u]) + update * h[i * units + u];
            }
          }
        }
        return h;
      });
}
