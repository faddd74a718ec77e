// Random stacks of three kinds: results of movements, raw views with any strides, and inner strides whose carries are
// likely to cancel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "oriel/view.hpp"

namespace generators {

using oriel::Range;
using oriel::Ranges;
using oriel::Shape;
using oriel::View;

struct Pair {
  View outer;
  View inner;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::int64_t most_elements) : random_(seed), most_(most_elements) {}

  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool chance(double p) { return static_cast<double>(random_() >> 11) * 0x1p-53 < p; }

  Pair movement_pair() {
    const std::vector<View> stack = movement_stack(2);
    return {stack[1], stack[0]};
  }

  /// A stack, innermost first. Each view is a contiguous view over the one below, changed by movements.
  std::vector<View> movement_stack(std::size_t count) {
    std::vector<View> stack{moved(View::contiguous(shape(most_)))};
    while (stack.size() < count) stack.push_back(moved(View::contiguous(factors(stack.back().numel().value()))));
    return stack;
  }

  Pair raw_pair() {
    View inner = View::contiguous(shape(4 * most_));
    const bool near_contiguous = chance(.4);
    for (oriel::SymInt& stride : inner.strides) {
      if (near_contiguous && !chance(.4)) continue;
      stride = near_contiguous && chance(.3) ? -stride : chance(.2) ? oriel::SymInt(0) : oriel::SymInt(between(-6, 12));
    }
    mask(inner, .5);
    inner.offset = between(-9, 9);
    return {outer_over(inner), inner};
  }

  Pair accident_pair() {
    View inner = View::contiguous(shape(4 * most_));
    const std::int64_t c = between(1, 40);
    oriel::SymInt stride = between(-3, 13);
    for (std::size_t d = inner.rank(); d-- > 0;) {
      inner.strides[d] = stride;
      stride = stride * inner.shape[d] + c * between(-2, 2);
    }
    mask(inner, .15);
    inner.offset = between(-9, 9);
    return {outer_over(inner), inner};
  }

  Shape shape(std::int64_t most) {
    static constexpr std::int64_t extents[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 6, 8, 9, 10, 12, 16, 7};
    while (true) {
      Shape result;
      const std::int64_t rank = chance(.03) ? 0 : between(1, 3);
      for (std::int64_t d = 0; d < rank; ++d) result.push_back(extents[between(0, most > 200 ? 15 : 13)]);
      if (numel(result) <= most) return result;
    }
  }

  /// A random shape of exactly n elements.
  Shape factors(std::int64_t n) {
    Shape result;
    for (std::int64_t k = between(0, 3); k > 0; --k) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= n; ++d) {
        if (n % d == 0) divisors.push_back(d);
      }
      const std::int64_t d =
          divisors[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(divisors.size()) - 1))];
      result.push_back(d);
      n /= d;
    }
    result.push_back(n);
    std::shuffle(result.begin(), result.end(), random_);
    return result;
  }

  /// Applies up to four movements other than reshape.
  View moved(View view) {
    for (std::int64_t k = between(0, 4); k > 0; --k) {
      View next = movement(view);
      if (next.numel() <= 6 * most_) view = std::move(next);
    }
    return view;
  }

 private:
  View movement(const View& view) {
    const std::size_t rank = view.rank();
    oriel::Ints ints;
    Ranges ranges;
    switch (between(0, 6)) {
      case 0:
        for (std::size_t d = 0; d < rank; ++d) ints.push_back(d);
        std::shuffle(ints.begin(), ints.end(), random_);
        return view.permute(ints);
      case 1:
        for (std::size_t d = 0; d < rank; ++d) {
          if (chance(.5)) ints.push_back(d);
        }
        return view.flip(ints);
      case 2:
      case 3:
        for (std::size_t d = 0; d < rank; ++d) {
          const std::int64_t extent = view.shape[d].value();
          const std::int64_t lo = between(0, extent - 1);
          ranges.push_back(chance(.5) ? Range{0, extent} : Range{lo, between(lo + 1, extent)});
        }
        return view.shrink(ranges);
      case 4:
      case 5:
        for (std::size_t d = 0; d < rank; ++d) {
          ranges.push_back({std::max<std::int64_t>(0, between(-2, 2)), std::max<std::int64_t>(0, between(-2, 2))});
        }
        return view.pad(ranges);
      default:
        for (std::size_t d = 0; d < rank; ++d) {
          ints.push_back(view.shape[d] == 1 ? oriel::SymInt(between(1, 4)) : view.shape[d]);
        }
        return view.expand(ints);
    }
  }

  void mask(View& view, double p) {
    if (!chance(p)) return;
    for (std::size_t d = 0; d < view.rank(); ++d) {
      const std::int64_t extent = view.shape[d].value();
      const std::int64_t a = between(0, extent);
      const std::int64_t b = between(0, extent);
      view.mask.push_back(chance(.5) ? Range{std::min(a, b), std::max(a, b)} : Range{0, extent});
    }
  }

  /// A raw view whose positions lie inside `inner`.
  View outer_over(const View& inner) {
    const std::int64_t count = inner.numel().value();
    std::vector<std::int64_t> cuts{1};
    for (std::size_t d = inner.rank(); d-- > 1;) cuts.push_back(cuts.back() * inner.shape[d].value());
    const auto cut = [&] {
      return cuts[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(cuts.size()) - 1))];
    };
    while (true) {
      View outer = View::contiguous(shape(most_));
      mask(outer, .3);
      std::int64_t least = 0;
      std::int64_t greatest = 0;
      bool nothing = false;
      for (std::size_t d = 0; d < outer.rank(); ++d) {
        const std::int64_t choices[] = {between(-count, count), between(-6, 6), cut() + between(-1, 2), -cut(),
                                        between(1, 12)};
        const std::int64_t stride = chance(.1) ? 0 : choices[between(0, 4)];
        outer.strides[d] = stride;
        const Range range = outer.mask.empty() ? Range{0, outer.shape[d]} : outer.mask[d];
        nothing = nothing || range.hi <= range.lo;
        const std::int64_t first = stride * range.lo.value();
        const std::int64_t last = stride * (range.hi.value() - 1);
        least += std::min(first, last);
        greatest += std::max(first, last);
      }
      if (nothing) return outer;
      if (greatest - least >= count) continue;
      outer.offset = between(0, count - 1 - (greatest - least)) - least;
      return outer;
    }
  }

  std::mt19937_64 random_;
  std::int64_t most_;
};

}  // namespace generators
