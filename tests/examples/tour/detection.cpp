// Boxes above a threshold, and a second stage over those: how many there are is known only when the function runs.
#include <oriel/oriel.hpp>

#include <iostream>

int main() {
  using namespace oriel;
  const auto detect = oriel::function(
      [](Tensor boxes, Tensor scores, auto threshold) {
        const Tensor kept = nonzero(scores > threshold).reshape({-1});  // int64 (u0)
        const Tensor chosen = take(boxes, kept, 0);                     // (u0, 4): left, top, right, bottom
        const Tensor low = chosen.slice({{}, {{}, 2}}), high = chosen.slice({{}, {2}});
        const auto area = [](Tensor lower, Tensor upper) { return prod(maximum(upper - lower, 0), -1); };
        // How much of each box every other one covers: (u0, u0).
        const Tensor shared =
            area(maximum(low.unsqueeze(0), low.unsqueeze(1)), minimum(high.unsqueeze(0), high.unsqueeze(1)));
        return std::tuple(chosen, shared / area(low, high).unsqueeze(1));
      },
      {.dynamic = Dynamic::yes, .names = {"boxes", "scores", "threshold"}});
  const Tensor boxes = Tensor::of<float>({{0, 0, 4, 2}, {1, 1, 2, 2}, {2, 0, 6, 4}});
  const auto [chosen, covered] = detect(boxes, Tensor::of({0.9F, 0.2F, 0.7F}), 0.5F);
  std::cout << chosen << '\n' << covered << '\n';
  const auto more = detect(concat({boxes, boxes + 1}), Tensor::of({0.1F, 0.8F, 0.7F, 0.9F, 0.6F, 0.3F}), 0.5F);
  std::cout << to_string(std::get<1>(more).shape()) << '\n';
  const auto none = detect(boxes, zeros({3}), 0.5F);
  std::cout << to_string(std::get<1>(none).shape()) << '\n';
  std::cout << detect.counts().traces << " trace\n";
}
