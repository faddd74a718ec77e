#include "fuzz/generate_moves.hpp"

#include <algorithm>
#include <numeric>

#include "oriel/error.hpp"

namespace oriel::fuzz {

using graph::Takes;

namespace {

MovementKind pick(Choices& choices, const Mix& mix) {
  std::int64_t left = choices.between(0, std::accumulate(mix.weight.begin(), mix.weight.end(), 0) - 1);
  std::size_t kind = 0;
  while (left >= mix.weight[kind]) left -= mix.weight[kind++];
  return kMovements[kind];
}

}  // namespace

std::int64_t random_divisor(Choices& choices, std::int64_t n) {
  // Prime factors above this bound count as one factor together. All divisors of the numbers that the generators make
  // are still reached.
  constexpr std::int64_t kLargestPrime = 1100;
  std::int64_t divisor = 1;
  for (std::int64_t p = 2; n > 1 && p <= kLargestPrime; p += p == 2 ? 1 : 2) {
    if (p * p > n) p = n;
    int power = 0;
    for (; n % p == 0; n /= p) ++power;
    if (power == 0) continue;
    for (std::int64_t k = choices.between(0, power); k > 0; --k) divisor *= p;
  }
  if (n > 1 && choices.chance(.5)) divisor *= n;
  return divisor;
}

Shape random_factors(Choices& choices, std::int64_t n) {
  Shape shape;
  for (std::int64_t k = choices.between(0, 3); k > 0; --k) {
    const std::int64_t divisor = n == 0 ? choices.between(1, 3) : random_divisor(choices, n);
    shape.push_back(divisor);
    if (n != 0) n /= divisor;
  }
  shape.push_back(n);
  choices.shuffle(shape);
  return shape;
}

Movement random_movement(Choices& choices, const Shape& shape, const Mix& mix, std::int64_t pad) {
  Movement movement;
  movement.kind = pick(choices, mix);
  switch (graph::row(movement.kind).takes) {
    case Takes::Target:
      movement.ints = random_factors(choices, numel(shape).value());
      if (choices.chance(.3)) {
        movement.ints.erase(std::remove(movement.ints.begin(), movement.ints.end(), SymInt(1)), movement.ints.end());
      }
      break;
    case Takes::Order:
      for (std::size_t d = 0; d < shape.size(); ++d) movement.ints.push_back(d);
      choices.shuffle(movement.ints);
      break;
    case Takes::Extents:
    case Takes::Numbers:
      for (const SymInt extent : shape) {
        const Range range = graph::movement(movement.kind).numbers(extent);
        const bool one = range.lo == range.hi;
        movement.ints.push_back(
            one ? range.lo : SymInt(choices.between(range.lo.value(), std::min<std::int64_t>(range.hi.value(), 4))));
      }
      break;
    case Takes::Slices:
      for (const SymInt extent : shape) {
        const std::int64_t lo = choices.between(0, std::max<std::int64_t>(extent.value() - 1, 0));
        const bool whole = choices.chance(.5) || extent == 0;
        movement.ranges.push_back(whole ? Range{0, extent} : Range{lo, choices.between(lo + 1, extent.value())});
      }
      break;
    case Takes::Pads:
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const std::int64_t before = std::max<std::int64_t>(0, choices.between(-pad, pad));
        movement.ranges.push_back({before, std::max<std::int64_t>(0, choices.between(-pad, pad))});
      }
      break;
    default:  // axes
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (choices.chance(.5)) movement.ints.push_back(d);
      }
  }
  return movement;
}

Shape moved_shape(const Shape& shape, const Movement& movement) {
  const auto map = graph::movement(movement.kind).map;
  return map == nullptr ? movement.ints : map(shape, move_of(movement)).shape;
}

View apply(const View& view, const Movement& movement) {
  const ShapeTracker moved = apply(ShapeTracker(view), movement);
  if (moved.single()) return moved.views()[0];
  throw ShapeError(name_of(movement.kind), "no single view says " + view.str() + " as " + to_string(moved.shape()));
}

}  // namespace oriel::fuzz
