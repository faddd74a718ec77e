#include "view/layouts/layout.hpp"

#include "oriel/error.hpp"
#include "oriel/layout_conditions.hpp"
#include "sym/decide.hpp"
#include "view/layouts/iterate.hpp"
#include "view/needed.hpp"

namespace oriel {
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

namespace {

// `dense`: whether the layout is dense, which is the answer then.
Layout dense_like(const Layout& layout, SymBool dense) {
  if (dense) return layout;
  // The order is that of an iteration of this operand alone, in which strides of 0 decide nothing. Extents of 0 count
  // as 1.
  const Ints order = detail::iteration_order(layout);
  Layout result{layout.shape, Ints(layout.rank())};
  SymInt next = 1;
  for (const SymInt axis : order) {
    const auto d = static_cast<std::size_t>(axis.value());
    result.strides[d] = next;
    if (layout.shape[d].is_symbolic()) {
      next *= sym_max(1, layout.shape[d]);
    } else if (layout.shape[d] > 1) {
      next *= layout.shape[d];
    }
  }
  return result;
}

std::vector<SymInt> strides_of(const Layout& layout) { return {layout.strides.begin(), layout.strides.end()}; }

}  // namespace

Layout Layout::preserved() const {
  const SymBool dense = density(*this);
  if (!dense.is_symbolic() && dense) return *this;
  const sym::Node* const node = dense.is_symbolic() ? dense.node() : detail::some_node(shape, strides);
  if (node == nullptr) return dense_like(*this, dense);
  return sym::with_needed_guards(
      node, [&] { return dense_like(*this, density(*this)); }, strides_of,
      [](const Layout& a, const Layout& b) { return detail::same_numbers(strides_of(a), strides_of(b)); });
}

SymInt Layout::span() const {
  if (numel() == 0) return 0;
  SymInt reach = 1;
  for (std::size_t d = 0; d < rank(); ++d) reach += (shape[d] - 1) * (strides[d] < 0 ? -strides[d] : strides[d]);
  return reach;
}

std::string Layout::str() const { return joined(shape) + ":" + joined(strides); }

}  // namespace oriel
