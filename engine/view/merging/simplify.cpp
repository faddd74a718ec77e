#include "view/merging/simplify.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "view/canonical.hpp"
#include "view/merging/merge.hpp"
#include "view/merging/refine.hpp"
#include "view/positions.hpp"

namespace oriel::detail {
namespace {

std::span<const View> part(const Stack& stack, std::size_t first, std::size_t count) {
  return std::span<const View>(stack.data(), stack.size()).subspan(first, count);
}

void replace(Stack& stack, std::size_t first, std::size_t count, View&& view) {
  stack[first] = std::move(view);
  stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(first + 1),
              stack.begin() + static_cast<std::ptrdiff_t>(first + count));
}

/// Merges adjacent pairs, the topmost first, until none merges. `plain` says whether all views are plain, and is kept.
void merge_pairs(Stack& stack, bool& plain) {
  for (std::size_t k = stack.size() - 1; k > 0;) {
    MergeResult result = merge_as(stack[k], stack[k - 1], plain || is_plain(stack[k], stack[k - 1]));
    if (result.verdict == MergeVerdict::Merged) {
      plain = plain && is_plain(result.view);
      replace(stack, k - 1, 2, std::move(result.view));
      k = stack.size() - 1;
    } else {
      --k;
    }
  }
}

bool narrow_all(Stack& stack) {
  bool changed = false;
  for (std::size_t k = stack.size() - 1; k > 0; --k) changed = narrow(stack[k], stack[k - 1]) || changed;
  return changed;
}

void widen_all(Stack& stack) {
  if (stack.back().rank() == 0) return;
  for (std::size_t k = stack.size() - 1; k > 0; --k) {
    View& inner = stack[k - 1];
    View wider = inner;
    widen(stack[k], wider);
    // Positions that nothing reaches may lie outside the view below. If the mask keeps them inside, it stays, so that
    // from_views accepts the stack.
    if (k > 1 && wider.mask != inner.mask && !lies_inside(wider, stack[k - 2])) continue;
    inner = std::move(wider);
  }
}

/// The number of valid indices of the view, or budget + 1 if there are more than `budget`.
std::int64_t valid_count(const View& view, std::int64_t budget) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const Range range = valid_range(view, d);
    if (range.hi <= range.lo) return 0;
    if (__builtin_mul_overflow(count, range.extent().value(), &count)) count = budget + 1;
    count = std::min(count, budget + 1);
  }
  return count;
}

/// Replaces the whole stack, or a run of three or more views, by one view found by fit, the longest run first. merge
/// decides pairs.
bool fit_part(Stack& stack) {
  constexpr std::size_t kLongest =
      64;  // the longest run: trying all runs of a long stack takes time cubic in its length
  const auto fit_run = [&stack](std::size_t first, std::size_t length) {
    if (valid_count(stack[first + length - 1], kSearchBudget) > kSearchBudget) return false;
    std::optional<View> view = fit(part(stack, first, length));
    if (view) replace(stack, first, length, std::move(*view));
    return view.has_value();
  };
  if (stack.size() > kLongest && fit_run(0, stack.size())) return true;
  for (std::size_t length = std::min(stack.size(), kLongest); length > 2; --length) {
    for (std::size_t first = stack.size() - length + 1; first-- > 0;) {
      if (fit_run(first, length)) return true;
    }
  }
  return false;
}

/// A scalar has one index, so its position is the whole map. An invalid scalar needs two views, because a mask without
/// axes cannot exclude the index.
void simplify_scalar(Stack& stack) {
  const std::optional<std::int64_t> position = position_of({stack.data(), stack.size()}, {});
  stack.resize(1);
  stack[0] = View::contiguous({});
  if (position) {
    stack[0].offset = *position;
  } else {
    stack.insert(stack.begin(), invalid_view({1}));
  }
}

/// For stacks of three or more views. Replaces a run whose flat map is one view by that view, the longest run first.
/// The views above read the run by flat index, so they keep their shapes.
bool flatten_part(Stack& stack) {
  constexpr std::size_t kLongest = 4;  // so that a long stack costs a few lookups per view
  if (stack.size() < 3) return false;
  for (std::size_t length = std::min(stack.size(), kLongest); length > 1; --length) {
    for (std::size_t first = stack.size() - length + 1; first-- > 0;) {
      const bool topmost = first + length == stack.size();
      if (topmost && length == 2) continue;
      std::optional<View> flat = flatten(part(stack, first, length));
      if (!flat) continue;
      if (topmost) stack.push_back(View::contiguous(stack.back().shape));
      replace(stack, first, length, std::move(*flat));
      return true;
    }
  }
  return false;
}

}  // namespace

void merge_views(Stack& stack) {
  bool plain = true;
  for (View& view : stack) {
    const bool this_plain = is_plain(view);
    this_plain ? canonicalize_as<Plain>(view) : canonicalize_as<SymInt>(view);
    plain = plain && this_plain;
  }
  if (stack.size() == 1) return;
  if (!plain && is_symbolic({stack.data(), stack.size()})) {
    merge_pairs(stack, plain);  // the other steps need numbers
    return;
  }
  if (stack.back().rank() == 0) {
    simplify_scalar(stack);
    return;
  }
  while (true) {
    merge_pairs(stack, plain);
    if (stack.size() == 1 || !(narrow_all(stack) || (stack.size() > 2 && fit_part(stack)))) return;
    plain = false;  // some views are new
  }
}

void simplify(Stack& stack) {
  do {
    merge_views(stack);
    if (stack.size() == 1 || is_symbolic({stack.data(), stack.size()})) return;
  } while (flatten_part(stack));
  widen_all(stack);
}

ShapeTracker merged(const ShapeTracker& tracker) {
  Stack stack(tracker.views().begin(), tracker.views().end());
  merge_views(stack);
  if (!is_symbolic({stack.data(), stack.size()})) widen_all(stack);
  return trusted_stack({stack.data(), stack.size()});
}

}  // namespace oriel::detail
