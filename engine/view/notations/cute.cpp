#include "view/notations/cute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"
#include "view/notations/text.hpp"

namespace oriel::layouts {
namespace {

void add_modes(const IntTuple& shape, const IntTuple& stride, std::vector<Mode>& modes) {
  if (!shape.list) return modes.push_back({shape.value, stride.value});
  for (std::size_t k = 0; k < shape.parts.size(); ++k) add_modes(shape.parts[k], stride.parts[k], modes);
}

SymInt ceil_quotient(SymInt a, SymInt b) { return (a + b - 1) / b; }

/// A layout of `rank` modes: behind its own those of one index.
CuteLayout padded(const CuteLayout& layout, std::size_t rank) {
  std::vector<CuteLayout> modes;
  for (std::size_t k = 0; k < layout.rank(); ++k) modes.push_back(layout.part(k));
  while (modes.size() < rank) modes.push_back(CuteLayout::of({1, 0}));
  return CuteLayout::list(modes);
}

/// The modes with more than one index that move, slow strides last.
std::vector<Mode> moving_modes(const CuteLayout& layout, const char* what) {
  std::vector<Mode> modes = layout.modes();
  std::erase_if(modes, [](const Mode& mode) { return mode.extent == 1 || mode.stride == 0; });
  for (const Mode& mode : modes) {
    if (mode.stride < 0 || mode.extent == 0) {
      throw ArgumentError("layout", fmt::format("the {} of {} is not defined: a mode {}", what, cute_text(layout),
                                                mode.extent == 0 ? "has no indices" : "steps backwards"));
    }
  }
  std::ranges::stable_sort(modes, [](const Mode& a, const Mode& b) {
    return a.stride != b.stride ? a.stride < b.stride : a.extent < b.extent;
  });
  return modes;
}

/// A mode, and the number of indices from one of its indices to the next.
struct Numbered {
  Mode mode;
  SymInt step;
};

std::vector<Numbered> numbered(const std::vector<Mode>& modes) {
  std::vector<Numbered> all;
  SymInt step = 1;
  for (const Mode& mode : modes) {
    all.push_back({mode, step});
    step = step * mode.extent;
  }
  return all;
}

/// The position of a number; beyond the size the last mode goes on.
SymInt position_of(const std::vector<Mode>& modes, SymInt number) {
  SymInt position = 0;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const bool last = k + 1 == modes.size();
    position = position + (last ? number : number % modes[k].extent) * modes[k].stride;
    number = number / modes[k].extent;
  }
  return position;
}

/// Does inverse(layout(i)) stand for an index with i's position, for every i?
bool inverts(const std::vector<Mode>& inverse, const CuteLayout& layout, const std::vector<Numbered>& moving) {
  // If each step is a multiple of all that faster modes reach, positions are digits and the inverse reads them.
  bool digits = true;
  SymInt reached = 1;
  for (const Numbered& next : moving) {
    digits = digits && next.mode.stride % reached == 0;
    reached = next.mode.stride * next.mode.extent;
  }
  if (digits) return true;
  if (layout.size() > kMostIndices)
    throw ArgumentError("layout",
                        fmt::format("whether {} has a left inverse is not decided by its strides, and it has more "
                                    "than 10^7 indices",
                                    cute_text(layout)));
  const std::vector<Mode> modes = layout.modes();
  for (SymInt i = 0; i < layout.size(); i = i + 1) {
    const SymInt position = position_of(modes, i);
    if (position_of(modes, position_of(inverse, position)) != position) return false;
  }
  return true;
}

/// Row-major pieces of an axis as a CuTe layout: the last piece comes first.
CuteLayout mode_of(const Ints& extents, const SymInt* strides) {
  std::vector<CuteLayout> modes;
  for (std::size_t k = extents.size(); k-- > 0;) modes.push_back(CuteLayout::of({extents[k], strides[k]}));
  return modes.size() == 1 ? modes[0] : CuteLayout::list(modes);
}

/// Puts a layout in place of each number of the shape, in order.
CuteLayout substituted(const IntTuple& shape, const std::vector<CuteLayout>& leaves, std::size_t& next) {
  if (!shape.list) return leaves[next++];
  std::vector<CuteLayout> parts;
  for (const IntTuple& part : shape.parts) parts.push_back(substituted(part, leaves, next));
  return CuteLayout::list(parts);
}

}  // namespace

CuteLayout CuteLayout::of(const Mode& mode) { return {IntTuple::of(mode.extent), IntTuple::of(mode.stride)}; }

CuteLayout CuteLayout::list(const std::vector<CuteLayout>& modes) {
  CuteLayout layout{IntTuple::of(std::vector<IntTuple>()), IntTuple::of(std::vector<IntTuple>())};
  for (const CuteLayout& mode : modes) {
    layout.shape.parts.push_back(mode.shape);
    layout.stride.parts.push_back(mode.stride);
  }
  return layout;
}

CuteLayout CuteLayout::coalesced(const std::vector<Mode>& modes) {
  std::vector<Mode> joined;
  for (const Mode& mode : modes) {
    if (mode.extent == 1) continue;
    if (!joined.empty() && mode.stride == joined.back().extent * joined.back().stride) {
      joined.back().extent = joined.back().extent * mode.extent;
    } else {
      joined.push_back(mode);
    }
  }
  if (joined.empty()) return of({1, 0});
  if (joined.size() == 1) return of(joined[0]);
  std::vector<CuteLayout> parts;
  parts.reserve(joined.size());
  for (const Mode& mode : joined) parts.push_back(of(mode));
  return list(parts);
}

std::vector<Mode> CuteLayout::modes() const {
  std::vector<Mode> modes;
  add_modes(shape, stride, modes);
  return modes;
}

CuteLayout CuteLayout::part(std::size_t k) const {
  return shape.list ? CuteLayout{shape.parts[k], stride.parts[k]} : *this;
}

SymInt CuteLayout::cosize() const {
  SymInt last = 0;
  for (const Mode& mode : modes()) {
    if (mode.extent == 0) return 0;
    if (mode.stride < 0 && mode.extent > 1)
      throw ArgumentError("layout", fmt::format("{} steps backwards, below position 0", cute_text(*this)));
    last = last + (mode.extent - 1) * mode.stride;
  }
  return last + 1;
}

CuteLayout complement(const CuteLayout& layout, SymInt bound) {
  if (bound < 0) {
    throw ArgumentError("layout", fmt::format("the complement of {} is wanted up to {}; give a number >= 0",
                                              cute_text(layout), to_text(bound)));
  }
  std::vector<Mode> gaps;
  SymInt reached = 1;
  for (const Mode& mode : moving_modes(layout, "complement")) {
    if (mode.stride < reached) {
      throw ArgumentError("layout",
                          fmt::format("the complement of {} is not defined: faster modes reach position {}, and mode "
                                      "{}:{} steps by less; CuTe asks that, by rising strides, each stride is at least "
                                      "the extent times the stride of the mode before",
                                      cute_text(layout), to_text(reached), to_text(mode.extent), to_text(mode.stride)));
    }
    if (mode.stride > reached) gaps.push_back({mode.stride / reached, reached});
    reached = mode.stride * mode.extent;
  }
  gaps.push_back({ceil_quotient(bound, reached), reached});
  return CuteLayout::coalesced(gaps);
}

CuteLayout right_inverse(const CuteLayout& layout) {
  std::vector<Mode> inverse;
  SymInt reached = 1;
  std::vector<Numbered> sorted = numbered(layout.modes());
  std::ranges::stable_sort(sorted, [](const Numbered& a, const Numbered& b) {
    return a.mode.stride != b.mode.stride ? a.mode.stride < b.mode.stride : a.mode.extent < b.mode.extent;
  });
  for (const Numbered& next : sorted) {
    if (next.mode.extent == 1 || next.mode.stride != reached) continue;
    inverse.push_back({next.mode.extent, next.step});
    reached = reached * next.mode.extent;
  }
  return CuteLayout::coalesced(inverse);
}

CuteLayout left_inverse(const CuteLayout& layout) {
  moving_modes(layout, "left inverse");
  std::vector<Numbered> moving = numbered(CuteLayout::coalesced(layout.modes()).modes());
  std::erase_if(moving, [](const Numbered& n) { return n.mode.stride == 0 || n.mode.extent == 1; });
  if (moving.empty()) return CuteLayout::of({layout.size(), 0});
  std::ranges::stable_sort(moving, {}, [](const Numbered& n) { return n.mode.stride.value(); });
  std::vector<Mode> inverse;
  SymInt reached = 1;
  SymInt step = 0;  // positions that the first mode leaves out lie below its first step
  for (const Numbered& next : moving) {
    const SymInt extent = next.mode.stride / reached;
    inverse.push_back({extent, step});
    reached = reached * extent;
    step = next.step;
  }
  inverse.push_back({moving.back().mode.extent, step});
  if (!inverts(inverse, layout, moving)) {
    throw ArgumentError("layout",
                        fmt::format("{} has no left inverse of strides: the only candidate, {}, gives back other "
                                    "indices",
                                    cute_text(layout), cute_text(CuteLayout::coalesced(inverse))));
  }
  return CuteLayout::coalesced(inverse);
}

View view_of(const CuteLayout& layout) {
  View view;
  for (const Mode& mode : layout.modes()) {
    view.shape.push_back(mode.extent);
    view.strides.push_back(mode.stride);
  }
  return View::make(view.shape, view.strides);
}

ShapeTracker simplest(const ShapeTracker& tracker) { return tracker.single() ? tracker : tracker.simplify(); }

ShapeTracker composed(const CuteLayout& layout, const CuteLayout& other) {
  std::vector<Mode> modes = CuteLayout::coalesced(layout.modes()).modes();
  // The slowest mode goes on beyond the layout's size.
  SymInt faster = 1;
  for (std::size_t k = 0; k + 1 < modes.size(); ++k) faster = faster * modes[k].extent;
  const SymInt needed = other.cosize();
  if (faster * modes.back().extent == 0)
    throw ArgumentError("layout", fmt::format("{} has no index to compose with", cute_text(layout)));
  if (faster * modes.back().extent < needed) modes.back().extent = ceil_quotient(needed, faster);
  View below;
  for (std::size_t k = modes.size(); k-- > 0;) {
    below.shape.push_back(modes[k].extent);
    below.strides.push_back(modes[k].stride);
  }
  const View stack[] = {View::make(below.shape, below.strides), view_of(other)};
  return ShapeTracker::from_views(stack);
}

std::optional<CuteLayout> split_layout(const IntTuple& shape, const ShapeTracker& tracker) {
  const ShapeTracker simple = simplest(tracker);
  std::optional<Refinement> refinement;
  if (simple.single()) {
    refinement = Refinement{{}, simple.views()[0]};
    for (const SymInt extent : simple.shape()) refinement->pieces.push_back(Ints{extent});
  } else {
    refinement = simple.refine();
  }
  if (!refinement || refinement->view.masked() || refinement->view.offset != 0) return std::nullopt;
  std::vector<CuteLayout> leaves;
  const SymInt* strides = refinement->view.strides.data();
  for (const Ints& pieces : refinement->pieces) {
    leaves.push_back(mode_of(pieces, strides));
    strides += pieces.size();
  }
  std::size_t next = 0;
  return substituted(shape, leaves, next);
}

CuteLayout compose(const CuteLayout& layout, const CuteLayout& other) {
  if (std::optional<CuteLayout> found = split_layout(other.shape, composed(layout, other))) return *found;
  throw ArgumentError("layout", fmt::format("{} o {} is no layout: no split of its modes has strides",
                                            cute_text(layout), cute_text(other)));
}

CuteLayout logical_divide(const CuteLayout& layout, const CuteLayout& tiler) {
  return compose(layout, CuteLayout::list({tiler, complement(tiler, layout.size())}));
}

CuteLayout logical_product(const CuteLayout& layout, const CuteLayout& other) {
  return CuteLayout::list({layout, compose(complement(layout, layout.size() * other.cosize()), other)});
}

CuteLayout paired_product(const CuteLayout& layout, const CuteLayout& other, bool raked) {
  const std::size_t rank = std::max(layout.rank(), other.rank());
  const CuteLayout product = logical_product(padded(layout, rank), padded(other, rank));
  std::vector<CuteLayout> pairs;
  for (std::size_t k = 0; k < rank; ++k) {
    CuteLayout block = product.part(0).part(k);
    CuteLayout blocks = product.part(1).part(k);
    pairs.push_back(raked ? CuteLayout::list({std::move(blocks), std::move(block)})
                          : CuteLayout::list({std::move(block), std::move(blocks)}));
  }
  return CuteLayout::list(pairs);
}

}  // namespace oriel::layouts
