// The decision procedure for merging two views into one.
#include "view/merging/merge.hpp"

#include <algorithm>
#include <atomic>
#include <boost/container/small_vector.hpp>

#include "oriel/error.hpp"
#include "view/canonical.hpp"
#include "view/reshape.hpp"

namespace oriel {
namespace detail {
namespace {

std::atomic<std::uint64_t> all_merges{0};
std::atomic<std::uint64_t> all_searches{0};
std::atomic<std::uint64_t> all_steps{0};
std::atomic<std::uint64_t> all_unknown{0};
thread_local MergeStatistics own;

/// Adds one merge to the statistics when it is destroyed, however the merge ends.
class Counted {
 public:
  Counted() noexcept : steps_(own.steps) {
    ++own.merges;
    all_merges.fetch_add(1, std::memory_order_relaxed);
  }
  ~Counted() {
    if (own.steps == steps_) return;
    ++own.searches;
    all_searches.fetch_add(1, std::memory_order_relaxed);
    all_steps.fetch_add(own.steps - steps_, std::memory_order_relaxed);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::uint64_t steps_;
};

MergeResult merged(View view) { return {MergeVerdict::Merged, std::move(view)}; }
MergeResult refused(MergeVerdict verdict) { return {verdict, {}}; }

/// The view that is invalid everywhere. Every shape except () has one.
MergeResult merged_invalid(const Shape& shape) {
  return shape.empty() ? refused(MergeVerdict::No) : merged(invalid_view(shape));
}

/// The outer view cropped to its mask, with reversed axes turned around: only the axes that move, with positive steps.
struct OuterWalk {
  Walk walk;
  boost::container::small_vector<std::size_t, 8> axis;  // the outer view's axis behind each walk axis
};

OuterWalk walk_of(const View& outer) {
  OuterWalk result;
  result.walk.base = Int(outer.offset);
  for (std::size_t d = 0; d < outer.rank(); ++d) {
    const Range range = valid_range(outer, d);
    const Int step(outer.strides[d]);
    if (step == 0) continue;
    const Int extent = Int(range.hi) - Int(range.lo);
    result.walk.base += step * (step > 0 ? Int(range.lo) : Int(range.hi) - 1);
    if (extent == 1) continue;
    result.walk.step.push_back(detail::abs(step));
    result.walk.extent.push_back(extent);
    result.axis.push_back(d);
  }
  return result;
}

/// Converts results from walk coordinates back to the outer view's axes.
class Placement {
 public:
  explicit Placement(const View& outer) : outer_(outer) {
    view_.shape = outer.shape;
    view_.strides.resize(outer.rank());
    view_.mask = outer.mask;
    if (view_.mask.empty()) {
      view_.mask.resize(outer.rank());
      for (std::size_t d = 0; d < outer.rank(); ++d) view_.mask[d] = {0, outer.shape[d]};
    }
  }

  /// Sets axis d: it has this slope and is valid on [lo, hi), both in walk coordinates.
  void place(std::size_t d, SymInt slope, SymInt lo, SymInt hi) {
    const Range range = valid_range(outer_, d);
    if (outer_.strides[d] > 0) {
      view_.strides[d] = slope;
      view_.mask[d] = {range.lo + lo, range.lo + hi};
      view_.offset -= slope * range.lo;
    } else {
      view_.strides[d] = -slope;
      view_.mask[d] = {range.hi - hi, range.hi - lo};
      view_.offset += slope * (range.hi - 1);
    }
  }

  MergeResult finish(SymInt offset) {
    view_.offset += offset;
    canonicalize(view_);
    return merged(std::move(view_));
  }

 private:
  const View& outer_;
  View view_;
};

/// The walk's axes by descending step, if the walk is row-major over exactly 0 .. count-1. The outer view is then a
/// reshape followed by permute, flip, expand and pad only. Empty otherwise, and for count 1, which has no axes.
boost::container::small_vector<std::size_t, 8> row_major_order(const Walk& walk, Int count) {
  boost::container::small_vector<std::size_t, 8> order;
  if (walk.base != 0) return order;
  for (std::size_t d = 0; d < walk.rank(); ++d) {
    std::size_t place = order.size();
    order.push_back(d);
    for (; place > 0 && walk.step[order[place - 1]] < walk.step[d]; --place) order[place] = order[place - 1];
    order[place] = d;
  }
  Int width = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    if (walk.step[order[k]] != width) return {};
    width *= walk.extent[order[k]];
  }
  if (width != count) order.clear();
  return order;
}

MergeResult merge_reshape(const View& outer, const OuterWalk& outer_walk, const Blocks& blocks,
                          const boost::container::small_vector<std::size_t, 8>& order) {
  Shape extents(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) extents[k] = outer_walk.walk.extent[order[k]].value();
  Ints strides;
  Ranges mask;
  if (!reshape_blocks(blocks, extents, strides, mask)) return refused(MergeVerdict::No);
  Placement result(outer);
  for (std::size_t k = 0; k < order.size(); ++k) {
    result.place(outer_walk.axis[order[k]], strides[k], mask[k].lo, mask[k].hi);
  }
  return result.finish(blocks.offset);
}

__extension__ using Wide = __int128;

void add(Wide& sum, Wide term) {
  if (__builtin_add_overflow(sum, term, &sum)) throw ArithmeticOverflow();
}

Int in_64_bits(Wide n) {
  if (n < INT64_MIN || n > INT64_MAX) throw ArithmeticOverflow();
  return static_cast<std::int64_t>(n);
}

/// The general case, on plain numbers: carries, masks, value.
MergeResult merge_general(const View& outer, OuterWalk outer_walk, const Blocks& blocks) {
  CarryTerms terms;
  Constraints constraints;
  Int cut = 1;
  Int below = 0;
  for (const Block& block : blocks.list) {
    const Int extent(block.extent);
    const Int stride(block.stride);
    terms.push_back({cut, stride - below});
    below = extent * stride;
    if (!block.full()) constraints.push_back({cut * extent, Int(block.lo) * cut, Int(block.hi) * cut});
    cut *= extent;
  }
  Walk& walk = outer_walk.walk;
  IntList start;
  switch (find_valid_box(walk, start, constraints)) {
    case BoxVerdict::Nothing:
      return merged_invalid(outer.shape);
    case BoxVerdict::No:
      return refused(MergeVerdict::No);
    case BoxVerdict::Unknown:
      return refused(MergeVerdict::Unknown);
    case BoxVerdict::Box:
      break;
  }
  switch (affine_value(walk, terms)) {
    case AffineVerdict::No:
      return refused(MergeVerdict::No);
    case AffineVerdict::Unknown:
      return refused(MergeVerdict::Unknown);
    case AffineVerdict::Affine:
      break;
  }
  // In 128 bits: single terms may exceed 64 bits although their sum fits.
  const auto carried = [&terms](Int n) {
    Wide sum = 0;
    for (const CarryTerm& term : terms) {
      if (term.coefficient != 0) add(sum, Wide{term.coefficient.value()} * (n / term.cut).value());
    }
    return sum;
  };
  Placement result(outer);
  const Wide first = carried(walk.base);
  Wide offset = first;
  add(offset, Int(blocks.offset).value());
  for (std::size_t k = 0; k < walk.rank(); ++k) {
    // The slope is measured on the map itself, because a step may carry.
    const Int slope = walk.extent[k] > 1 ? in_64_bits(carried(walk.base + walk.step[k]) - first) : Int(0);
    result.place(outer_walk.axis[k], slope.value(), start[k].value(), (start[k] + walk.extent[k]).value());
    add(offset, -(Wide{slope.value()} * start[k].value()));
  }
  return result.finish(in_64_bits(offset).value());
}

MergeResult decide(const View& outer, const View& inner) {
  if (has_zero_extent(outer.shape)) return merged(extentless_view(outer.shape));
  Blocks blocks;
  if (has_empty_range(outer.mask) || !split_blocks(inner, blocks)) return merged_invalid(outer.shape);
  if (blocks.list.empty() || (blocks.list.size() == 1 && blocks.list[0].full())) {
    // The inner view is affine on flat indices, so the merge only scales.
    const SymInt scale = blocks.list.empty() ? SymInt(0) : blocks.list[0].stride;
    View view = outer;
    for (SymInt& stride : view.strides) stride *= scale;
    view.offset = blocks.offset + scale * outer.offset;
    canonicalize(view);
    return merged(std::move(view));
  }
  OuterWalk outer_walk = walk_of(outer);
  Int count = 1;
  for (const Block& block : blocks.list) count *= Int(block.extent);
  const auto order = row_major_order(outer_walk.walk, count);
  if (!order.empty()) return merge_reshape(outer, outer_walk, blocks, order);
  return merge_general(outer, std::move(outer_walk), blocks);
}

}  // namespace

MergeStatistics merge_statistics() noexcept {
  return {all_merges.load(std::memory_order_relaxed), all_searches.load(std::memory_order_relaxed),
          all_steps.load(std::memory_order_relaxed), all_unknown.load(std::memory_order_relaxed)};
}

const MergeStatistics& thread_merge_statistics() noexcept { return own; }

void count_steps(Int steps) noexcept { own.steps += static_cast<std::uint64_t>(steps.value()); }

}  // namespace detail

MergeResult merge(const View& outer, const View& inner) {
  const detail::Counted counted;
  MergeResult result;
  try {
    result = detail::decide(outer, inner);
  } catch (const detail::ArithmeticOverflow&) {
    result.verdict = MergeVerdict::Unknown;
  } catch (const OverflowError&) {
    result.verdict = MergeVerdict::Unknown;
  }
  if (result.verdict == MergeVerdict::Unknown) {
    ++detail::own.unknown;
    detail::all_unknown.fetch_add(1, std::memory_order_relaxed);
  }
  return result;
}

}  // namespace oriel
