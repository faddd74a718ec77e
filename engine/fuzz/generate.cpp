#include "fuzz/generate.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "fuzz/generate_moves.hpp"
#include "view/positions.hpp"

namespace oriel::fuzz {
namespace {

constexpr std::array<KindInfo, kKinds> kKindTable{{
    {Kind::Movement, "movement", "two views, each made by movements from a contiguous one", true, false, 6},
    {Kind::Raw, "raw", "two views of any strides (negative, zero, overlapping), offsets and masks", true, false, 6},
    {Kind::Accident, "accident", "two views whose carries tend to cancel", true, false, 6},
    {Kind::Stack, "stack", "three or four views made by movements", true, false, 2},
    {Kind::Chain, "chain", "a tensor and up to ten movements of several mixes", true, false, 4},
    {Kind::Deep, "deep", "a tensor and twelve to thirty-two movements", true, false, 1},
    {Kind::Huge, "huge", "two views of up to 2^40 elements, checked at sampled indices", false, false, 4},
    {Kind::Planted, "planted", "two huge views that are known to be one", false, false, 2},
    {Kind::Edge, "edge", "two huge views with steps so large that intermediate sums may exceed 64 bits", false, false,
     1},
    {Kind::Kernels, "kernels", "a chain, run by generated kernels on every device and compared with its table", true,
     true, 1},
    {Kind::Each, "each", "a tensor and up to ten movements, each that Oriel has equally often", true, false, 2},
}};

Shape random_shape(Choices& choices, std::int64_t most) {
  static constexpr std::int64_t extents[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 8, 9, 10, 12, 16, 7};
  Shape shape;
  std::int64_t count = 1;
  for (std::int64_t rank = choices.chance(.03) ? 0 : choices.between(1, 3); rank > 0; --rank) {
    const std::int64_t extent = extents[choices.below(most > 200 ? 16 : 14)];
    if (count * extent > most) continue;
    shape.push_back(extent);
    count *= extent;
  }
  return shape;
}

bool within(const Shape& shape, std::int64_t limit) {
  std::int64_t count = 1;
  for (const SymInt extent : shape) {
    if (__builtin_mul_overflow(count, extent.value(), &count) || count > limit) return false;
  }
  return true;
}

/// Applies up to four movements other than reshape.
View moved(Choices& choices, View view, std::int64_t limit, std::int64_t pad) {
  for (std::int64_t k = choices.between(0, 4); k > 0; --k) {
    const Movement movement = random_movement(choices, view.shape, kEvenMix, pad);
    if (within(moved_shape(view.shape, movement), limit)) view = apply(view, movement);
  }
  return view;
}

Case movement_stack(Choices& choices, std::size_t views, std::int64_t most) {
  Case c;
  c.start.push_back(moved(choices, View::contiguous(random_shape(choices, most)), 6 * most, 2));
  while (c.start.size() < views) {
    const Shape shape = random_factors(choices, c.start.back().numel().value());
    c.start.push_back(moved(choices, View::contiguous(shape), 6 * most, 2));
  }
  return c;
}

void random_mask(Choices& choices, View& view, double probability) {
  if (!choices.chance(probability)) return;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const std::int64_t extent = view.shape[d].value();
    std::int64_t a = choices.between(0, extent);
    std::int64_t b = choices.between(0, extent);
    if (a > b) std::swap(a, b);
    view.mask.push_back(choices.chance(.5) ? Range{a, b} : Range{0, extent});
  }
}

/// A view of random strides whose positions lie inside `inner`.
View outer_over(Choices& choices, const View& inner, std::int64_t most) {
  const std::int64_t count = inner.numel().value();
  View view;
  std::int64_t least = 0;
  std::int64_t greatest = 0;
  std::int64_t elements = 1;
  for (std::int64_t rank = choices.between(1, 3); rank > 0; --rank) {
    const std::int64_t room = count - 1 - (greatest - least);
    const std::int64_t extent = choices.between(1, std::min<std::int64_t>(choices.chance(.2) ? 16 : 6, most));
    if (elements * extent > 2 * most) continue;
    std::int64_t stride = extent == 1 ? 0 : choices.between(0, room / (extent - 1));
    // Carries happen for steps near the strides of the inner axes' row-major order.
    if (extent > 1 && !inner.shape.empty() && choices.chance(.4)) {
      std::int64_t weight = 1;
      for (std::size_t d = choices.below(inner.rank()) + 1; d < inner.rank(); ++d) weight *= inner.shape[d].value();
      weight += choices.between(-1, 1);
      if (weight >= 0 && weight * (extent - 1) <= room) stride = weight;
    }
    if (choices.chance(.25)) stride = -stride;
    (stride < 0 ? least : greatest) += stride * (extent - 1);
    elements *= extent;
    view.shape.push_back(extent);
    view.strides.push_back(stride);
  }
  view.offset = choices.between(-least, count - 1 - greatest);
  random_mask(choices, view, .3);
  return view;
}

Case raw_pair(Choices& choices, std::int64_t most) {
  View inner = View::contiguous(random_shape(choices, 4 * most));
  const bool near_contiguous = choices.chance(.4);
  for (SymInt& stride : inner.strides) {
    if (near_contiguous && !choices.chance(.4)) continue;
    if (near_contiguous && choices.chance(.3)) {
      stride = -stride;
    } else {
      stride = choices.chance(.2) ? 0 : choices.between(-6, 12);
    }
  }
  random_mask(choices, inner, .5);
  View outer = outer_over(choices, inner, most);
  return {{std::move(inner), std::move(outer)}, {}};
}

Case accident_pair(Choices& choices, std::int64_t most) {
  View inner = View::contiguous(random_shape(choices, 4 * most));
  const std::int64_t carry = choices.between(1, 40);
  SymInt stride = choices.between(-3, 13);
  for (std::size_t d = inner.rank(); d-- > 0;) {
    inner.strides[d] = stride;
    stride = stride * inner.shape[d] + carry * choices.between(-2, 2);
  }
  random_mask(choices, inner, .15);
  View outer = outer_over(choices, inner, most);
  return {{std::move(inner), std::move(outer)}, {}};
}

/// A chain of movements on a tensor. Movements that would exceed the limit are left out. If little room is left, a
/// shrink follows more often, so that a long chain can continue.
Case chain(Choices& choices, std::int64_t steps, std::int64_t most, const Mix* only = nullptr) {
  Case c;
  c.start.push_back(View::contiguous(random_shape(choices, most)));
  const Mix& mix = only != nullptr ? *only : kMixes[choices.below(kMixes.size())];
  Shape shape = c.start[0].shape;
  for (; steps > 0; --steps) {
    const bool crowded = numel(shape) > 3 * most;
    Movement movement = random_movement(choices, shape, crowded ? kShrinkingMix : mix, 2);
    Shape next = moved_shape(shape, movement);
    if (numel(next) > 6 * most || numel(next) == 0) continue;
    shape = std::move(next);
    c.movements.push_back(std::move(movement));
  }
  return c;
}

std::int64_t huge_extent(Choices& choices, std::int64_t most) {
  static constexpr std::int64_t primes[] = {2, 2, 2, 3, 3, 5, 7, 11, 13, 97, 1009};
  std::int64_t extent = 1;
  for (std::int64_t k = choices.between(0, 14); k > 0; --k) {
    const std::int64_t prime = primes[choices.below(std::size(primes))];
    if (extent * prime <= most) extent *= prime;
  }
  return extent;
}

Shape huge_shape(Choices& choices, std::int64_t most) {
  Shape shape;
  for (std::int64_t rank = choices.between(1, 3); rank > 0; --rank) {
    shape.push_back(huge_extent(choices, most));
    most /= shape.back().value();
  }
  return shape;
}

constexpr std::int64_t kHugeElements = std::int64_t{1} << 40;

/// Enlarges steps up to 62 bits, so that intermediate results of a merge may exceed 64 bits.
void stretch(Choices& choices, View& view) {
  std::int64_t farthest = std::abs(view.offset.value()) + 1;
  for (std::size_t d = 0; d < view.rank(); ++d) farthest += std::abs(view.strides[d].value()) * view.shape[d].value();
  const std::int64_t factor = choices.between(1, std::max<std::int64_t>(1, (std::int64_t{1} << 62) / farthest));
  for (SymInt& stride : view.strides) stride *= factor;
  view.offset *= factor;
}

Case huge_pair(Choices& choices, bool stretched) {
  const std::int64_t most = choices.chance(.5) ? 1'000'000'000 : kHugeElements;
  Case c;
  const std::int64_t pad = choices.chance(.5) ? 3 : 1000;
  c.start.push_back(moved(choices, View::contiguous(huge_shape(choices, most)), 64 * most, pad));
  if (stretched) stretch(choices, c.start[0]);
  const Shape shape = random_factors(choices, c.start[0].numel().value());
  c.start.push_back(moved(choices, View::contiguous(shape), 64 * most, pad));
  return c;
}

/// A pair that is one view by construction: outer axes that split the axes of an unmasked inner view digit by digit,
/// with movements on them.
Case planted_pair(Choices& choices) {
  View inner = View::contiguous(huge_shape(choices, kHugeElements));
  for (std::int64_t k = choices.between(0, 3); k > 0; --k) {
    Movement movement = random_movement(choices, inner.shape, kUnpaddedMix, 0);
    inner = apply(inner, movement);
  }
  Shape digits;
  for (const SymInt extent : inner.shape) {
    SymInt left = extent;
    for (std::int64_t k = choices.between(0, 2); k > 0; --k) {
      const std::int64_t part = random_divisor(choices, left.value());
      digits.push_back(part);
      left = left / part;
    }
    digits.push_back(left);
  }
  View outer = moved(choices, View::contiguous(digits), 64 * kHugeElements, 1000);
  return {{std::move(inner), std::move(outer)}, {}};
}

/// Shifts the innermost view so that no position is negative: in a table, -1 means "invalid".
void lift(Case& c) {
  const auto range = detail::position_range(c.start[0]);
  if (range && range->least < 0) c.start[0].offset -= range->least;
}

}  // namespace

std::span<const KindInfo> kinds() { return kKindTable; }
const KindInfo& info(Kind kind) { return kKindTable[static_cast<std::size_t>(kind)]; }

Case generate(Kind kind, Choices& choices, std::int64_t most_elements) {
  const auto make = [&]() -> Case {
    switch (kind) {
      case Kind::Movement:
        return movement_stack(choices, 2, most_elements);
      case Kind::Raw:
        return raw_pair(choices, most_elements);
      case Kind::Accident:
        return accident_pair(choices, most_elements);
      case Kind::Stack:
        return movement_stack(choices, static_cast<std::size_t>(choices.between(3, 4)), most_elements);
      case Kind::Each:
        return chain(choices, choices.between(1, 10), most_elements, &kEachMix);
      case Kind::Kernels:
        return chain(choices, choices.between(1, 10), most_elements, choices.chance(.25) ? &kEachMix : nullptr);
      case Kind::Chain:
        return chain(choices, choices.between(1, 10), most_elements);
      case Kind::Deep:
        return chain(choices, choices.between(12, 32), most_elements);
      case Kind::Huge:
        return huge_pair(choices, false);
      case Kind::Edge:
        return huge_pair(choices, true);
      case Kind::Planted:
        break;
    }
    return planted_pair(choices);
  };
  Case c = make();
  lift(c);
  return c;
}

}  // namespace oriel::fuzz
