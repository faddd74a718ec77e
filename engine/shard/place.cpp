// A stack of views as boxes. Each view below the outermost one is a set of boxes too: from the row-major index that the
// view above yields to a position. So composing views is joining boxes.
#include <fmt/format.h>

#include "oriel/error.hpp"
#include "shard/sharding.hpp"
#include "view/plain.hpp"
#include "view/positions.hpp"

namespace oriel::shards {
namespace {

/// The valid part of axis d.
Range valid_range(const View& view, std::size_t d) { return view.masked() ? view.mask[d] : Range{0, view.shape[d]}; }

bool is_without_elements(const View& view) {
  for (const SymInt extent : view.shape) {
    if (extent.value() == 0) return true;
  }
  return false;
}

/// The view with index columns in front: one loop for each axis, where column `index` counts as `index_strides` say.
Boxes view_boxes(const View& view, const std::vector<std::pair<Column, const Ints*>>& index, Column position) {
  if (is_without_elements(view)) return {};
  Box box;
  box.start[position] = view.offset.value();
  for (std::size_t d = 0; d < view.rank(); ++d) {
    const Range range = valid_range(view, d);
    Loop loop{(range.hi - range.lo).value(), {}};
    if (loop.count <= 0) return {};
    loop.step[position] = view.strides[d].value();
    for (const auto& [column, strides] : index) loop.step[column] = (*strides)[d].value();
    for (std::size_t c = 0; c < kColumns; ++c) box.start[c] += range.lo.value() * loop.step[c];
    if (loop.count > 1) box.loops.push_back(loop);
  }
  tidy(box);
  return {box};
}

bool is_identity(const View& view) {
  return !view.masked() && view.offset.value() == 0 && view == View::contiguous(view.shape).canonical();
}

}  // namespace

Boxes boxes_of(const ShapeTracker& place, const Ints& rank_strides, const Ints& local_strides) {
  // Sums of two positions must fit, here and wherever two boxes are compared.
  constexpr std::int64_t kMostPosition = std::int64_t{1} << 60;
  if (detail::is_symbolic(place.views())) {
    throw ShapeError("shard", fmt::format("sizes of {} are symbols; shardings need numbers", place.str()));
  }
  for (const View& view : place.views()) {
    const auto range = detail::position_range(view);
    if (range && (range->least < -kMostPosition || range->greatest > kMostPosition)) {
      throw OverflowError("shard", fmt::format("positions of {} exceed 2^60", view.str()));
    }
  }
  const auto views = place.views();
  Boxes boxes = view_boxes(views.back(), {{kRank, &rank_strides}, {kLocal, &local_strides}}, kPosition);
  for (std::size_t k = views.size() - 1; k-- > 0;) {
    const Ints row_major = contiguous_strides(views[k].shape);
    // A row-major view without a mask changes nothing, but for the positions outside of it, which it cuts.
    const View& below = views[k];
    if (is_identity(below) && detail::lies_inside(views[k + 1], below)) continue;
    const Boxes inner = view_boxes(below, {{kPosition, &row_major}}, kOtherLocal);
    constexpr Column from[] = {kOtherLocal, kRank, kLocal};
    constexpr Column to[] = {kPosition, kRank, kLocal};
    boxes = moved(join(boxes, inner, kPosition), from, to);
  }
  coalesce(boxes);
  return boxes;
}

}  // namespace oriel::shards
