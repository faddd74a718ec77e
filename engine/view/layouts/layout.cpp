#include "view/layouts/layout.hpp"

#include <algorithm>

#include "oriel/error.hpp"
#include "oriel/layout_conditions.hpp"
#include "sym/decide.hpp"
#include "sym/environment.hpp"
#include "view/canonical.hpp"
#include "view/layouts/iterate.hpp"
#include "view/layouts/predicates.hpp"

namespace oriel {

namespace detail {
namespace {

// Of symbols one condition, on the element count.
SymBool is_empty(const Shape& shape) {
  if (is_symbolic(shape)) return numel(shape) == 0;
  return std::any_of(shape.begin(), shape.end(), [](SymInt extent) -> bool { return extent == 0; });
}

// The answer if the formula is the same for all values in range, so that no branch is needed. A trace lists every
// branch.
std::optional<bool> settled(SymBool formula) {
  if (!formula.is_symbolic()) return static_cast<bool>(formula);
  if (sym::environment_of(formula.node()).options.mode == ShapeEnv::Mode::trace) return std::nullopt;
  return sym::known(formula);
}

}  // namespace

bool dense_branching(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  return is_plain(shape, strides) ? dense_as<Plain>(shape, strides, order) : dense_as<SymInt>(shape, strides, order);
}

SymBool dense_formula(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  SymBool dense = true;
  SymInt expected = 1;
  for (const std::size_t d : order) {
    dense = dense & ((shape[d] == 1) | (strides[d] == expected));
    expected = times(expected, shape[d]);
  }
  return dense;
}

bool contiguous_branching(const Shape& shape, const Ints& strides) {
  if (is_plain(shape, strides)) {
    return has_zero_extent_as<Plain>(shape) || row_major_as<Plain>(shape, strides);
  }
  if (const auto answer = settled(contiguous_formula(shape, strides))) return *answer;
  return is_empty(shape) || row_major_as<SymInt>(shape, strides);
}

SymBool contiguous_formula(const Shape& shape, const Ints& strides) {
  SymBool dense = true;
  SymInt expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    dense = dense & ((shape[d] == 1) | (strides[d] == expected));
    expected = times(expected, shape[d]);
  }
  return is_empty(shape) | dense;
}

bool channels_last_branching(const Shape& shape, const Ints& strides) {
  if (is_plain(shape, strides)) return channels_last_as<Plain>(shape, strides);
  if (const auto answer = settled(channels_last_formula(shape, strides))) return *answer;
  return channels_last_as<SymInt>(shape, strides);
}

SymBool channels_last_formula(const Shape& shape, const Ints& strides) {
  // Branching on the rank is fine: it is a plain number even if sizes are symbolic.
  if (shape.size() == 4) return dense_formula(shape, strides, kChannelsLast);
  return shape.size() == 5 ? dense_formula(shape, strides, kChannelsLast3d) : SymBool(false);
}

namespace {

template <Number N>
bool dense_when_sorted_as(const Shape& shape, const Ints& strides) {
  if (shape.size() == 1) return N(shape[0]) < 2 || N(strides[0]) == 1;
  InlineVector<std::size_t, 8> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (N(shape[d]) >= 2) order.push_back(d);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return N(strides[a]) < N(strides[b]); });
  return dense_as<N>(shape, strides, {order.data(), order.size()});
}

// In one of the usual orders of axes, or in that of the strides.
template <Number N>
bool dense_in_some_order(const Shape& shape, const Ints& strides) {
  if (has_zero_extent_as<N>(shape) || row_major_as<N>(shape, strides)) return true;
  return channels_last_as<N>(shape, strides) || dense_when_sorted_as<N>(shape, strides);
}

}  // namespace

bool dense_when_sorted(const Shape& shape, const Ints& strides) {
  return is_plain(shape, strides) ? dense_when_sorted_as<Plain>(shape, strides)
                                  : dense_when_sorted_as<SymInt>(shape, strides);
}

SymBool non_overlapping_and_dense(const Shape& shape, const Ints& strides) {
  if (is_plain(shape, strides)) return dense_in_some_order<Plain>(shape, strides);
  if (!is_symbolic(shape) && !is_symbolic(strides)) return dense_in_some_order<SymInt>(shape, strides);
  return symbolic_density(shape, strides);
}

bool like_channels_last(const Shape& shape, const Ints& strides, std::span<const std::size_t> order) {
  if (shape.size() != order.size() || strides[1] == 0) return false;
  SymInt least = 0;
  for (const std::size_t d : order) {
    if (shape[d] == 0 || strides[d] < least) return false;
    // Shape (N, 1, 1, 1) with equal strides may also be a contiguous tensor, or one that was cut along its last axis.
    if (d == 0 && least == strides[1]) return false;
    least = shape[d] > 1 ? times(strides[d], shape[d]) : strides[d];
  }
  return true;
}

Ints strides_in_order(const Shape& shape, std::span<const std::size_t> order) {
  Ints strides(shape.size());
  SymInt next = 1;
  for (std::size_t k = 0; k < order.size(); ++k) {
    strides[order[k]] = next;
    if (k + 1 < order.size()) next *= shape[order[k]];
  }
  return strides;
}

}  // namespace detail

namespace {

[[noreturn]] void refuse_preserve(std::string_view operation) {
  throw ArgumentError(operation,
                      "preserve names no order by itself; give contiguous, channels_last or channels_last_3d");
}

void check_extents(const Shape& shape) {
  for (const SymInt extent : shape) {
    if (extent.representation() < 0 && !sym::state_size(extent) && extent < 0) {
      throw ShapeError("layout", "extent " + to_string(extent) + " in shape " + to_string(shape) +
                                     " is negative; extents must be 0 or more");
    }
  }
}

std::string joined(const Ints& ints) {
  std::string text = "(";
  for (std::size_t d = 0; d < ints.size(); ++d) text += (d > 0 ? "," : "") + to_string(ints[d]);
  return text + ")";
}

}  // namespace

std::string_view name(MemoryFormat format) noexcept {
  switch (format) {
    case MemoryFormat::channels_last:
      return "channels_last";
    case MemoryFormat::channels_last_3d:
      return "channels_last_3d";
    case MemoryFormat::preserve:
      return "preserve";
    default:
      return "contiguous";
  }
}

Layout Layout::contiguous(const Shape& shape) {
  check_extents(shape);
  return {shape, contiguous_strides(shape)};
}

Layout Layout::of(const Shape& shape, MemoryFormat format) {
  if (format == MemoryFormat::preserve) refuse_preserve("layout");
  if (format == MemoryFormat::contiguous) return contiguous(shape);
  check_extents(shape);
  const bool flat = format == MemoryFormat::channels_last;
  if (shape.size() != (flat ? 4 : 5)) {
    throw ShapeError("layout", std::string(name(format)) + " takes " + (flat ? "4" : "5") + " axes, not the " +
                                   std::to_string(shape.size()) + " of " + to_string(shape));
  }
  return {shape, flat ? detail::strides_in_order(shape, detail::kChannelsLast)
                      : detail::strides_in_order(shape, detail::kChannelsLast3d)};
}

Layout Layout::make(Shape shape, Ints strides) {
  check_extents(shape);
  if (shape.size() != strides.size()) {
    throw ShapeError("layout", "got " + std::to_string(strides.size()) + " strides for shape " + to_string(shape) +
                                   "; give one for each axis");
  }
  return {std::move(shape), std::move(strides)};
}

bool Layout::is_contiguous(MemoryFormat format) const {
  switch (format) {
    case MemoryFormat::channels_last:
      return rank() == 4 && detail::channels_last_branching(shape, strides);
    case MemoryFormat::channels_last_3d:
      return rank() == 5 && detail::channels_last_branching(shape, strides);
    case MemoryFormat::preserve:
      refuse_preserve("is_contiguous");
    default:
      return detail::contiguous_branching(shape, strides);
  }
}

SymBool contiguity(const Layout& layout, MemoryFormat format) {
  switch (format) {
    case MemoryFormat::channels_last:
      return layout.rank() == 4 ? detail::channels_last_formula(layout.shape, layout.strides) : SymBool(false);
    case MemoryFormat::channels_last_3d:
      return layout.rank() == 5 ? detail::channels_last_formula(layout.shape, layout.strides) : SymBool(false);
    case MemoryFormat::preserve:
      refuse_preserve("contiguity");
    default:
      return detail::contiguous_formula(layout.shape, layout.strides);
  }
}

SymBool density(const Layout& layout) { return detail::non_overlapping_and_dense(layout.shape, layout.strides); }

bool Layout::is_non_overlapping_and_dense() const { return detail::non_overlapping_and_dense(shape, strides); }

bool Layout::is_like(MemoryFormat format) const {
  switch (format) {
    case MemoryFormat::channels_last:
      return detail::like_channels_last(shape, strides, detail::kChannelsLast);
    case MemoryFormat::channels_last_3d:
      return detail::like_channels_last(shape, strides, detail::kChannelsLast3d);
    case MemoryFormat::preserve:
      refuse_preserve("is_like");
    default:
      return suggest_memory_format() == MemoryFormat::contiguous;
  }
}

bool Layout::is_ambiguous() const { return is_contiguous() && detail::channels_last_branching(shape, strides); }

MemoryFormat Layout::suggest_memory_format(bool exact) const {
  for (const MemoryFormat format : {MemoryFormat::channels_last, MemoryFormat::channels_last_3d}) {
    if (is_like(format)) return !exact || of(shape, format).strides == strides ? format : MemoryFormat::contiguous;
  }
  return MemoryFormat::contiguous;
}

Layout Layout::preserved() const {
  if (is_non_overlapping_and_dense()) return *this;
  // The order is that of an iteration of this operand alone, in which strides of 0 decide nothing. Extents of 0 count
  // as 1.
  const Ints order = detail::iteration_order(*this);
  Layout result{shape, Ints(rank())};
  SymInt next = 1;
  for (const SymInt axis : order) {
    const auto d = static_cast<std::size_t>(axis.value());
    result.strides[d] = next;
    if (shape[d] > 1) next *= shape[d];
  }
  return result;
}

SymInt Layout::span() const {
  if (numel() == 0) return 0;
  SymInt reach = 1;
  for (std::size_t d = 0; d < rank(); ++d) reach += (shape[d] - 1) * (strides[d] < 0 ? -strides[d] : strides[d]);
  return reach;
}

std::string Layout::str() const { return joined(shape) + ":" + joined(strides); }

}  // namespace oriel
