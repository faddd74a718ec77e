#include "view/canonical.hpp"

#include <algorithm>

#include "oriel/error.hpp"

namespace oriel::detail {

View extentless_view(const Shape& shape) {
  View view;
  view.shape = shape;
  view.strides.resize(shape.size());
  return view;
}

View invalid_view(const Shape& shape) {
  View view = extentless_view(shape);
  view.mask.resize(shape.size());
  return view;
}

bool is_symbolic(const Ints& sizes) noexcept {
  return std::ranges::any_of(sizes, [](SymInt size) { return size.is_symbolic(); });
}

bool is_symbolic(const View& view) noexcept {
  if (is_plain(view)) return false;
  return is_symbolic(view.shape) || is_symbolic(view.strides) || view.offset.is_symbolic() ||
         std::ranges::any_of(view.mask,
                             [](const Range& range) { return range.lo.is_symbolic() || range.hi.is_symbolic(); });
}

bool has_zero_extent(const Shape& shape) {
  return is_plain(shape) ? has_zero_extent_as<Plain>(shape) : has_zero_extent_as<SymInt>(shape);
}

bool has_empty_range(const Ranges& mask) {
  return is_plain(mask) ? has_empty_range_as<Plain>(mask) : has_empty_range_as<SymInt>(mask);
}

namespace {

/// True if one of the conditions is known to hold, or holds for the hints. The latter records a guard. Otherwise false,
/// and the conditions whose opposite is not known are noted in `assumed`.
bool assume_none(std::span<const SymBool> conditions, Assumptions<SymInt>& assumed) {
  for (const SymBool condition : conditions) {
    if (sym::known(condition).value_or(false)) return true;
  }
  for (const SymBool condition : conditions) {
    if (sym::hint(condition).value_or(false)) return sym::any_of(conditions);
  }
  for (const SymBool condition : conditions) {
    if (!sym::known(condition)) assumed.conditions.push_back(condition.negated());
  }
  return false;
}

/// True if all conditions are known to hold, or hold for the hints. The latter records guards. Otherwise false, and the
/// first condition that fails for the hints is noted in `assumed`, unless one is known to fail.
bool assume_not_all(std::span<const SymBool> conditions, Assumptions<SymInt>& assumed) {
  for (const SymBool condition : conditions) {
    if (sym::known(condition) == false) return false;
  }
  for (const SymBool condition : conditions) {
    if (sym::hint(condition) != false) continue;
    assumed.conditions.push_back(condition.negated());
    return false;
  }
  return sym::all_of(conditions);
}

}  // namespace

bool is_one(SymInt n, Assumptions<SymInt>& assumed) {
  const SymBool one[] = {or_false(n == 1)};
  return assume_none(one, assumed);
}

bool is_full(SymInt lo, SymInt hi, SymInt extent, Assumptions<SymInt>& assumed) {
  const SymBool conditions[] = {lo == 0, hi == extent};
  return assume_not_all(conditions, assumed);
}

bool fills(SymInt width, SymInt extent, Assumptions<SymInt>& assumed) {
  const SymBool equal = or_false(width == extent);
  if (const auto known = sym::known(equal)) return *known;
  if (sym::hint(equal).value_or(true)) return equal;
  assumed.conditions.push_back(equal.negated());
  return false;
}

bool lacks_indices(const Shape& shape, Assumptions<SymInt>& assumed) {
  sym::Conditions zero;
  for (const SymInt extent : shape) zero.push_back(or_false(extent == 0));
  return assume_none({zero.data(), zero.size()}, assumed);
}

bool lacks_valid(const Ranges& mask, Assumptions<SymInt>& assumed) {
  sym::Conditions empty;
  for (const Range& range : mask) empty.push_back(or_false(range.hi <= range.lo));
  return assume_none({empty.data(), empty.size()}, assumed);
}

template <Number N>
void canonicalize_as(View& view) {
  Assumptions<N> assumed;  // no answer rests on them
  if (lacks_indices(view.shape, assumed)) {
    view = extentless_view(view.shape);
    return;
  }
  const std::size_t rank = view.shape.size();
  if (view.mask.empty()) {
    for (std::size_t d = 0; d < rank; ++d) {
      if (known_one(N(view.shape[d]))) view.strides[d] = 0;
    }
    return;
  }
  if (lacks_valid(view.mask, assumed)) {
    view = invalid_view(view.shape);
    return;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (identical(view.strides[d], 0) || !known_one(N(view.mask[d].hi) - N(view.mask[d].lo))) continue;
    view.offset += view.strides[d] * view.mask[d].lo;  // either may be beyond what Plain reads
    view.strides[d] = 0;
  }
  for (std::size_t d = 0; d < rank; ++d) {
    if (!is_full(N(view.mask[d].lo), N(view.mask[d].hi), N(view.shape[d]), assumed)) return;
  }
  view.mask.clear();
}

template void canonicalize_as<Plain>(View& view);
template void canonicalize_as<SymInt>(View& view);

void canonicalize(View& view) { is_plain(view) ? canonicalize_as<Plain>(view) : canonicalize_as<SymInt>(view); }

namespace {

/// True if one step along the outer axis equals a walk through the whole inner block. A product that overflows equals
/// no stride.
bool continues(Plain outer_stride, const BasicBlock<Plain>& inner, Assumptions<Plain>& assumed) {
  std::int64_t walked = 0;
  return inner.full(assumed) && !__builtin_mul_overflow(inner.extent.value(), inner.stride.value(), &walked) &&
         outer_stride == walked;
}

bool continues(SymInt outer_stride, const Block& inner, Assumptions<SymInt>& assumed) {
  try {
    const SymInt walked = inner.extent * inner.stride;
    const SymBool conditions[] = {inner.lo == 0, inner.hi == inner.extent, outer_stride == walked};
    return assume_not_all(conditions, assumed);
  } catch (const OverflowError&) {
    return false;
  }
}

}  // namespace

void Assumptions<SymInt>::refuse() const { refuse(ends.size()); }

void Assumptions<SymInt>::refuse(std::size_t block) const {
  const std::size_t count = block < ends.size() ? ends[block] : conditions.size();
  for (std::size_t k = 0; k < count; ++k) static_cast<void>(static_cast<bool>(conditions[k]));
}

template <Number N>
bool split_blocks(const View& view, BasicBlocks<N>& blocks) {
  if (lacks_indices(view.shape, blocks.assumed) || lacks_valid(view.mask, blocks.assumed)) return false;
  auto& list = blocks.list;
  list.clear();
  blocks.offset = N(view.offset);
  Assumptions<N> unused;  // an axis that continues the block below may also have one position: the block is the same
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    const N extent(view.shape[d]);
    const bool masked = !view.mask.empty();
    if (is_one(extent, unused)) {
      // No block says that the mask contains the only position, so this has to be certain.
      if (masked) static_cast<void>(is_one(N(view.mask[d].hi) - N(view.mask[d].lo), unused));
      continue;
    }
    const BasicBlock<N> axis{extent, N(view.strides[d]), masked ? N(view.mask[d].lo) : N(0),
                             masked ? N(view.mask[d].hi) : extent};
    const bool one_position = masked && is_one(axis.hi - axis.lo, unused);
    if (list.empty()) {
      list.push_back(axis);
      if (one_position) {
        blocks.offset += axis.stride * axis.lo;
        list.back().stride = 0;
      }
      continue;
    }
    BasicBlock<N>& below = list.back();
    if (one_position) {
      // The stride of an axis with one valid position is free: choose the one that continues the block below.
      if (!is_zero(axis.lo)) blocks.offset += (axis.stride - below.extent * below.stride) * axis.lo;
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent + below.lo,
               axis.lo * below.extent + below.hi};
    } else if (continues(axis.stride, below, blocks.assumed)) {
      below = {axis.extent * below.extent, below.stride, axis.lo * below.extent, axis.hi * below.extent};
    } else {
      if (list.size() == 1) static_cast<void>(is_one(below.hi - below.lo, blocks.assumed));
      static_cast<void>(is_one(axis.hi - axis.lo, blocks.assumed));
      blocks.assumed.end_block();
      list.push_back(axis);
    }
  }
  return true;
}

template bool split_blocks(const View& view, BasicBlocks<Plain>& blocks);
template bool split_blocks(const View& view, BasicBlocks<SymInt>& blocks);

ShapeTracker trusted_stack(std::span<const View> innermost_first) {
  ShapeTracker tracker;
  for (View view : innermost_first) {
    canonicalize(view);
    tracker.views_.push_back(std::move(view));
  }
  return tracker;
}

}  // namespace oriel::detail
