#include "view/merging/refine.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::detail {
namespace {

using Index = InlineVector<std::int64_t, 8>;

// A window of at most this many points is tested point by point. A longer window is tested by merging the stack
// restricted to it, which costs about as much.
constexpr std::int64_t kWalk = 32;

/// The stack with `top` in place of its outermost view, merged.
Stack under(std::span<const View> stack, View top) {
  Stack views(stack.begin(), stack.end() - 1);
  views.push_back(std::move(top));
  merge_views(views);
  return views;
}

bool nowhere_valid(const Stack& merged) { return merged.size() == 1 && has_empty_range(merged[0].mask); }

/// The first index of [from, to) at which uniformity breaks, or `to` if it never does. Tests adjacent windows whose
/// length doubles while they are uniform; then a binary search follows.
template <class Uniform>
std::int64_t first_break(std::int64_t from, std::int64_t to, Uniform uniform) {
  for (std::int64_t length = kWalk / 4; from < to; length = length < INT64_MAX / 2 ? 2 * length : length) {
    const std::int64_t window = std::min(length, to - from);
    if (!uniform(from, window)) {
      to = from + window;
      break;
    }
    from += window;
  }
  while (to - from > 1) {
    const std::int64_t half = (to - from) / 2;
    if (uniform(from, half)) {
      from += half;
    } else {
      to = from + half;
    }
  }
  return from;
}

/// The line through a valid point along one axis of a stack, as a partial map of [0, extent).
class Line {
 public:
  Line(std::span<const View> stack, const Index& point, std::size_t axis)
      : stack_(stack), extent_(stack.back().shape[axis]), step_(stack.back().strides[axis]) {
    const View& top = stack.back();
    start_ = Int(top.offset);
    for (std::size_t d = 0; d < top.rank(); ++d) {
      if (d != axis) start_ += Int(top.strides[d]) * point[d];
    }
    const Range range = valid_range(top, axis);
    lo_ = Int(range.lo);
    hi_ = Int(range.hi);
  }

  /// The extents of the blocks of the line's canonical form, outermost first, measured on the map as in the proof of
  /// Theorem U; nullopt if the line proves not to be a masked view.
  std::optional<Ints> pieces() {
    Ints innermost_first;
    while (true) {
      const std::int64_t extent = extent_.value();
      const std::int64_t first = first_valid(0);
      if (first == extent) return std::nullopt;
      const std::int64_t end = end_of_run(first);
      const std::int64_t next = first_valid(end);
      if (next == extent) break;
      const std::int64_t run = end - first;
      const std::int64_t size = next - first;
      if (size < 2 || extent % size != 0) return std::nullopt;
      const std::int64_t lo = first % size;
      if (lo + run > size) return std::nullopt;
      innermost_first.push_back(size);
      take_every(size, lo);
    }
    innermost_first.push_back(SymInt(extent_.value()));
    return Ints(innermost_first.rbegin(), innermost_first.rend());
  }

 private:
  std::optional<std::int64_t> at(std::int64_t k) const {
    if (k < lo_ || k >= hi_) return std::nullopt;
    std::optional<std::int64_t> position = (start_ + step_ * k).value();
    for (std::size_t v = stack_.size() - 1; position && v-- > 0;) position = position_of(stack_[v], *position);
    return position;
  }

  Stack window(std::int64_t from, std::int64_t length) const {
    View top;
    top.shape = {length};
    top.strides = {step_.value()};
    top.offset = (start_ + step_ * from).value();
    const Int lo = std::clamp(lo_ - from, Int(0), Int(length));
    top.mask = {{lo.value(), std::clamp(hi_ - from, lo, Int(length)).value()}};
    return under(stack_, std::move(top));
  }

  std::int64_t first_valid(std::int64_t from) const {
    if (from >= hi_) return extent_.value();
    const std::int64_t found =
        first_break(std::max(from, lo_.value()), hi_.value(), [&](std::int64_t k, std::int64_t n) {
          if (n > kWalk) return nowhere_valid(window(k, n));
          for (const std::int64_t end = k + n; k < end; ++k) {
            if (at(k)) return false;
          }
          return true;
        });
    return found < hi_ ? found : extent_.value();
  }

  /// The end of the longest run from the valid index `first` that is valid and has one slope.
  std::int64_t end_of_run(std::int64_t first) const {
    const auto position = [&](std::int64_t k) { return static_cast<std::uint64_t>(at(k).value_or(0)); };
    if (first + 1 >= hi_ || !at(first + 1)) return first + 1;
    const std::uint64_t origin = position(first);
    const std::uint64_t slope = position(first + 1) - origin;
    return first_break(first + 2, hi_.value(), [&](std::int64_t k, std::int64_t n) {
      const auto on_line = [&](std::int64_t j) {
        const std::optional<std::int64_t> found = at(j);
        return found && static_cast<std::uint64_t>(*found) == origin + slope * static_cast<std::uint64_t>(j - first);
      };
      if (n > kWalk) {
        const Stack merged = window(k, n);
        return merged.size() == 1 && !merged[0].masked() && on_line(k) &&
               static_cast<std::uint64_t>(merged[0].strides[0].value()) == slope;
      }
      for (const std::int64_t end = k + n; k < end; ++k) {
        if (!on_line(k)) return false;
      }
      return true;
    });
  }

  /// Keeps only the indices lo, lo + size, ...
  void take_every(Int size, Int lo) {
    start_ += step_ * lo;
    step_ *= size;
    extent_ = extent_ / size;
    lo_ = std::max(ceil_div(lo_ - lo, size), Int(0));
    hi_ = ceil_div(hi_ - lo, size);
  }

  std::span<const View> stack_;
  Int extent_;
  Int start_;
  Int step_;
  Int lo_;  // the range of the outermost view's mask
  Int hi_;
};

/// Any valid index of the stack. Tries a few points first, then slabs.
std::optional<Index> valid_point(std::span<const View> stack) {
  const View& top = stack.back();
  const std::size_t rank = top.rank();
  Ranges box(rank);
  Index point(rank);
  Index middle(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    box[d] = valid_range(top, d);
    if (box[d].hi <= box[d].lo) return std::nullopt;
    point[d] = box[d].lo.value();
    middle[d] = box[d].lo.value() + (box[d].extent().value() / 2);
  }
  if (position_of(stack, {middle.data(), rank})) return middle;
  for (std::int64_t looked = 0; looked < kWalk; ++looked) {
    if (position_of(stack, {point.data(), rank})) return point;
    std::size_t d = rank;
    while (d-- > 0 && ++point[d] == box[d].hi) point[d] = box[d].lo.value();
    if (d == static_cast<std::size_t>(-1)) return std::nullopt;  // all indices were tried
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const Range range = box[d];
    point[d] = first_break(range.lo.value(), range.hi.value(), [&](std::int64_t from, std::int64_t length) {
      box[d] = {from, from + length};
      return nowhere_valid(under(stack, top.shrink(box)));
    });
    if (point[d] == range.hi) return std::nullopt;
    box[d] = {point[d], point[d] + 1};
  }
  if (!position_of(stack, {point.data(), rank})) return std::nullopt;
  return point;
}

/// The stack over other axes with the same elements, merged.
Stack over_pieces(std::span<const View> stack, const Shape& pieces) {
  Stack views(stack.begin(), stack.end());
  if (std::optional<View> read = views.back().reshape(pieces)) {
    views.back() = std::move(*read);
  } else {
    views.push_back(View::contiguous(pieces));
  }
  merge_views(views);
  return views;
}

std::optional<Refinement> refine_checked(std::span<const View> stack) {
  const View& top = stack.back();
  const std::optional<Index> point = valid_point(stack);
  if (!point) return std::nullopt;
  Refinement refinement;
  Shape split;
  for (std::size_t d = 0; d < top.rank(); ++d) {
    std::optional<Ints> pieces = Line(stack, *point, d).pieces();
    if (!pieces) return std::nullopt;
    split.insert(split.end(), pieces->begin(), pieces->end());
    refinement.pieces.push_back(std::move(*pieces));
  }
  // If no axis is split, the stack cannot be one view: it was not one before.
  if (split.size() == top.rank()) return std::nullopt;
  std::optional<View> view = split_view(stack, split);
  if (!view) return std::nullopt;
  refinement.view = std::move(*view);
  return refinement;
}

std::optional<View> flatten_checked(std::span<const View> stack) {
  const View& top = stack.back();
  if (stack.size() == 1) return flat_view(top);
  if (const std::optional<Refinement> refinement = refine(stack)) return flat_view(refinement->view);
  if (top.rank() < 2) return std::nullopt;
  // The flat map may be one view even if the axes cut it in other places than its blocks.
  Stack views = over_pieces(stack, {top.numel()});
  if (views.size() == 1) return flat_view(views[0]);
  const std::optional<Refinement> refinement = refine({views.data(), views.size()});
  if (!refinement) return std::nullopt;
  return flat_view(refinement->view);
}

}  // namespace

std::optional<View> split_view(std::span<const View> innermost_first, const Shape& pieces) {
  Stack views = over_pieces(innermost_first, pieces);
  return views.size() == 1 ? std::optional(std::move(views[0])) : std::nullopt;
}

std::optional<Refinement> refine(std::span<const View> innermost_first) {
  try {
    return is_symbolic(innermost_first) ? refine_symbolic(innermost_first) : refine_checked(innermost_first);
  } catch (const ArithmeticOverflow&) {
    return std::nullopt;
  } catch (const OverflowError&) {
    return std::nullopt;
  }
}

void crop(Stack& stack) {
  View& top = stack.back();
  Ranges kept(top.rank());
  for (std::size_t d = 0; d < top.rank(); ++d) kept[d] = valid_range(top, d);
  for (std::size_t d = 0; d < top.rank(); ++d) {
    for (const bool from_end : {false, true}) {
      const Range range = kept[d];
      const std::int64_t extent = range.extent().value();
      const std::int64_t cut = first_break(0, extent, [&](std::int64_t from, std::int64_t length) {
        Ranges slab = kept;
        slab[d].lo = from_end ? range.hi - from - length : range.lo + from;
        slab[d].hi = slab[d].lo + length;
        return nowhere_valid(under({stack.data(), stack.size()}, top.shrink(slab)));
      });
      if (cut == extent) continue;  // no index is valid; the merge finds that
      kept[d] = from_end ? Range{range.lo, range.hi - cut} : Range{range.lo + cut, range.hi};
    }
  }
  top.mask = std::move(kept);
  canonicalize(top);
}

std::optional<View> flat_view(const View& view) {
  try {
    const SymInt count = view.numel();
    if (count == 0) return extentless_view({0});
    Blocks blocks;
    if (!split_blocks(view, blocks)) return invalid_view({count});
    View flat;
    if (blocks.list.empty()) blocks.list.push_back({1, 0, 0, 1});
    for (std::size_t k = blocks.list.size(); k-- > 0;) {
      const Block& block = blocks.list[k];
      flat.shape.push_back(block.extent);
      flat.strides.push_back(block.stride);
      flat.mask.push_back({block.lo, block.hi});
    }
    flat.offset = blocks.offset;
    canonicalize(flat);
    return flat;
  } catch (const OverflowError&) {
    return std::nullopt;
  }
}

std::optional<View> flatten(std::span<const View> innermost_first) {
  try {
    return flatten_checked(innermost_first);
  } catch (const OverflowError&) {
    return std::nullopt;
  }
}

}  // namespace oriel::detail
