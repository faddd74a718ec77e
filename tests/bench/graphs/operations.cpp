#include "bench/graphs/operations.hpp"

#include <cmath>

namespace oriel::bench {

namespace {

constexpr std::uint64_t kMultiplier = 6364136223846793005U, kIncrement = 1442695040888963407U;  // Knuth's MMIX

// The windows of images (n, c, h, w) as (n, c, h, w, k, k). Images are padded so that their size stays.
Tensor windows(const Tensor& x, std::int64_t k, std::int64_t step) {
  const std::int64_t p = k / 2;
  const Tensor padded = p > 0 ? pad(x, {{0, 0}, {0, 0}, {p, p}, {p, p}}) : x;
  return unfold(unfold(padded, 2, k, step), 3, k, step);
}

}  // namespace

std::uint64_t Inputs::next() noexcept {
  state_ = state_ * kMultiplier + kIncrement;
  return state_ >> 33;
}

Tensor Inputs::operator()(const Shape& shape, float scale) { return between(shape, -scale, scale); }

Tensor Inputs::between(const Shape& shape, float low, float high) {
  std::vector<float> data(static_cast<std::size_t>(numel(shape).value()));
  for (float& x : data) x = low + (high - low) * static_cast<float>(next()) / 2147483648.0F;
  return Tensor::from(data, shape);
}

Tensor Inputs::positions(const Shape& shape, std::int64_t end) {
  std::vector<std::int64_t> data(static_cast<std::size_t>(numel(shape).value()));
  for (std::int64_t& x : data) x = static_cast<std::int64_t>(next()) % end;
  return Tensor::from(data, shape);
}

Tensor linear(const Each& each, const Tensor& x, const Tensor& w, const Tensor& b) {
  return each(each(matmul(x, w)) + b);
}

Tensor convolution(const Each& each, const Tensor& x, const Tensor& kernels, std::int64_t step) {
  const std::int64_t out = kernels.size(0).value(), in = kernels.size(1).value(), k = kernels.size(2).value();
  const Tensor w = kernels.reshape({1, out, in, 1, 1, k, k});
  return each(sum(unsqueeze(windows(x, k, step), 1) * w, {2, 5, 6}));
}

Tensor depthwise(const Each& each, const Tensor& x, const Tensor& kernels) {
  const std::int64_t c = kernels.size(0).value(), k = kernels.size(1).value();
  return each(sum(windows(x, k, 1) * kernels.reshape({c, 1, 1, k, k}), {4, 5}));
}

Tensor max_pool(const Each& each, const Tensor& x, std::int64_t k) {
  return each(max(unfold(unfold(x, 2, k, k), 3, k, k), {4, 5}));
}

Tensor mean_pool(const Each& each, const Tensor& x, std::int64_t k) {
  return each(mean(unfold(unfold(x, 2, k, k), 3, k, k), {4, 5}));
}

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).permute({0, 2, 1, 3});
}

Tensor join_heads(const Tensor& x) {
  return x.permute({0, 2, 1, 3}).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

Tensor attend(const Each& each, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) {
  Tensor scores = each(matmul(q, k.transpose()) / std::sqrt(static_cast<double>(q.size(-1))));
  if (bias.numel() > 0) scores = each(scores + bias);
  return each(matmul(each(softmax(scores)), v));
}

}  // namespace oriel::bench
