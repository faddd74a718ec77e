// A layout in any notation: its order of indices, comparisons, CuTe's algebra.
#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

/// The numbers of the tree last to first: the order of axes in which row-major is axis 0 fastest.
Ints reversed(std::size_t rank) {
  Ints order;
  for (std::size_t k = rank; k-- > 0;) order.push_back(k);
  return order;
}

CuteLayout cute_of(const Map& map, std::string_view operation) {
  std::optional<CuteLayout> layout = split_layout(map.shape(), map.tracker());
  if (!layout) {
    throw ArgumentError("layout", fmt::format("{} is defined for strides from position 0, without a mask; got {}",
                                              operation, map.tracker().str()));
  }
  return *std::move(layout);
}

CuteLayout plain_cute(const Map& map, std::string_view operation) {
  if (map.swizzle()) {
    throw ArgumentError("layout",
                        fmt::format("{} is not defined for a layout with a swizzle, {}", operation, map.str()));
  }
  if (!map.colexicographic()) {
    throw ArgumentError("layout",
                        fmt::format("{} belongs to CuTe's algebra, where axis 0 is the fastest; translate {} with "
                                    "as(Notation::cute) (--as cute) first",
                                    operation, map.str()));
  }
  return cute_of(map, operation);
}

/// "(1, 0)": the coordinates of a number, axis 0 fastest.
std::string coordinates(const Ints& shape, SymInt number) {
  Ints index;
  for (const SymInt extent : shape) {
    index.push_back(number % extent);
    number = number / extent;
  }
  return to_string(index);
}

/// The views as one axis over the numbers of the indices, axis 0 fastest, and its extent cut to `length`.
ShapeTracker numbered(const ShapeTracker& tracker, SymInt length) {
  const Ints order = reversed(tracker.shape().size());
  ShapeTracker flat = tracker.permute(order).reshape(Shape{numel(tracker.shape())});
  return flat.shrink(Ranges{{0, length}});
}

/// The first index at which two stacks of strides over one axis differ, if splits of the axis show it.
std::optional<SymInt> first_difference(const ShapeTracker& a, const ShapeTracker& b) {
  // Both maps side by side as one: the first half of a joint index reads a, the other b. A common split of both is
  // found by splitting each at the ends of the other's pieces.
  const std::optional<Refinement> left = a.refine();
  const std::optional<Refinement> right = b.refine();
  if (!left || !right || left->view.masked() || right->view.masked()) return std::nullopt;
  if (left->view.offset != right->view.offset) return SymInt(0);
  // Pieces are row-major: the last is the fastest. Walk both from the fast end; where extents differ one has to divide
  // the other.
  std::size_t i = left->view.rank();
  std::size_t j = right->view.rank();
  SymInt rest_a = 1;
  SymInt rest_b = 1;
  SymInt stride_a = 0;
  SymInt stride_b = 0;
  SymInt number = 1;
  while (true) {
    while (rest_a == 1 && i > 0) {
      --i;
      rest_a = left->view.shape[i];
      stride_a = left->view.strides[i];
    }
    while (rest_b == 1 && j > 0) {
      --j;
      rest_b = right->view.shape[j];
      stride_b = right->view.strides[j];
    }
    if (rest_a == 1 || rest_b == 1) return std::nullopt;  // equal as far as this shows
    if (stride_a != stride_b) return number;
    const SymInt step = rest_a < rest_b ? rest_a : rest_b;
    if (rest_a % step != 0 || rest_b % step != 0) return std::nullopt;
    rest_a = rest_a / step;
    rest_b = rest_b / step;
    stride_a = stride_a * step;
    stride_b = stride_b * step;
    number = number * step;
  }
}

}  // namespace

Map::Map(Notation notation, IntTuple shape, ShapeTracker tracker, std::optional<Swizzle> swizzle)
    : notation_(notation), shape_(std::move(shape)), tracker_(std::move(tracker)), swizzle_(swizzle) {}

Map Map::read(std::string_view text) {
  Parsed parsed = parse(text);
  return {parsed.notation, std::move(parsed.shape), std::move(parsed.tracker), parsed.swizzle};
}

Map Map::read(std::string_view text, Notation notation) {
  Parsed parsed = parse(text, notation);
  return {parsed.notation, std::move(parsed.shape), std::move(parsed.tracker), parsed.swizzle};
}

Map Map::of(const ShapeTracker& tracker) { return {Notation::oriel, flat_shape(tracker.shape()), tracker}; }

bool Map::colexicographic() const noexcept { return notation_ == Notation::cute || notation_ == Notation::linear; }

ShapeTracker Map::axes() const {
  const bool nested = !shape_.list || std::ranges::any_of(shape_.parts, [](const IntTuple& part) { return part.list; });
  if (!nested || !shape_.list) return tracker_;
  Ints order;  // inside of an axis row-major: the slowest number first
  Shape extents;
  std::size_t first = 0;
  for (const IntTuple& part : shape_.parts) {
    const std::size_t count = part.leaves().size();
    for (std::size_t k = count; k-- > 0;) order.push_back(first + k);
    first += count;
    extents.push_back(part.product());
  }
  return tracker_.permute(order).reshape(extents);
}

std::vector<std::int64_t> Map::table(std::int64_t limit) const {
  const ShapeTracker ordered = colexicographic() ? tracker_.permute(reversed(tracker_.shape().size())) : tracker_;
  std::vector<std::int64_t> positions = ordered.table(limit);
  if (swizzle_) {
    for (std::int64_t& position : positions) position = (*swizzle_)(position);
  }
  return positions;
}

Map Map::as(Notation notation) const {
  // The text is the proof that the notation can say it.
  (void)str(notation);
  if (notation == Notation::cute || notation == Notation::linear) return {notation, shape_, tracker_, swizzle_};
  ShapeTracker flat = axes();
  IntTuple shape = flat_shape(flat.shape());
  return {notation, std::move(shape), std::move(flat)};
}

Comparison Map::compare(const Map& other) const {
  const ShapeTracker left = axes();
  const ShapeTracker right = other.axes();
  const bool same_axes = left.shape() == right.shape();
  if (!same_axes && !(notation_ == Notation::cute && other.notation_ == Notation::cute)) {
    return {false, std::nullopt,
            fmt::format("the shapes differ: {} and {}", to_string(left.shape()), to_string(right.shape()))};
  }
  const SymInt sizes[] = {size(), other.size()};
  const SymInt length = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
  const auto differ = [&](SymInt number, const std::string& at) {
    return Comparison{false, number,
                      same_axes ? fmt::format("index {}: {}", coordinates(left.shape(), number), at)
                                : fmt::format("index {}: {}", to_text(number), at)};
  };
  Comparison ends{sizes[0] == sizes[1], std::nullopt, ""};
  if (!ends.equal) {
    ends.first = length;
    ends.reason = fmt::format("the sizes differ: {} and {}", to_text(sizes[0]), to_text(sizes[1]));
  }
  const ShapeTracker a = numbered(tracker_, length);
  const ShapeTracker b = numbered(other.tracker_, length);
  if (swizzle_ == other.swizzle_ && a.canonical() == b.canonical()) return ends;
  if (swizzle_ == other.swizzle_) {
    if (const std::optional<SymInt> first = first_difference(a, b)) {
      const std::int64_t index[] = {first->value()};
      const auto position = [&](const ShapeTracker& t) {
        const std::int64_t at = *t.at(index);
        return swizzle_ ? (*swizzle_)(at) : at;
      };
      return differ(*first, fmt::format("{} and {}", position(a), position(b)));
    }
  }
  if (length > kMostIndices) {
    throw ArgumentError("layout",
                        fmt::format("whether {} and {} are the same map is not decided by their strides, and they "
                                    "have more than 10^7 indices to compare",
                                    str(), other.str()));
  }
  const std::vector<std::int64_t> mine = a.table();
  const std::vector<std::int64_t> others = b.table();
  const auto swizzled = [](const std::optional<Swizzle>& swizzle, std::int64_t position) {
    return swizzle && position >= 0 ? (*swizzle)(position) : position;
  };
  const auto said = [](std::int64_t position) { return position < 0 ? std::string("none") : std::to_string(position); };
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const std::int64_t x = swizzled(swizzle_, mine[k]);
    const std::int64_t y = swizzled(other.swizzle_, others[k]);
    if (x != y) return differ(k, fmt::format("{} and {}", said(x), said(y)));
  }
  return ends;
}

Map Map::coalesce() const {
  if (!colexicographic()) plain_cute(*this, "coalesce");
  const CuteLayout layout = CuteLayout::coalesced(cute_of(*this, "coalesce").modes());
  return {Notation::cute, layout.shape, ShapeTracker(view_of(layout)), swizzle_};
}

Map Map::flatten() const {
  const CuteLayout layout = cute_of(*this, "flatten");
  std::vector<CuteLayout> modes;
  for (const Mode& mode : layout.modes()) modes.push_back(CuteLayout::of(mode));
  const CuteLayout flat = layout.shape.list ? CuteLayout::list(modes) : layout;
  return {notation_, flat.shape, ShapeTracker(view_of(flat)), swizzle_};
}

Map Map::compose(const Map& other) const {
  if (colexicographic() != other.colexicographic()) {
    throw ArgumentError(
        "layout",
        fmt::format("{} counts its indices in another order than {}; translate one of them first", str(), other.str()));
  }
  if (!colexicographic()) return {notation_, other.shape_, other.tracker_.over(tracker_).simplify()};
  const CuteLayout inner = plain_cute(other, "the right side of compose");
  const ShapeTracker stack = composed(cute_of(*this, "compose"), inner);
  if (const std::optional<CuteLayout> layout = split_layout(inner.shape, stack))
    return {Notation::cute, layout->shape, ShapeTracker(view_of(*layout)), swizzle_};
  return {Notation::cute, inner.shape, stack.simplify(), swizzle_};
}

namespace {

/// A layout of CuTe's algebra.
ShapeTracker tracker_of(const CuteLayout& layout) { return ShapeTracker(view_of(layout)); }

}  // namespace

Map Map::complement(std::optional<SymInt> bound) const {
  const CuteLayout layout = plain_cute(*this, "complement");
  const CuteLayout result = layouts::complement(layout, bound ? *bound : layout.cosize());
  return {Notation::cute, result.shape, tracker_of(result)};
}

Map Map::right_inverse() const {
  const CuteLayout result = layouts::right_inverse(plain_cute(*this, "right_inverse"));
  return {Notation::cute, result.shape, tracker_of(result)};
}

Map Map::left_inverse() const {
  const CuteLayout result = layouts::left_inverse(plain_cute(*this, "left_inverse"));
  return {Notation::cute, result.shape, tracker_of(result)};
}

Map Map::logical_divide(const Map& tiler) const {
  const CuteLayout result =
      layouts::logical_divide(cute_of(*this, "logical_divide"), plain_cute(tiler, "logical_divide"));
  return {Notation::cute, result.shape, tracker_of(result), swizzle_};
}

Map Map::logical_product(const Map& other) const {
  const CuteLayout result =
      layouts::logical_product(plain_cute(*this, "logical_product"), plain_cute(other, "logical_product"));
  return {Notation::cute, result.shape, tracker_of(result)};
}

Map Map::blocked_product(const Map& other) const {
  const CuteLayout result =
      paired_product(plain_cute(*this, "blocked_product"), plain_cute(other, "blocked_product"), false);
  return {Notation::cute, result.shape, tracker_of(result)};
}

Map Map::raked_product(const Map& other) const {
  const CuteLayout result =
      paired_product(plain_cute(*this, "raked_product"), plain_cute(other, "raked_product"), true);
  return {Notation::cute, result.shape, tracker_of(result)};
}

}  // namespace oriel::layouts
