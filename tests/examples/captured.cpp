// A captured function: a small network that is traced once and then runs on each new batch without planning anything.
// Its layers are passed as a struct and a scale as a kernel argument. It keeps a running mean of its inputs.
#include <oriel/oriel.hpp>

#include <array>
#include <cmath>
#include <iostream>
#include <tuple>
#include <vector>

namespace {

using oriel::Tensor;

/// A layer. `oriel_members` lists its members.
struct Layer {
  Tensor weights, bias;
  bool rectified = true;

  Tensor operator()(const Tensor& x) const {
    const Tensor y = matmul(x, weights) + bias;
    return rectified ? relu(y) : y;
  }
};
auto oriel_members(Layer& layer) { return std::tie(layer.weights, layer.bias, layer.rectified); }
auto oriel_members(const Layer& layer) { return std::tie(layer.weights, layer.bias, layer.rectified); }

Tensor waves(const oriel::Shape& shape, float speed) {
  float t = 0;
  return Tensor::generate(shape, [&](auto) { return std::sin(t += speed); });
}

using Network = std::array<Layer, 2>;

/// Returns the network's answer. Moves the running mean by a twentieth of its distance to the batch's mean.
std::tuple<Tensor, Tensor> classify(Tensor batch, const Network& network, Tensor running, const Tensor& temperature) {
  running += (mean(batch, 0) - running) * 0.05F;
  Tensor x = batch - running;
  for (const Layer& layer : network) x = layer(x);
  const Tensor weights = softmax(x / temperature);
  return {weights, argmax(weights, 1)};
}

}  // namespace

int main() {
  const Network network{Layer{waves({8, 16}, 0.7F), waves({16}, 0.3F)},
                        Layer{waves({16, 4}, 1.1F), waves({4}, 0.2F), false}};
  const Tensor running = oriel::zeros({8}), expected = oriel::zeros({8});

  const auto f = oriel::function([](Tensor batch, const Network& layers, Tensor means,
                                    auto temperature) { return classify(batch, layers, means, temperature); },
                                 {.names = {"batch", "network", "running", "temperature"}});

  // Batches of six rows; the last one has three. So there are two traces, whatever the data and the temperature are.
  for (int k = 0; k < 20; ++k) {
    const Tensor batch = waves({k == 19 ? 3 : 6, 8}, 0.1F * static_cast<float>(k + 1));
    const float temperature = k < 10 ? 1.5F : 0.5F;
    const auto [weights, best] = f(batch, network, running, temperature);
    const auto [plain_weights, plain_best] = classify(batch, network, expected, oriel::scalar(temperature));
    if (!allclose(weights, plain_weights) || !allclose(best, plain_best) || !allclose(running, expected)) {
      std::cout << "batch " << k << " differs from the plain engine's\n";
      return 1;
    }
  }

  std::cout << f.explain();
  return f.counts().traces == 2 && f.counts().hits == 18 ? 0 : 1;
}
