// Splits the axes of symbolic stacks. The hints say into how many pieces; merging the split stack proves the split for
// all sizes that satisfy the guards of the merge.
#include <utility>

#include "oriel/error.hpp"
#include "sym/decide.hpp"
#include "sym/estimate.hpp"
#include "view/canonical.hpp"
#include "view/merging/refine.hpp"
#include "view/needed.hpp"

namespace oriel::detail {
namespace {

/// The stack for the hints.
class Hinted {
 public:
  explicit Hinted(std::span<const View> stack) {
    for (const View& view : stack) {
      View& plain = views_.emplace_back();
      plain.shape = ints(view.shape);
      plain.strides = ints(view.strides);
      plain.offset = number(view.offset);
      for (const Range& range : view.mask) plain.mask.push_back({number(range.lo), number(range.hi)});
    }
  }
  /// nullopt if a symbol has no hint.
  std::optional<Stack> views() && { return known_ ? std::optional(std::move(views_)) : std::nullopt; }

 private:
  SymInt number(SymInt n) {
    const std::optional<std::int64_t> hint = sym::hint(n);
    known_ = known_ && hint;
    return hint.value_or(0);
  }
  Ints ints(const Ints& sizes) {
    Ints out;
    for (const SymInt size : sizes) out.push_back(number(size));
    return out;
  }

  Stack views_;
  bool known_ = true;
};

/// Extents that pieces can have: of neighbouring axes of the stack's views together.
Ints extents_of(std::span<const View> stack) {
  Ints out;
  for (const View& view : stack) {
    for (std::size_t first = 0; first < view.rank(); ++first) {
      SymInt extent = 1;
      for (std::size_t d = first; d < view.rank(); ++d) {
        extent *= view.shape[d];
        if (extent.is_symbolic()) out.push_back(extent);
      }
    }
  }
  return out;
}

/// Makes pieces of axes from numbers and extents.
class Divider {
 public:
  Divider(Ints extents, bool numbers_first) : extents_(std::move(extents)), numbers_first_(numbers_first) {}

  /// An axis in pieces that have the values `numbers` for the hints; empty if there are none whose product it is for
  /// all sizes.
  Ints pieces(SymInt extent, const Ints& numbers) const {
    Ints out;
    for (std::size_t k = numbers.size(); k-- > 1;) {
      std::optional<std::pair<SymInt, SymInt>> cut;
      for (const SymInt piece : candidates(numbers[k])) {
        if (const std::optional<SymInt> rest = quotient(extent, piece)) {
          cut.emplace(*rest, piece);
          break;
        }
      }
      if (!cut) return {};
      out.insert(out.begin(), cut->second);
      extent = cut->first;
    }
    out.insert(out.begin(), extent);
    return out;
  }

 private:
  Ints candidates(SymInt number) const {
    Ints out;
    for (const SymInt e : extents_)
      if (sym::hint(e) == number.value() && sym::certain(e > 0)) out.push_back(e);
    out.insert(numbers_first_ ? out.begin() : out.end(), number);
    return out;
  }

  /// extent / piece, if that leaves nothing for all sizes.
  std::optional<SymInt> quotient(SymInt extent, SymInt piece) const {
    if (sym::certain(extent % piece == 0)) return extent / piece;
    const std::optional<std::int64_t> hint = sym::hint(extent / piece);
    if (!hint) return std::nullopt;
    for (const SymInt rest : candidates(*hint))
      if (sym::certain(rest * piece == extent)) return rest;
    return std::nullopt;
  }

  Ints extents_;
  bool numbers_first_;
};

std::optional<Refinement> lifted(std::span<const View> stack, const Refinement& plain, bool numbers_first) {
  const Divider divider(extents_of(stack), numbers_first);
  Refinement out;
  Shape split;
  for (std::size_t d = 0; d < plain.pieces.size(); ++d) {
    Ints pieces = divider.pieces(stack.back().shape[d], plain.pieces[d]);
    if (pieces.empty()) return std::nullopt;
    split.insert(split.end(), pieces.begin(), pieces.end());
    out.pieces.push_back(std::move(pieces));
  }
  sym::Checkpoint before(some_node(stack));
  std::optional<View> view;
  try {
    view = split_view(stack, split);
  } catch (const OverflowError&) {
  } catch (const DataDependentError&) {
  }
  if (!view) {
    before.undo();
    return std::nullopt;
  }
  out.view = std::move(*view);
  return out;
}

}  // namespace

std::optional<Refinement> refine_symbolic(std::span<const View> innermost_first) {
  std::optional<Stack> plain = Hinted(innermost_first).views();
  if (!plain) return std::nullopt;
  merge_views(*plain);
  if (plain->size() == 1) return std::nullopt;  // one view for the hints alone
  const std::optional<Refinement> found = refine({plain->data(), plain->size()});
  if (!found) return std::nullopt;
  std::optional<Refinement> out = lifted(innermost_first, *found, true);
  return out ? out : lifted(innermost_first, *found, false);
}

}  // namespace oriel::detail
