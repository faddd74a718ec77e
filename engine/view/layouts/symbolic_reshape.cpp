// strided_reshape on symbols. A reshape that succeeds records only what makes its strides right; one that is refused
// also records what the walk took for granted because of the hints.
#include "oriel/error.hpp"
#include "view/canonical.hpp"
#include "view/layouts/strided_reshape.hpp"
#include "view/needed.hpp"

namespace oriel::detail {
namespace {

/// Replaces an extent of -1 by an expression, or returns the reason why there is none. The only question about the
/// quotient is whether the division leaves no remainder.
std::optional<ReshapeRefusal> resolve_symbolic(SymInt count, Shape& wanted) {
  const auto [open, refusal] = open_extent(wanted);
  if (refusal) return refusal;
  SymInt named = 1;
  for (std::size_t d = 0; d < wanted.size(); ++d)
    if (d != open) named *= wanted[d];
  if (!open) return named == count ? std::nullopt : std::optional(ReshapeRefusal::size_mismatch);
  if (or_false(named == 0)) {
    return count == 0 ? ReshapeRefusal::ambiguous_minus_one : ReshapeRefusal::size_mismatch;
  }
  if (!(count % named == 0)) return ReshapeRefusal::size_mismatch;
  wanted[*open] = count / named;
  return std::nullopt;
}

/// True if an axis of this extent and stride continues the axes below it, whose positions reach `reach`. An axis whose
/// stride fits continues them even if its extent is 1, so that is not asked.
bool continues_below(SymInt extent, SymInt stride, SymInt reach) {
  const SymBool fits = or_false(stride == reach);
  if (sym::hint(fits).value_or(false)) return fits;
  return or_false(extent == 1) || fits;
}

/// As the walk over plain numbers in strided_reshape.cpp.
bool fit_symbolic(const Layout& from, const Shape& to, Ints& strides) {
  std::size_t next = to.size();  // new axes [next, rank) are done
  SymInt base = from.strides.back();
  SymInt chunk = 1;
  for (std::size_t d = from.rank(); d-- > 0;) {
    chunk *= from.shape[d];
    if (d > 0 && continues_below(from.shape[d - 1], from.strides[d - 1], chunk * base)) continue;
    SymInt done = 1;
    Assumptions<SymInt> assumed;
    bool full = fills(done, chunk, assumed);
    // Axes of extent 1 behind a full chunk have its stride.
    while (next > 0 && (full ? static_cast<bool>(or_false(to[next - 1] == 1)) : sym::hint(done < chunk) != false)) {
      --next;
      strides[next] = done * base;
      done *= to[next];
      full = full || fills(done, chunk, assumed);
    }
    if (!full) {
      assumed.refuse();
      // Axes remain that would be taken if the chunk were longer.
      if (next > 0) static_cast<void>(static_cast<bool>(done < chunk));
      return false;
    }
    if (d > 0) base = from.strides[d - 1];
    chunk = 1;
  }
  return next == 0;
}

StridedReshape reshape(const Layout& layout, const Shape& wanted) {
  StridedReshape result{std::nullopt, {wanted, {}}};
  const SymInt count = numel(layout.shape, "view");
  Shape& shape = result.layout.shape;
  Ints& strides = result.layout.strides;
  result.refusal = resolve_symbolic(count, shape);
  if (result.refusal) return result;
  if (layout.shape.empty()) {
    strides.assign(shape.size(), 1);
  } else if (or_false(count == 0)) {
    strides = shape == layout.shape ? layout.strides : contiguous_strides(shape);
  } else {
    strides.resize(shape.size());
    if (!fit_symbolic(layout, shape, strides)) result.refusal = ReshapeRefusal::incompatible_strides;
  }
  return result;
}

}  // namespace

StridedReshape symbolic_reshape(const Layout& layout, const Shape& wanted) {
  const auto numbers = [](const StridedReshape& found) {
    std::vector<SymInt> all;
    if (found.refusal) return all;
    add_numbers(all, found.layout.shape);
    add_numbers(all, found.layout.strides);
    return all;
  };
  return sym::with_needed_guards(
      some_node(layout.shape, layout.strides, wanted), [&] { return reshape(layout, wanted); }, numbers,
      [&](const StridedReshape& a, const StridedReshape& b) {
        return a.refusal == b.refusal && same_numbers(numbers(a), numbers(b));
      });
}

}  // namespace oriel::detail
