// Solves a system by conjugate gradients until the residual is small.
#include "loops.hpp"
using namespace oriel;

Ended conjugate_gradients(Each each) {
  constexpr std::int64_t n = 96;
  const Tensor half = normal(Key(2), {n, n});
  const Tensor A = (matmul(half, half.transpose()) / n + eye(n)).realize();
  const Tensor right = ones({n}).realize();
  Tensor x = zeros({n}), r = right, p = r, rr = sum(r * r);
  int rounds = 0;
  while (rounds < 200 && rr.item<float>() > 1e-8F) {
    const Tensor Ap = matmul(A, p);
    const Tensor step = rr / sum(p * Ap);
    x = x + step * p;
    r = r - step * Ap;
    const Tensor after = sum(r * r);
    p = r + after / rr * p;
    rr = after;
    for (Tensor* value : {&x, &r, &p, &rr}) each(*value);
    ++rounds;
  }
  return {rounds, x};
}
