// A particle filter: moves particles at random, weighs them by an observation, and draws new ones by their weights.
#include <cmath>

#include "loops.hpp"
using namespace oriel;

Ended particles(Each each) {
  constexpr std::int64_t count = 256;
  Key key(3);
  Tensor x = normal(key, {count});
  double at = 0;
  double off = 0;
  int rounds = 0;
  for (; rounds < 50; ++rounds) {
    at += 0.1;
    const auto keys = split(key, 3);
    key = keys[0];
    const Tensor moved = x + 0.1 + 0.2 * normal(keys[1], {count});
    const Tensor weights = softmax(-square(moved - std::sin(at) - at) * 2);
    Tensor sums = cumsum(weights, 0);
    const Tensor picks = (uniform(keys[2], {}) + arange(count)) / count;
    x = take(moved, minimum(searchsorted(sums, picks), count - 1));
    each(x);
    off += std::abs(mean(x).item<float>() - std::sin(at) - at);
  }
  return {rounds, x + off};
}
