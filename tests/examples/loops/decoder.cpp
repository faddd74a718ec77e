// A decoder that is not captured: each round attends to all rounds before through a cache that grows, and chooses the
// next word.
#include <cmath>

#include "loops.hpp"
using namespace oriel;

Ended decoder(Each each) {
  constexpr std::int64_t words = 32, width = 16;
  const auto keys = split(Key(4), 6);
  const auto weights = [&](int k, std::int64_t rows) {
    return (normal(keys[static_cast<std::size_t>(k)], {rows, width}) * 0.4).realize();
  };
  const Tensor embedding = weights(0, words), query = weights(1, width), key = weights(2, width),
               value = weights(3, width), out = weights(4, words);
  Tensor cached_keys = zeros({0, width}), cached_values = zeros({0, width});
  std::int64_t word = 1;
  Tensor said = arange(0);
  int rounds = 0;
  for (; rounds < 40; ++rounds) {
    const Tensor x = embedding.select(0, word).unsqueeze(0);
    cached_keys = concat({cached_keys, matmul(x, key.transpose())}, 0);
    cached_values = concat({cached_values, matmul(x, value.transpose())}, 0);
    each(cached_keys);
    each(cached_values);
    const Tensor q = matmul(x, query.transpose());
    const Tensor seen = softmax(matmul(q, cached_keys.transpose()) / std::sqrt(double{width}));
    Tensor hidden = x + matmul(seen, cached_values);
    each(hidden);
    const Tensor logits = matmul(tanh(hidden), out.transpose());
    word = argmax(logits.reshape({-1})).item<std::int64_t>();
    said = concat({said, full({1}, word)}, 0);
  }
  return {rounds, said};
}
