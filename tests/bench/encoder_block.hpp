// A block of an encoder as users write it: attention with four heads, a perceptron, and two layer norms.
#pragma once

#include "oriel/oriel.hpp"

namespace oriel::bench {

/// x: (batch, length, width); the weights: (width, 3 * width), (width, width), (width, hidden), (hidden, width). The
/// width is a multiple of 4.
inline Tensor encoder_block(Tensor x, Tensor to_heads, Tensor to_out, Tensor up, Tensor down) {
  constexpr std::int64_t kHeads = 4;
  const SymInt batch = x.size(0), length = x.size(1);
  const std::int64_t width = to_out.size(0).value();
  const Tensor all = matmul(x, to_heads).reshape({batch, length, 3, kHeads, width / kHeads}).permute({2, 0, 3, 1, 4});
  const Tensor scores = matmul(all.select(0, 0), all.select(0, 1).transpose()) / 8;
  const Tensor mixed = matmul(softmax(scores, -1), all.select(0, 2));
  const Tensor y = layer_norm(x + matmul(mixed.permute({0, 2, 1, 3}).reshape({batch, length, width}), to_out), -1);
  return layer_norm(y + matmul(gelu(matmul(y, up)), down), -1);
}

}  // namespace oriel::bench
