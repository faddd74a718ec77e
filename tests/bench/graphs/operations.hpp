// Building blocks of several families of graphs, written as a user would.
#pragma once

#include "bench/graphs/graph_case.hpp"

namespace oriel::bench {

/// x w + b.
Tensor linear(const Each& each, const Tensor& x, const Tensor& w, const Tensor& b);

/// Convolution of images (n, c, h, w) with kernels (o, c, k, k): the sum of windows of the padded images times the
/// kernels.
Tensor convolution(const Each& each, const Tensor& x, const Tensor& kernels, std::int64_t step = 1);
/// Depthwise convolution with kernels (c, k, k): each channel by itself.
Tensor depthwise(const Each& each, const Tensor& x, const Tensor& kernels);
/// The maximum, and the mean, of k x k squares.
Tensor max_pool(const Each& each, const Tensor& x, std::int64_t k);
Tensor mean_pool(const Each& each, const Tensor& x, std::int64_t k);

/// (batch, length, heads * width) as (batch, heads, length, width), and back.
Tensor split_heads(const Tensor& x, std::int64_t heads);
Tensor join_heads(const Tensor& x);

/// softmax(q k^T / sqrt(width) + bias) v; without bias if it has no elements.
Tensor attend(const Each& each, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias = Tensor());

}  // namespace oriel::bench
