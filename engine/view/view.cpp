#include "oriel/view.hpp"

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"
#include "view/needed.hpp"
#include "view/positions.hpp"
#include "view/reshape.hpp"

namespace oriel {
namespace {

using detail::canonicalize;
using detail::Number;

std::string axes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " axis" : " axes"); }

/// Runs `body`; an overflow inside is reported with the movement's name and shape.
template <class Body>
View checked(const char* operation, const Shape& shape, Body body) {
  try {
    return body();
  } catch (const OverflowError& error) {
    throw OverflowError(operation,
                        "size arithmetic on shape " + to_string(shape) + " overflows (" + error.what() + ")");
  }
}

/// The view that `work` finds from these sizes, with the guards on which it rests.
template <class Work, class... Sizes>
[[gnu::noinline]] View view_over(const Work& work, const Sizes&... sizes) {
  return detail::view_with_needed_guards(detail::some_node(sizes...), work);
}

void require_count(const char* operation, const char* what, std::size_t count, const Shape& shape) {
  if (count == shape.size()) return;
  throw ShapeError(operation, "got " + std::to_string(count) + " " + what + " for shape " + to_string(shape) +
                                  "; give one for each of its " + axes_text(shape.size()));
}

void require_extents(const char* operation, const Shape& shape) {
  for (const SymInt extent : shape) {
    if (extent.representation() < 0 && !sym::state_size(extent) && extent < 0) {
      throw ShapeError(operation, "extent " + to_string(extent) + " in shape " + to_string(shape) +
                                      " is negative; extents must be 0 or more");
    }
  }
}

std::string range_text(const Range& range) { return to_string(range.lo) + ":" + to_string(range.hi); }

/// The length of the prefix of `ranges` in which 0 <= lo <= hi <= extent holds for plain numbers. Expressions have
/// negative representations, so this order holds for plain numbers only.
std::size_t plain_ranges(const Ranges& ranges, const Shape& shape) {
  std::size_t d = 0;
  for (; d < ranges.size(); ++d) {
    const std::int64_t lo = ranges[d].lo.representation();
    const std::int64_t hi = ranges[d].hi.representation();
    if (lo < 0 || hi < lo || shape[d].representation() < hi) break;
  }
  return d;
}

/// Throws ShapeError unless 0 <= lo <= hi <= extent holds for the ranges from axis d on.
void require_ranges(const char* operation, const char* what, const Ranges& ranges, const Shape& shape, std::size_t d) {
  for (; d < ranges.size(); ++d) {
    const SymBool inside[] = {ranges[d].lo >= 0, ranges[d].hi >= ranges[d].lo, ranges[d].hi <= shape[d]};
    if (sym::all_of(inside)) continue;
    throw ShapeError(operation, std::string(what) + " " + range_text(ranges[d]) + " of axis " + std::to_string(d) +
                                    " of shape " + to_string(shape) +
                                    " does not satisfy 0 <= lo <= hi <= " + to_string(shape[d]));
  }
}

template <Number N>
View contiguous_as(const Shape& shape) {
  View view;
  view.shape = shape;
  view.strides.resize(shape.size());
  N step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const N extent(shape[d]);
    if (detail::known_one(extent)) continue;
    view.strides[d] = step;
    step *= extent;
  }
  return view;
}

template <Number N>
View shrink_as(const View& from, const Ranges& ranges) {
  View view = from;
  for (std::size_t d = 0; d < ranges.size(); ++d) view.shape[d] = N(ranges[d].hi) - N(ranges[d].lo);
  for (std::size_t d = 0; d < view.mask.size(); ++d) {
    const N from_lo(ranges[d].lo);
    N lo(view.mask[d].lo);
    N hi(view.mask[d].hi);
    if (from_lo > lo) lo = from_lo;
    if (N(ranges[d].hi) < hi) hi = N(ranges[d].hi);
    if (hi > lo) {
      view.mask[d] = {lo - from_lo, hi - from_lo};
    } else {
      view.mask[d] = {0, 0};
    }
  }
  detail::Assumptions<N> assumed;  // the offset of a view without valid indices is free
  if (!detail::lacks_indices(view.shape, assumed) && !detail::lacks_valid(view.mask, assumed)) {
    N offset(view.offset);
    for (std::size_t d = 0; d < ranges.size(); ++d) offset += N(view.strides[d]) * N(ranges[d].lo);
    view.offset = offset;
  }
  detail::canonicalize_as<N>(view);
  return view;
}

template <Number N>
View pad_as(const View& from, const Ranges& before_after) {
  View view = from;
  const bool masked = !view.mask.empty();
  if (!masked) view.mask.resize(view.shape.size());
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const N before(before_after[d].lo);
    const N extent(view.shape[d]);
    const N lo = masked ? N(view.mask[d].lo) : N(0);
    const N hi = masked ? N(view.mask[d].hi) : extent;
    view.shape[d] = extent + (before + N(before_after[d].hi));
    view.mask[d] = {lo + before, hi + before};
  }
  oriel::numel(view.shape, "pad");
  detail::Assumptions<N> assumed;  // the offset of a view without valid indices is free
  if (!detail::lacks_valid(view.mask, assumed)) {
    N offset(view.offset);
    for (std::size_t d = 0; d < view.shape.size(); ++d) offset -= N(view.strides[d]) * N(before_after[d].lo);
    view.offset = offset;
  }
  detail::canonicalize_as<N>(view);
  return view;
}

using Flags = InlineVector<bool, 16>;

template <Number N>
View flip_as(const View& from, const Flags& flipped) {
  View view = from;
  detail::canonicalize_as<N>(view);  // first, so that strides that no valid index uses cannot overflow below
  if (!view.mask.empty() && identical(view.mask[0].hi, 0)) return view;  // invalid everywhere
  N offset = detail::read<N>(view.offset);
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (!flipped[d]) continue;
    const N extent(view.shape[d]);
    const N stride(view.strides[d]);
    if (!detail::is_zero(stride)) {
      offset += stride * (extent - 1);
      view.strides[d] = -stride;
    }
    if (!view.mask.empty()) view.mask[d] = {extent - N(view.mask[d].hi), extent - N(view.mask[d].lo)};
  }
  view.offset = offset;
  return view;
}

template <Number N>
std::optional<View> reshape_as(const View& from, const Shape& target) {
  detail::BasicBlocks<N> blocks;
  if (detail::lacks_indices(target, blocks.assumed)) return detail::extentless_view(target);
  try {
    if (!detail::split_blocks(from, blocks)) {
      if (target.empty()) return std::nullopt;
      return detail::invalid_view(target);
    }
    std::optional<View> view(std::in_place);
    if (!detail::reshape_blocks(blocks, target, view->strides, view->mask)) return std::nullopt;
    view->shape = target;
    view->offset = blocks.offset;
    detail::canonicalize_as<N>(*view);
    return view;
  } catch (const OverflowError&) {
    return std::nullopt;  // the single view would need a stride or an offset beyond 64 bits
  }
}

}  // namespace

View View::contiguous(const Shape& shape) {
  if (detail::is_plain_positive(shape)) {
    oriel::numel(shape, "contiguous");
    return contiguous_as<detail::Plain>(shape);
  }
  require_extents("contiguous", shape);
  detail::Assumptions<SymInt> assumed;  // the strides of a shape without indices are free
  if (detail::lacks_indices(shape, assumed)) return detail::extentless_view(shape);
  oriel::numel(shape, "contiguous");
  return contiguous_as<SymInt>(shape);
}

View View::make(Shape shape, Ints strides, SymInt offset, Ranges mask) {
  require_extents("view", shape);
  require_count("view", "strides", strides.size(), shape);
  if (!mask.empty()) require_count("view", "mask ranges", mask.size(), shape);
  if (const std::size_t d = plain_ranges(mask, shape); d < mask.size()) {
    require_ranges("view", "mask range", mask, shape, d);
  }
  oriel::numel(shape, "view");
  View view{std::move(shape), std::move(strides), offset, std::move(mask)};
  return checked("view", view.shape, [&] {
    if (!detail::is_symbolic(view)) detail::position_range(view);  // throws unless every valid position fits 64 bits
    return std::move(view);
  });
}

std::optional<std::int64_t> View::at(std::span<const std::int64_t> i) const {
  // Partial sums may overflow although every valid position fits, so the sum is computed modulo 2^64.
  auto position = static_cast<std::uint64_t>(offset.value());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!mask.empty() && (i[d] < mask[d].lo || i[d] >= mask[d].hi)) return std::nullopt;
    position += static_cast<std::uint64_t>(strides[d].value()) * static_cast<std::uint64_t>(i[d]);
  }
  return static_cast<std::int64_t>(position);
}

View View::permute(const Ints& order) const {
  require_count("permute", "axes", order.size(), shape);
  const std::size_t n = shape.size();
  View view;
  view.shape.resize(n);
  view.strides.resize(n);
  view.mask.resize(mask.size());
  view.offset = offset;
  Flags seen(n, false);
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t from = order[d].value();
    if (from < 0 || from >= static_cast<std::int64_t>(n) || seen[static_cast<std::size_t>(from)]) {
      throw ShapeError("permute", "order " + to_string(order) + " for shape " + to_string(shape) +
                                      " is not a permutation; name each axis from 0 to " + std::to_string(n - 1) +
                                      " once");
    }
    const auto source = static_cast<std::size_t>(from);
    seen[source] = true;
    view.shape[d] = shape[source];
    view.strides[d] = strides[source];
    if (!mask.empty()) view.mask[d] = mask[source];
  }
  return checked("permute", shape, [&] {
    canonicalize(view);
    return std::move(view);
  });
}

View View::expand(const Shape& target) const {
  require_count("expand", "extents", target.size(), shape);
  require_extents("expand", target);
  View view = *this;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (identical(target[d], shape[d])) continue;
    // An axis of extent 1 can take any extent. Whether the target is also 1 is not asked.
    const bool grows = sym::known(shape[d] == 1).value_or(false);
    if (!grows && target[d] == shape[d]) continue;
    if (!grows && shape[d] != 1) {
      throw ShapeError("expand", "axis " + std::to_string(d) + " of shape " + to_string(shape) + " has extent " +
                                     to_string(shape[d]) + " and cannot become " + to_string(target[d]) +
                                     "; only axes of extent 1 grow");
    }
    view.shape[d] = target[d];
    view.strides[d] = 0;
    if (!mask.empty() && mask[d].lo < mask[d].hi) view.mask[d] = {0, target[d]};
  }
  oriel::numel(target, "expand");
  return checked("expand", shape, [&] {
    canonicalize(view);
    return std::move(view);
  });
}

View View::shrink(const Ranges& ranges) const {
  require_count("shrink", "ranges", ranges.size(), shape);
  const std::size_t in_order = plain_ranges(ranges, shape);
  if (in_order < ranges.size()) require_ranges("shrink", "range", ranges, shape, in_order);
  return checked("shrink", shape, [&] {
    // If the ranges are plain and in order, the shape is plain too.
    return in_order == ranges.size() && detail::is_plain(strides, offset, mask)
               ? shrink_as<detail::Plain>(*this, ranges)
               : view_over([&] { return shrink_as<SymInt>(*this, ranges); }, *this, ranges);
  });
}

View View::pad(const Ranges& before_after) const {
  require_count("pad", "pairs", before_after.size(), shape);
  std::int64_t bits = 0;
  for (const Range& pair : before_after) bits |= pair.lo.representation() | pair.hi.representation();
  for (std::size_t d = 0; bits < 0 && d < before_after.size(); ++d) {
    if (before_after[d].lo < 0 || before_after[d].hi < 0) {
      throw ShapeError("pad", "amounts " + to_string(before_after[d].lo) + " before and " +
                                  to_string(before_after[d].hi) + " after axis " + std::to_string(d) + " of shape " +
                                  to_string(shape) + " must both be 0 or more; use shrink to cut");
    }
  }
  return checked("pad", shape, [&] {
    return bits >= 0 && detail::is_plain(*this)
               ? pad_as<detail::Plain>(*this, before_after)
               : view_over([&] { return pad_as<SymInt>(*this, before_after); }, *this, before_after);
  });
}

View View::flip(const Ints& axes) const {
  Flags flipped(shape.size(), false);
  for (const SymInt axis : axes) {
    const std::int64_t d = axis.value();
    if (d < 0 || d >= static_cast<std::int64_t>(shape.size()) || flipped[static_cast<std::size_t>(d)]) {
      throw ShapeError("flip", "axes " + to_string(axes) + " for shape " + to_string(shape) +
                                   " must each be named once and lie in 0 <= axis < " + std::to_string(shape.size()));
    }
    flipped[static_cast<std::size_t>(d)] = true;
  }
  return checked("flip", shape, [&] {
    return detail::is_plain(*this) ? flip_as<detail::Plain>(*this, flipped) : flip_as<SymInt>(*this, flipped);
  });
}

std::optional<View> View::reshape(const Shape& target) const {
  const bool plain = detail::is_plain_positive(target) && detail::is_plain(*this);
  if (!plain) require_extents("reshape", target);
  if (oriel::numel(target, "reshape") != numel()) {
    throw ShapeError("reshape", "shape " + to_string(shape) + " of " + to_string(numel()) + " elements cannot become " +
                                    to_string(target) + " of " + to_string(oriel::numel(target)) +
                                    "; the element counts must agree");
  }
  if (plain) return reshape_as<detail::Plain>(*this, target);
  return detail::view_if_any_with_needed_guards(detail::some_node(*this, target),
                                                [&] { return reshape_as<SymInt>(*this, target); });
}

View View::canonical() const {
  return checked("canonical", shape, [&] {
    View view = *this;
    canonicalize(view);
    return view;
  });
}

bool View::is_contiguous() const { return canonical() == contiguous(shape); }

std::string View::str() const {
  const auto list = [](const Ints& ints) {
    std::string text = "(";
    for (std::size_t d = 0; d < ints.size(); ++d) text += (d > 0 ? "," : "") + to_string(ints[d]);
    return text + ")";
  };
  std::string text = list(shape) + ":" + list(strides);
  if (!identical(offset, 0)) {
    const std::string number = to_string(offset);
    text += (number.starts_with('-') ? "" : "+") + number;
  }
  if (!mask.empty()) {
    text += "[";
    for (std::size_t d = 0; d < mask.size(); ++d) text += (d > 0 ? "," : "") + range_text(mask[d]);
    text += ")";
  }
  return text;
}

}  // namespace oriel
