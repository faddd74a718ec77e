// The normal form of stacks with equal maps. It is complete if the stack, after cropping and dropping repeated axes, is
// one view of flat indices. For other stacks it applies some cheap steps.
#include <algorithm>

#include "base/checked.hpp"
#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/merging/refine.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel::detail {
namespace {

std::span<const View> all(const Stack& stack) { return {stack.data(), stack.size()}; }

/// The core of a view: only the axes along which it moves, cut to its mask. This removes pads and repeats.
View core_of(const View& top, InlineVector<std::size_t, 8>& axes) {
  View core;
  core.offset = top.offset;
  for (std::size_t d = 0; d < top.rank(); ++d) {
    const Range range = valid_range(top, d);
    if (top.strides[d] == 0) continue;
    axes.push_back(d);
    core.shape.push_back(range.extent());
    core.strides.push_back(top.strides[d]);
    core.offset += top.strides[d] * range.lo;
  }
  canonicalize(core);
  return core;
}

/// If the stack's flat map is one view, puts the stack into its normal form and returns true. Complete, by Theorem U.
bool flatten_whole(Stack& stack) {
  std::optional<View> flat = flatten(all(stack));
  if (!flat) return false;
  View top = View::contiguous(stack.back().shape);
  stack.clear();
  stack.push_back(std::move(*flat));
  stack.push_back(std::move(top));
  return true;
}

/// If the stack's core is one view of flat indices, puts the stack into its normal form and returns true. Complete: two
/// stacks with the same map have the same valid box, the same core and, by Theorem U, the same blocks.
bool flatten_core(Stack& stack) {
  View& top = stack.back();
  InlineVector<std::size_t, 8> axes;
  Stack core(stack.begin(), stack.end() - 1);
  core.push_back(core_of(top, axes));
  std::optional<View> flat = flatten(all(core));
  if (!flat) return false;
  View form = extentless_view(top.shape);
  form.mask = top.mask;
  SymInt step = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const Range range = valid_range(top, axes[k]);
    form.strides[axes[k]] = step;
    form.offset -= step * range.lo;
    step *= range.extent();
  }
  canonicalize(form);
  stack.clear();
  stack.push_back(std::move(*flat));
  stack.push_back(std::move(form));
  return true;
}

/// Two adjacent views that do not merge. Each step below rewrites the pair without changing the map. The steps are
/// repeated until none changes anything.
class Pair {
 public:
  Pair(View& outer, View& inner) : outer_(outer), inner_(inner) {}

  void normalise() {
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds; ++round) {
      const View outer = outer_;
      const View inner = inner_;
      narrow(outer_, inner_);
      std::optional<View> flat = flat_view(inner_);
      if (!flat) return;
      inner_ = std::move(*flat);
      explicit_mask();
      start_masks_at_zero();
      start_at_row_zero();
      divide_steps();
      turn_upwards();
      canonicalize(outer_);
      canonicalize(inner_);
      widen(outer_, inner_);
      if (outer_ == outer && inner_ == inner) return;
    }
  }

 private:
  void explicit_mask() {
    if (inner_.masked()) return;
    for (const SymInt extent : inner_.shape) inner_.mask.push_back({0, extent});
  }

  /// For axes after the first only the set of valid residues matters, not where it begins: the outer view is shifted so
  /// that masks start at 0.
  void start_masks_at_zero() {
    SymInt width = 1;
    for (std::size_t d = inner_.rank(); d-- > 1;) {
      Range& range = inner_.mask[d];
      outer_.offset -= width * range.lo;
      inner_.offset += inner_.strides[d] * range.lo;
      range = {0, range.extent()};
      width *= inner_.shape[d];
    }
  }

  /// Reduces the first axis to the rows that the outer view reaches.
  void start_at_row_zero() {
    const std::optional<PositionRange> reached = position_range(outer_);
    if (!reached) return;
    Int width = 1;
    for (std::size_t d = 1; d < inner_.rank(); ++d) width *= Int(inner_.shape[d]);
    const SymInt first = (Int(reached->least) / width).value();
    const SymInt rows = (Int(reached->greatest) / width + 1).value() - first;
    outer_.offset -= first * width.value();
    inner_.offset += inner_.strides[0] * first;
    const auto clamped = [&](SymInt row) { return std::clamp<SymInt>(row - first, 0, rows); };
    inner_.mask[0] = {clamped(inner_.mask[0].lo), clamped(inner_.mask[0].hi)};
    inner_.shape[0] = rows;
  }

  /// If all steps skip the same residues of the last axis, those residues are removed.
  void divide_steps() {
    Int step = Int(inner_.shape.back());
    for (const SymInt stride : outer_.strides) step = gcd(step, Int(stride));
    if (step <= 1) return;
    const Int rest = Int(outer_.offset) % step;
    for (SymInt& stride : outer_.strides) stride = (Int(stride) / step).value();
    outer_.offset = (Int(outer_.offset) / step).value();
    inner_.offset += inner_.strides.back() * rest.value();
    inner_.strides.back() *= step.value();
    inner_.shape.back() = (Int(inner_.shape.back()) / step).value();
    Range& range = inner_.mask.back();
    range = {std::max(ceil_div(Int(range.lo) - rest, step), Int(0)).value(),
             ceil_div(Int(range.hi) - rest, step).value()};
  }

  /// Makes the first step of the outer view positive, by reversing the inner view if necessary.
  void turn_upwards() {
    const auto moves = std::find_if(outer_.strides.begin(), outer_.strides.end(), [](SymInt s) { return s != 0; });
    if (moves == outer_.strides.end() || *moves > 0) return;
    for (SymInt& stride : outer_.strides) stride = -stride;
    outer_.offset = inner_.numel() - 1 - outer_.offset;
    for (std::size_t d = 0; d < inner_.rank(); ++d) {
      const SymInt extent = inner_.shape[d];
      inner_.offset += inner_.strides[d] * (extent - 1);
      inner_.strides[d] = -inner_.strides[d];
      inner_.mask[d] = {extent - inner_.mask[d].hi, extent - inner_.mask[d].lo};
    }
  }

  View& outer_;
  View& inner_;
};

}  // namespace

void canonicalize(Stack& stack) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    simplify(stack);
    if (stack.size() < 2 || stack.back().rank() == 0 || is_symbolic(all(stack))) return;
    const Stack simple = stack;
    try {
      if (flatten_whole(stack)) return;
      crop(stack);
      if (flatten_core(stack)) return;
      for (std::size_t k = stack.size() - 1; k > 0; --k) Pair(stack[k], stack[k - 1]).normalise();
    } catch (const ArithmeticOverflow&) {
      stack = simple;
    } catch (const OverflowError&) {
      stack = simple;
    }
    if (stack == simple) return;
  }
}

}  // namespace oriel::detail
