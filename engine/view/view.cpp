#include "oriel/view.hpp"

#include <boost/container/small_vector.hpp>
#include <boost/container_hash/hash.hpp>

#include "oriel/error.hpp"
#include "view/canonical.hpp"
#include "view/positions.hpp"
#include "view/reshape.hpp"

namespace oriel {
namespace {

using detail::canonicalize;

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

void require_count(const char* operation, const char* what, std::size_t count, const Shape& shape) {
  if (count == shape.size()) return;
  throw ShapeError(operation, "got " + std::to_string(count) + " " + what + " for shape " + to_string(shape) +
                                  "; give one for each of its " + axes_text(shape.size()));
}

void require_extents(const char* operation, const Shape& shape) {
  for (const SymInt extent : shape) {
    if (extent < 0) {
      throw ShapeError(operation, "extent " + to_string(extent) + " in shape " + to_string(shape) +
                                      " is negative; extents must be 0 or more");
    }
  }
}

std::string range_text(const Range& range) { return to_string(range.lo) + ":" + to_string(range.hi); }

}  // namespace

View View::contiguous(const Shape& shape) {
  require_extents("contiguous", shape);
  View view;
  view.shape = shape;
  if (detail::has_zero_extent(shape)) {
    view.strides.resize(shape.size());
    return view;
  }
  oriel::numel(shape, "contiguous");
  view.strides.resize(shape.size());
  SymInt step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    view.strides[d] = step;
    step *= shape[d];
  }
  return view;
}

View View::make(Shape shape, Ints strides, SymInt offset, Ranges mask) {
  require_extents("view", shape);
  require_count("view", "strides", strides.size(), shape);
  if (!mask.empty()) require_count("view", "mask ranges", mask.size(), shape);
  for (std::size_t d = 0; d < mask.size(); ++d) {
    if (mask[d].lo < 0 || mask[d].hi < mask[d].lo || mask[d].hi > shape[d]) {
      throw ShapeError("view", "mask range " + range_text(mask[d]) + " of axis " + std::to_string(d) + " of shape " +
                                   to_string(shape) + " does not satisfy 0 <= lo <= hi <= " + to_string(shape[d]));
    }
  }
  oriel::numel(shape, "view");
  View view{std::move(shape), std::move(strides), offset, std::move(mask)};
  return checked("view", view.shape, [&] {
    detail::position_range(view);  // throws unless every valid position fits 64 bits
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
  boost::container::small_vector<bool, 16> seen(n, false);
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
    if (target[d] == shape[d]) continue;
    if (shape[d] != 1) {
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
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    if (ranges[d].lo < 0 || ranges[d].hi < ranges[d].lo || ranges[d].hi > shape[d]) {
      throw ShapeError("shrink", "range " + range_text(ranges[d]) + " of axis " + std::to_string(d) + " of shape " +
                                     to_string(shape) + " does not satisfy 0 <= lo <= hi <= " + to_string(shape[d]));
    }
  }
  return checked("shrink", shape, [&] {
    View view = *this;
    for (std::size_t d = 0; d < ranges.size(); ++d) view.shape[d] = ranges[d].hi - ranges[d].lo;
    for (std::size_t d = 0; d < mask.size(); ++d) {
      const SymInt lo = mask[d].lo > ranges[d].lo ? mask[d].lo : ranges[d].lo;
      const SymInt hi = mask[d].hi < ranges[d].hi ? mask[d].hi : ranges[d].hi;
      view.mask[d] = hi > lo ? Range{lo - ranges[d].lo, hi - ranges[d].lo} : Range{0, 0};
    }
    if (!detail::has_zero_extent(view.shape) && !detail::has_empty_range(view.mask)) {
      for (std::size_t d = 0; d < ranges.size(); ++d) view.offset += strides[d] * ranges[d].lo;
    }
    canonicalize(view);
    return view;
  });
}

View View::pad(const Ranges& before_after) const {
  require_count("pad", "pairs", before_after.size(), shape);
  for (std::size_t d = 0; d < before_after.size(); ++d) {
    if (before_after[d].lo < 0 || before_after[d].hi < 0) {
      throw ShapeError("pad", "amounts " + to_string(before_after[d].lo) + " before and " +
                                  to_string(before_after[d].hi) + " after axis " + std::to_string(d) + " of shape " +
                                  to_string(shape) + " must both be 0 or more; use shrink to cut");
    }
  }
  return checked("pad", shape, [&] {
    View view = *this;
    if (mask.empty()) view.mask.resize(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const SymInt before = before_after[d].lo;
      const Range range = detail::valid_range(*this, d);
      view.shape[d] += before + before_after[d].hi;
      view.mask[d] = {range.lo + before, range.hi + before};
    }
    oriel::numel(view.shape, "pad");
    if (!detail::has_empty_range(view.mask)) {
      for (std::size_t d = 0; d < shape.size(); ++d) view.offset -= strides[d] * before_after[d].lo;
    }
    canonicalize(view);
    return view;
  });
}

View View::flip(const Ints& axes) const {
  boost::container::small_vector<bool, 16> flipped(shape.size(), false);
  for (const SymInt axis : axes) {
    if (axis < 0 || axis.value() >= static_cast<std::int64_t>(shape.size()) ||
        flipped[static_cast<std::size_t>(axis.value())]) {
      throw ShapeError("flip", "axes " + to_string(axes) + " for shape " + to_string(shape) +
                                   " must each be named once and lie in 0 <= axis < " + std::to_string(shape.size()));
    }
    flipped[static_cast<std::size_t>(axis.value())] = true;
  }
  return checked("flip", shape, [&] {
    View view = *this;
    canonicalize(view);  // first, so that strides that no valid index uses cannot overflow below
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!flipped[d]) continue;
      if (view.strides[d] != 0) {
        view.offset += view.strides[d] * (view.shape[d] - 1);
        view.strides[d] = -view.strides[d];
      }
      if (!view.mask.empty()) view.mask[d] = {view.shape[d] - view.mask[d].hi, view.shape[d] - view.mask[d].lo};
    }
    if (detail::has_empty_range(view.mask)) canonicalize(view);
    return view;
  });
}

std::optional<View> View::reshape(const Shape& target) const {
  require_extents("reshape", target);
  if (oriel::numel(target, "reshape") != numel()) {
    throw ShapeError("reshape", "shape " + to_string(shape) + " of " + to_string(numel()) + " elements cannot become " +
                                    to_string(target) + " of " + to_string(oriel::numel(target)) +
                                    "; the element counts must agree");
  }
  if (detail::has_zero_extent(target)) return detail::extentless_view(target);
  try {
    detail::Blocks blocks;
    if (!detail::split_blocks(*this, blocks)) {
      if (target.empty()) return std::nullopt;
      return detail::invalid_view(target);
    }
    View view;
    if (!detail::reshape_blocks(blocks, target, view.strides, view.mask)) return std::nullopt;
    view.shape = target;
    view.offset = blocks.offset;
    canonicalize(view);
    return view;
  } catch (const OverflowError&) {
    return std::nullopt;  // the single view would need a stride or an offset beyond 64 bits
  }
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
  if (offset != 0) text += (offset > 0 ? "+" : "") + to_string(offset);
  if (!mask.empty()) {
    text += "[";
    for (std::size_t d = 0; d < mask.size(); ++d) text += (d > 0 ? "," : "") + range_text(mask[d]);
    text += ")";
  }
  return text;
}

std::size_t hash_value(const View& view) noexcept {
  std::size_t seed = hash_value(view.shape);
  boost::hash_combine(seed, hash_value(view.strides));
  boost::hash_combine(seed, view.offset.value());
  for (const Range& range : view.mask) {
    boost::hash_combine(seed, range.lo.value());
    boost::hash_combine(seed, range.hi.value());
  }
  return seed;
}

}  // namespace oriel
