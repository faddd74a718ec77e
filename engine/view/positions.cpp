#include "view/positions.hpp"

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "view/canonical.hpp"

namespace oriel::detail {

namespace {

// On symbols the bounds are expressions. The sign of each stride is asked, which may record a guard.
PositionRange symbolic_range(const View& view) {
  PositionRange range{view.offset, view.offset};
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const Range valid = valid_range(view, d);
    if (is_zero(view.strides[d])) continue;
    const bool upwards = view.strides[d] >= 0;
    range.least += view.strides[d] * (upwards ? valid.lo : valid.hi - 1);
    range.greatest += view.strides[d] * (upwards ? valid.hi - 1 : valid.lo);
  }
  return range;
}

}  // namespace

std::optional<PositionRange> position_range(const View& view) {
  if (has_zero_extent(view.shape) || has_empty_range(view.mask)) return std::nullopt;
  if (is_symbolic(view)) return symbolic_range(view);
  // The sum is computed in 128 bits, because terms that do not fit 64 bits may cancel.
  __extension__ using Wide = __int128;
  Wide least = view.offset.value();
  Wide greatest = least;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const Range range = valid_range(view, d);
    const Wide stride = view.strides[d].value();
    const Wide first = stride * range.lo.value();
    const Wide last = stride * (range.hi.value() - 1);
    if (__builtin_add_overflow(least, first < last ? first : last, &least) ||
        __builtin_add_overflow(greatest, first < last ? last : first, &greatest)) {
      throw OverflowError("view", "positions of " + view.str() + " do not fit a signed 64-bit integer");
    }
  }
  if (least < INT64_MIN || greatest > INT64_MAX) {
    throw OverflowError("view", "positions of " + view.str() + " do not fit a signed 64-bit integer");
  }
  return PositionRange{static_cast<std::int64_t>(least), static_cast<std::int64_t>(greatest)};
}

namespace {

bool range_inside(const std::optional<PositionRange>& range, SymInt count) {
  if (!range) return true;
  const SymBool conditions[] = {range->least >= 0, range->greatest < count};
  return sym::all_of(conditions);
}

}  // namespace

bool lies_inside(const View& outer, const View& inner) { return range_inside(position_range(outer), inner.numel()); }

void require_inside(const char* operation, const View& outer, const View& inner) {
  const std::optional<PositionRange> range = position_range(outer);
  const SymInt count = inner.numel();
  if (range_inside(range, count)) return;
  throw ShapeError(operation, "view " + outer.str() + " reads positions " + to_string(range->least) + " to " +
                                  to_string(range->greatest) + " of a view of shape " + to_string(inner.shape) +
                                  "; they must lie in 0 <= position < " + to_string(count));
}

std::optional<std::int64_t> position_of(const View& view, std::int64_t n) {
  auto position = static_cast<std::uint64_t>(view.offset.value());
  for (std::size_t d = view.shape.size(); d-- > 0;) {
    const std::int64_t extent = view.shape[d].value();
    if (extent == 1) {
      if (!view.mask.empty() && view.mask[d].hi <= view.mask[d].lo) return std::nullopt;
      continue;
    }
    std::int64_t digit = 0;
    if (extent == 0) __builtin_unreachable();  // a view with an index has no empty axis
    if ((static_cast<std::uint64_t>(n) | static_cast<std::uint64_t>(extent)) >> 32 == 0) {
      digit = static_cast<std::uint32_t>(n) % static_cast<std::uint32_t>(extent);
      n = static_cast<std::uint32_t>(n) / static_cast<std::uint32_t>(extent);
    } else {
      digit = n % extent;
      n /= extent;
    }
    if (!view.mask.empty() && (digit < view.mask[d].lo || digit >= view.mask[d].hi)) return std::nullopt;
    position += static_cast<std::uint64_t>(view.strides[d].value()) * static_cast<std::uint64_t>(digit);
  }
  return static_cast<std::int64_t>(position);
}

std::optional<std::int64_t> position_of(std::span<const View> innermost_first, std::span<const std::int64_t> index) {
  std::optional<std::int64_t> position = innermost_first.back().at(index);
  for (std::size_t k = innermost_first.size() - 1; position && k-- > 0;) {
    position = position_of(innermost_first[k], *position);
  }
  return position;
}

std::vector<std::int64_t> positions(std::span<const View> innermost_first) {
  const View& outer = innermost_first.back();
  const auto count = static_cast<std::size_t>(outer.numel().value());
  std::vector<std::int64_t> table(count);
  InlineVector<std::int64_t, 8> index(outer.rank(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    table[n] = position_of(innermost_first, {index.data(), index.size()}).value_or(-1);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < outer.shape[d].value()) break;
      index[d] = 0;
    }
  }
  return table;
}

}  // namespace oriel::detail
