// Generates random movements, and target shapes of reshape.
#pragma once

#include <array>
#include <cstdint>

#include "fuzz/case.hpp"
#include "fuzz/choices.hpp"

namespace oriel::fuzz {

/// The weights with which movements are drawn, in the order of kMovements.
struct Mix {
  std::array<int, kMovementKinds> weight;
};
/// For a single view: all movements except reshape.
inline constexpr Mix kEvenMix{{0, 1, 1, 2, 2, 1}};
inline constexpr Mix kShrinkingMix{{1, 1, 0, 4, 0, 1}};
inline constexpr Mix kUnpaddedMix{{0, 1, 1, 2, 0, 1}};
/// Each movement of the table equally often.
inline constexpr Mix kEachMix = [] {
  Mix mix{};
  for (int& weight : mix.weight) weight = 1;
  return mix;
}();
/// The mixes of chains: balanced; mostly reshape with pads; reordering; slicing; repeating.
inline constexpr std::array<Mix, 5> kMixes{{
    {{3, 2, 1, 2, 2, 2}},
    {{4, 0, 0, 1, 3, 0}},
    {{3, 4, 0, 0, 1, 3}},
    {{3, 1, 0, 4, 2, 1}},
    {{3, 1, 4, 2, 1, 1}},
}};

/// A random legal movement for a tensor of that shape. Pads add at most `pad` at each end. No shrink gives an empty
/// tensor.
Movement random_movement(Choices& choices, const Shape& shape, const Mix& mix, std::int64_t pad);

/// The shape after a legal movement.
Shape moved_shape(const Shape& shape, const Movement& movement);

View apply(const View& view, const Movement& movement);

/// A random divisor of n, 1 and n included.
std::int64_t random_divisor(Choices& choices, std::int64_t n);
/// A random shape of exactly n elements, with 1 to 4 axes.
Shape random_factors(Choices& choices, std::int64_t n);

}  // namespace oriel::fuzz
