// softmax(Q K^T * s + mask) V is one kernel. The matrix of scores is never stored, and blocks that the mask hides are
// not computed.
#include <oriel/oriel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <span>
#include <vector>

namespace {

constexpr std::int64_t kHeads = 2;
constexpr std::int64_t kLength = 200;
constexpr std::int64_t kDepth = 32;

oriel::Tensor wave(double step) {
  return oriel::Tensor::generate(
             {kHeads, kLength, kDepth},
             [=](std::span<const std::int64_t> i) {
               return static_cast<float>(std::sin(step * static_cast<double>(i[0] * 997 + i[1] * 31 + i[2])));
             })
      .realize();
}

/// Causal attention for one query, by plain loops: query `row` sees the keys up to `row`.
std::vector<double> plain(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                          std::int64_t head, std::int64_t row) {
  const auto at = [&](std::int64_t i, std::int64_t d) {
    return static_cast<std::size_t>((head * kLength + i) * kDepth + d);
  };
  std::vector<double> weights(static_cast<std::size_t>(row + 1), 0);
  for (std::int64_t j = 0; j <= row; ++j) {
    double& w = weights[static_cast<std::size_t>(j)];
    for (std::int64_t d = 0; d < kDepth; ++d) w += static_cast<double>(q[at(row, d)]) * k[at(j, d)];
    w /= std::sqrt(static_cast<double>(kDepth));
  }
  const double most = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (double& w : weights) total += w = std::exp(w - most);
  std::vector<double> out(kDepth, 0);
  for (std::int64_t j = 0; j <= row; ++j) {
    for (std::int64_t d = 0; d < kDepth; ++d)
      out[static_cast<std::size_t>(d)] += weights[static_cast<std::size_t>(j)] / total * v[at(j, d)];
  }
  return out;
}

}  // namespace

int main() {
  const oriel::Tensor q = wave(0.37);
  const oriel::Tensor k = wave(0.53);
  const oriel::Tensor v = wave(0.11);
  const oriel::Tensor row = oriel::arange(kLength).reshape({kLength, 1});
  const oriel::Tensor column = oriel::arange(kLength).reshape({1, kLength});

  const oriel::Tensor scores = matmul(q, k.transpose()) / std::sqrt(static_cast<double>(kDepth));
  const oriel::Tensor seen = where(column <= row, scores, -std::numeric_limits<double>::infinity());
  const oriel::Tensor out = matmul(softmax(seen), v);

  const oriel::Explanation plan = oriel::explain(out);
  std::cout << plan.str();
  if (plan.kernels.size() != 1 || plan.memory.peak_bytes != 0) {
    std::cerr << "expected one kernel and no memory beside the result\n";
    return 1;
  }

  const std::vector<float> got = out.to_vector<float>();
  const std::vector<float> queries = q.to_vector<float>();
  const std::vector<float> keys = k.to_vector<float>();
  const std::vector<float> values = v.to_vector<float>();
  for (std::int64_t head = 0; head < kHeads; ++head) {
    for (std::int64_t i = 0; i < kLength; ++i) {
      const std::vector<double> want = plain(queries, keys, values, head, i);
      for (std::int64_t d = 0; d < kDepth; ++d) {
        const float ours = got[static_cast<std::size_t>((head * kLength + i) * kDepth + d)];
        if (!(std::abs(ours - want[static_cast<std::size_t>(d)]) <= 1e-5)) {
          std::cerr << "element " << head << ", " << i << ", " << d << " is " << ours << ", plain loops give "
                    << want[static_cast<std::size_t>(d)] << '\n';
          return 1;
        }
      }
    }
  }
  std::cout << "equal to plain loops in double, within 1e-5\n";
}
