#include "view/layouts/strided_reshape.hpp"

#include <utility>

#include "view/plain.hpp"

namespace oriel::detail {
namespace {

/// The product of the extents except that of axis `open`, or nullopt if it exceeds 2^63-1; 0 if any of them is 0.
template <Number N>
std::optional<N> product(const Shape& shape, std::optional<std::size_t> open) {
  std::int64_t result = 1;
  bool overflow = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d == open) continue;
    const N extent(shape[d]);
    if (extent == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(result, extent.value(), &result);
  }
  if (overflow) return std::nullopt;
  return N(result);
}

/// Replaces an extent of -1 by its value, or returns the reason why it has none.
template <Number N>
std::optional<ReshapeRefusal> resolve(N count, Shape& wanted) {
  const auto [open, refusal] = open_extent<N>(wanted);
  if (refusal) return refusal;
  const std::optional<N> named = product<N>(wanted, open);
  if (!open) return named && *named == count ? std::nullopt : std::optional(ReshapeRefusal::size_mismatch);
  if (named && *named == 0 && count == 0) return ReshapeRefusal::ambiguous_minus_one;
  if (!named || *named == 0 || count % *named != 0) return ReshapeRefusal::size_mismatch;
  wanted[*open] = count / *named;
  return std::nullopt;
}

/// Walks both shapes from the last axis. Old axes that are contiguous with each other form a chunk with one stride. The
/// new axes must divide every chunk exactly; false if they do not.
template <Number N>
bool fit_strides(const Layout& from, const Shape& to, Ints& strides) {
  std::size_t next = to.size();  // new axes [next, rank) are done
  N base(from.strides.back());
  N chunk = 1;
  for (std::size_t d = from.rank(); d-- > 0;) {
    chunk *= N(from.shape[d]);
    if (d > 0 && (N(from.shape[d - 1]) == 1 || N(from.strides[d - 1]) == chunk * base)) continue;
    N done = 1;
    while (next > 0 && (done < chunk || N(to[next - 1]) == 1)) {
      --next;
      strides[next] = done * base;
      done *= N(to[next]);
    }
    if (done != chunk) return false;
    if (d > 0) base = N(from.strides[d - 1]);
    chunk = 1;
  }
  return next == 0;
}

}  // namespace

std::string_view name(ReshapeRefusal refusal) noexcept {
  switch (refusal) {
    case ReshapeRefusal::negative_size:
      return "negative_size";
    case ReshapeRefusal::two_minus_ones:
      return "two_minus_ones";
    case ReshapeRefusal::ambiguous_minus_one:
      return "ambiguous_minus_one";
    case ReshapeRefusal::size_mismatch:
      return "size_mismatch";
    default:
      return "incompatible_strides";
  }
}

namespace {

template <Number N>
void reshape_as(const Layout& layout, N count, StridedReshape& result) {
  result.refusal = resolve<N>(count, result.layout.shape);
  if (result.refusal) return;
  const Shape& shape = result.layout.shape;
  if (layout.shape.empty()) {
    result.layout.strides.assign(shape.size(), 1);
  } else if (count == 0) {
    result.layout.strides = shape == layout.shape ? layout.strides : contiguous_strides(shape);
  } else {
    result.layout.strides.resize(shape.size());
    if (!fit_strides<N>(layout, shape, result.layout.strides)) result.refusal = ReshapeRefusal::incompatible_strides;
  }
}

/// The element count of a shape of plain numbers above 0; nullopt for other shapes, and if the count exceeds 2^63-1.
std::optional<std::int64_t> plain_count(const Shape& shape) noexcept {
  std::int64_t count = 1;
  for (const SymInt extent : shape) {
    if (extent.representation() <= 0 || __builtin_mul_overflow(count, extent.representation(), &count))
      return std::nullopt;
  }
  return count;
}

}  // namespace

StridedReshape strided_reshape(const Layout& layout, const Shape& wanted) {
  StridedReshape result{std::nullopt, {wanted, {}}};
  // One pass over the old shape finds its element count and that it is plain.
  if (const std::optional<std::int64_t> count = plain_count(layout.shape); count && is_plain(layout.strides, wanted))
      [[likely]] {
    reshape_as<Plain>(layout, Plain(*count), result);
    return result;
  }
  if (is_symbolic(layout.shape) || is_symbolic(layout.strides) || is_symbolic(wanted)) {
    result = symbolic_reshape(layout, wanted);
    return result;  // returning one variable everywhere saves a copy
  }
  const SymInt count = numel(layout.shape, "view");
  if (is_plain(layout.shape, layout.strides, wanted))
    reshape_as<Plain>(layout, read<Plain>(count), result);
  else
    reshape_as<SymInt>(layout, count, result);
  return result;
}

}  // namespace oriel::detail
