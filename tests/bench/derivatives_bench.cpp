// Derivatives, each in turns with what it is made of: a step of training with its products alone, the gradients of a
// convolution with the convolution. Captured functions. peers.py has the steps as `derivative:` rows.
#include <cmath>
#include <utility>
#include <vector>

#include "encoder_block.hpp"
#include "in_turns.hpp"
#include "oriel/optim.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using bench::in_turns;

Tensor numbers(const Shape& shape, std::uint64_t seed, double scale = 1) {
  return (uniform(Key(seed), shape, -1, 1) * scale).realize();
}

/// 784-512-512-10 at batch 256: forward, backward and an update, beside the eight products alone.
void mlp_step(benchmark::State& state) {
  const auto step = oriel::function([](std::vector<Tensor> w, Tensor x, Tensor labels) {
    const auto loss = [&](const std::vector<Tensor>& p) {
      const Tensor a = relu(matmul(x, p[0]) + p[1]), b = relu(matmul(a, p[2]) + p[3]);
      return cross_entropy(matmul(b, p[4]) + p[5], labels, {.bounds = Bounds::zero});
    };
    auto [value, g] = value_and_grad(loss)(w);
    for (std::size_t k = 0; k < w.size(); ++k) w[k] = w[k] - g[k] * 0.01;
    return std::pair(value, w);
  });
  const auto products = oriel::function([](Tensor x, Tensor a, Tensor b, Tensor c, Tensor w1, Tensor w2, Tensor w3) {
    const auto t = [](const Tensor& m) { return m.transpose(0, 1); };
    return std::vector<Tensor>{matmul(x, w1),    matmul(a, w2),   matmul(b, w3),   matmul(c, t(w3)),
                               matmul(a, t(w2)), matmul(t(x), a), matmul(t(a), b), matmul(t(b), c)};
  });
  const Tensor x = numbers({256, 784}, 1), a = numbers({256, 512}, 2), b = numbers({256, 512}, 3),
               c = numbers({256, 10}, 4), labels = (iota({256}) % 10).realize();
  std::vector<Tensor> w{numbers({784, 512}, 5, 0.04), numbers({512}, 6, 0.1),      numbers({512, 512}, 7, 0.04),
                        numbers({512}, 8, 0.1),       numbers({512, 10}, 9, 0.04), numbers({10}, 10, 0.1)};
  in_turns(
      state, [&] { w = step(w, x, labels).second; }, [&] { products(x, a, b, c, w[0], w[2], w[4]); }, CLOCK_MONOTONIC,
      "products");
}
BENCHMARK(mlp_step)->Unit(benchmark::kMillisecond);

/// A gradient of a convolution of 3 x 3, 8 x 64 x 28 x 28 to 64, beside the convolution: as many operations. With
/// stride 2 the gradient by the input multiplies 1.8 times as often.
template <int kStride>
void convolution_gradient(benchmark::State& state) {
  const Tensor x = numbers({8, 64, 28, 28}, 1), w = numbers({64, 64, 3, 3}, 2),
               g = numbers({8, 64, 28 / kStride, 28 / kStride}, 3);
  const auto convolved = [](const Tensor& a, const Tensor& b) {
    return conv2d(a, b, {.stride = {kStride}, .padding = {1}});
  };
  const auto forward = oriel::function(convolved);
  const auto by_input = oriel::function([](Tensor a, Tensor b, Tensor cotangent) {
    return vjp([&](Tensor t) { return conv2d(t, b, {.stride = {kStride}, .padding = {1}}); }, a).pull(cotangent);
  });
  const auto by_weights = oriel::function([](Tensor a, Tensor b, Tensor cotangent) {
    return vjp([&](Tensor t) { return conv2d(a, t, {.stride = {kStride}, .padding = {1}}); }, b).pull(cotangent);
  });
  in_turns(
      state,
      [&] {
        if (state.range(0) == 0)
          by_input(x, w, g);
        else
          by_weights(x, w, g);
      },
      [&] { forward(x, w); }, CLOCK_MONOTONIC, "forward");
}
BENCHMARK(convolution_gradient<1>)->ArgName("by_weights")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(convolution_gradient<2>)->ArgName("by_weights")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

/// A block of an encoder of width 256 at batch 4 and length 256: forward and backward, beside forward.
void encoder_step(benchmark::State& state) {
  const auto forward = oriel::function(
      [](std::vector<Tensor> p, Tensor x) { return mean(square(bench::encoder_block(x, p[0], p[1], p[2], p[3]))); });
  const auto both = oriel::function([](std::vector<Tensor> w, Tensor x) {
    auto [value, gradient] = value_and_grad(
        [&](const std::vector<Tensor>& p) { return mean(square(bench::encoder_block(x, p[0], p[1], p[2], p[3]))); })(w);
    return std::pair(value, gradient);
  });
  const Tensor x = numbers({4, 256, 256}, 1);
  const std::vector<Tensor> w{numbers({256, 768}, 2, 0.06), numbers({256, 256}, 3, 0.06), numbers({256, 1024}, 4, 0.06),
                              numbers({1024, 256}, 5, 0.06)};
  in_turns(
      state, [&] { both(w, x); }, [&] { forward(w, x); }, CLOCK_MONOTONIC, "forward");
}
BENCHMARK(encoder_step)->Unit(benchmark::kMillisecond);

Tensor gru(const std::vector<Tensor>& p, const Tensor& x) {
  Tensor h = zeros({32, 128});
  for (int t = 0; t < 64; ++t) {
    const Tensor in = matmul(x[t], p[0]) + p[2], own = matmul(h, p[1]);
    const auto part = [](const Tensor& y, int k) { return y.slice({{}, {k * 128, (k + 1) * 128}}); };
    const Tensor r = sigmoid(part(in, 0) + part(own, 0)), z = sigmoid(part(in, 1) + part(own, 1));
    h = (1 - z) * tanh(part(in, 2) + r * part(own, 2)) + z * h;
  }
  return mean(square(h));
}

/// A GRU of 128 over 64 steps of a batch of 32: forward and backward, beside forward.
void gru_step(benchmark::State& state) {
  const auto forward = oriel::function([](std::vector<Tensor> p, Tensor x) { return gru(p, x); });
  const auto both = oriel::function([](std::vector<Tensor> p, Tensor x) {
    auto [value, gradient] = value_and_grad([&](const std::vector<Tensor>& q) { return gru(q, x); })(p);
    return std::pair(value, gradient);
  });
  const std::vector<Tensor> p{numbers({128, 384}, 1, 0.1), numbers({128, 384}, 2, 0.1), numbers({384}, 3, 0.1)};
  const Tensor x = numbers({64, 32, 128}, 4);
  in_turns(
      state, [&] { both(p, x); }, [&] { forward(p, x); }, CLOCK_MONOTONIC, "forward");
}
BENCHMARK(gru_step)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int count, char** words) { return bench::main_on_one_thread(count, words); }
