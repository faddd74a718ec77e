// Writes the notations, and says why a map has no text in one of them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "oriel/error.hpp"
#include "view/expression.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

std::string listed(const Ints& numbers, std::string_view separator) {
  std::string text;
  for (std::size_t k = 0; k < numbers.size(); ++k) text += (k > 0 ? std::string(separator) : "") + to_text(numbers[k]);
  return text;
}

/// Python's tuple: "(2, 3)", "(2,)", "()".
std::string tuple(const Ints& numbers) { return "(" + listed(numbers, ", ") + (numbers.size() == 1 ? ",)" : ")"); }

[[noreturn]] void cannot(Notation notation, std::string_view why) {
  throw ArgumentError("layout", fmt::format("{} cannot say this layout: {}", name(notation), why));
}

void need_no_swizzle(const Map& map, Notation notation) {
  if (map.swizzle()) cannot(notation, fmt::format("it has a swizzle, {}", map.swizzle()->str()));
}

/// The one view of the outermost axes, without a mask.
View strided(const Map& map, Notation notation) {
  need_no_swizzle(map, notation);
  const ShapeTracker axes = simplest(map.axes());
  if (!axes.single()) {
    const std::optional<Refinement> split = axes.refine();
    cannot(notation,
           split ? fmt::format("an axis has no single stride; `flatten` makes axes of its modes, {}", split->view.str())
                 : fmt::format("it is a stack of views, {}", axes.str()));
  }
  if (axes.views()[0].masked()) cannot(notation, fmt::format("it has a mask, {}", axes.str()));
  return axes.views()[0];
}

std::string view_text(const View& view) {
  std::string mask = "None";
  if (view.masked()) {
    mask = "(";
    for (std::size_t d = 0; d < view.rank(); ++d)
      mask += (d > 0 ? ", " : "") + tuple(Ints{view.mask[d].lo, view.mask[d].hi});
    mask += view.rank() == 1 ? ",)" : ")";
  }
  return fmt::format("View(shape={}, strides={}, offset={}, mask={}, contiguous={})", tuple(view.shape),
                     tuple(view.strides), to_text(view.offset), mask, view.is_contiguous() ? "True" : "False");
}

std::string tinygrad_text(const Map& map) {
  need_no_swizzle(map, Notation::tinygrad);
  const ShapeTracker axes = simplest(map.axes());
  if (axes.single()) return view_text(axes.views()[0]);
  std::string views;
  for (const View& view : axes.views()) views += (views.empty() ? "" : ", ") + view_text(view);
  return fmt::format("ShapeTracker(views=({}))", views);
}

std::string isl_text(const Map& map) {
  need_no_swizzle(map, Notation::isl);
  const ShapeTracker axes = simplest(map.axes());
  const detail::StackExpression expression = detail::express(axes.views());
  detail::LeafText leaves = detail::plain_leaves();
  leaves.floors = true;
  std::string names;
  std::string box;
  for (std::size_t d = 0; d < axes.shape().size(); ++d) {
    names += fmt::format("{}i{}", d > 0 ? ", " : "", d);
    box += fmt::format("{}0 <= i{} < {}", d > 0 ? " and " : "", d, to_text(axes.shape()[d]));
  }
  const std::string valid = detail::valid_text(expression, leaves);
  if (valid == "0") {  // a condition that no index of the box meets
    if (box.empty())
      box = "1 = 0";
    else if (std::ranges::find(axes.shape(), SymInt(0)) == axes.shape().end())
      box += fmt::format(" and i0 >= {}", to_text(axes.shape()[0]));
  } else if (valid != "1") {
    std::string conditions = valid;
    for (std::size_t at; (at = conditions.find("&&")) != std::string::npos;) conditions.replace(at, 2, "and");
    box += (box.empty() ? "" : " and ") + conditions;
  }
  return fmt::format("{{ [{}] -> [{}]{}{} }}", names, detail::index_text(expression, leaves), box.empty() ? "" : " : ",
                     box);
}

std::string linear_text(const Map& map) {
  const std::optional<CuteLayout> layout = map.tracker().views()[0].offset == 0 || !map.tracker().single()
                                               ? split_layout(map.shape(), map.tracker())
                                               : std::nullopt;
  if (!layout)
    cannot(Notation::linear,
           fmt::format("index 0 is not at position 0, or it has a mask or no strides: {}", map.tracker().str()));
  std::string text;
  std::int64_t all = 0;
  for (std::size_t k = 0; k < layout->rank(); ++k) {
    std::string bases;
    const CuteLayout mode = layout->part(k);
    for (const Mode& part : mode.modes()) {
      const std::int64_t extent = part.extent.value();
      if (extent <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(extent)))
        cannot(Notation::linear, fmt::format("{} is no power of two", extent));
      for (std::int64_t step = 1; step < extent; step *= 2) {
        const std::int64_t position = (part.stride * step).value();
        if (position < 0) cannot(Notation::linear, "it steps backwards");
        if ((all & position) != 0) {
          cannot(Notation::linear,
                 fmt::format("positions are sums with carries: {} shares bits with smaller steps", position));
        }
        all |= position;
        bases +=
            fmt::format("{}[{}]", bases.empty() ? "" : ", ", map.swizzle() ? (*map.swizzle())(position) : position);
      }
    }
    text += fmt::format("{}dim{} = [{}]", k > 0 ? ", " : "", k, bases);
  }
  return "linear<{" + text + "}>";
}

std::string cute_map_text(const Map& map) {
  const SymInt offset = map.tracker().single() ? map.tracker().views()[0].offset : SymInt(0);
  std::optional<CuteLayout> layout;
  if (map.swizzle() && offset != 0) {
    View view = map.tracker().views()[0];
    view.offset = 0;
    layout = split_layout(map.shape(), ShapeTracker(view));
  } else {
    layout = split_layout(map.shape(), map.tracker());
  }
  if (!layout) {
    const ShapeTracker simple = simplest(map.tracker());
    const bool masked = std::ranges::any_of(simple.views(), [](const View& view) { return view.masked(); });
    cannot(Notation::cute, fmt::format("it {}, {}",
                                       masked            ? "has a mask"
                                       : simple.single() ? "does not begin at position 0"
                                                         : "is a stack of views that no split of the axes makes one",
                                       simple.str()));
  }
  if (!map.swizzle()) return cute_text(*layout);
  return fmt::format("{} o {} o {}", map.swizzle()->str(), to_text(offset), cute_text(*layout));
}

std::string numpy_text(const Map& map, int element_bytes) {
  if (element_bytes < 1) throw ArgumentError("layout", fmt::format("elements of {} bytes", element_bytes));
  const View view = strided(map, Notation::numpy);
  Ints bytes;
  for (const SymInt stride : view.strides) bytes.push_back(stride * element_bytes);
  const char kind = element_bytes == 1                                                   ? 'u'
                    : element_bytes <= 8 && std::has_single_bit(unsigned(element_bytes)) ? 'f'
                                                                                         : 'V';
  return fmt::format("{{'shape': {}, 'typestr': '{}{}{}', 'strides': {}, 'offset': {}, 'version': 3}}",
                     tuple(view.shape), kind == 'f' ? '<' : '|', kind, element_bytes, tuple(bytes),
                     to_text(view.offset * element_bytes));
}

}  // namespace

std::string to_text(SymInt number) { return std::to_string(number.value()); }

std::string cute_text(const CuteLayout& layout) { return layout.shape.str() + ":" + layout.stride.str(); }

std::string Map::str(Notation notation, int element_bytes) const {
  switch (notation) {
    case Notation::cute:
      return cute_map_text(*this);
    case Notation::torch: {
      const View view = strided(*this, notation);
      if (view.offset < 0) cannot(notation, fmt::format("its offset {} is negative", to_text(view.offset)));
      for (const SymInt stride : view.strides) {
        if (stride < 0) cannot(notation, fmt::format("its stride {} is negative", to_text(stride)));
      }
      return fmt::format("size={}, stride={}, storage_offset={}", tuple(view.shape), tuple(view.strides),
                         to_text(view.offset));
    }
    case Notation::numpy:
      return numpy_text(*this, element_bytes);
    case Notation::tinygrad:
      return tinygrad_text(*this);
    case Notation::oriel: {
      need_no_swizzle(*this, notation);
      return simplest(axes()).str();
    }
    case Notation::linear:
      return linear_text(*this);
    case Notation::isl:
      return isl_text(*this);
  }
  throw InternalError("layout", "no such notation");
}

std::string Map::str() const {
  try {
    return str(notation_);
  } catch (const ArgumentError&) {
    if (swizzle_) throw;
    return str(Notation::oriel);
  }
}

}  // namespace oriel::layouts
