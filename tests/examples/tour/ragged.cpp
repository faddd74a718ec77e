// Rows of different lengths, one after the other in memory: each row's mean, and every element less its row's mean.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  // Row r has the elements from offsets[r] up to offsets[r + 1].
  const auto centred = oriel::function(
      [](Tensor values, Tensor offsets) {
        const Tensor first = offsets.slice({{{}, -1}}).unsqueeze(1), last = offsets.slice({{1}}).unsqueeze(1);
        const Tensor at = arange(values.size(0));
        const Tensor inside = at >= first && at < last;  // (rows, elements); never stored
        const Tensor means = sum(where(inside, values, 0), 1) / (last - first).reshape({-1});
        const Tensor row = sum(at.unsqueeze(1) >= offsets.slice({{1, -1}}), 1);
        return std::tuple(means, values - take(means, row, 0));
      },
      {.dynamic = Dynamic::yes, .names = {"values", "offsets"}});
  const auto [means, rest] = centred(Tensor::of({1.F, 2.F, 3.F, 10.F, 4.F, 8.F}), Tensor::of({0, 3, 4, 6}));
  std::cout << means << '\n' << rest << '\n';
  const auto others = centred(Tensor::of({5.F, 7.F, 1.F, 1.F}), Tensor::of({0, 2, 3, 3, 4}));
  std::cout << std::get<0>(others) << '\n' << std::get<1>(others) << '\n';
  std::cout << centred.counts().traces << " trace\n";
}
