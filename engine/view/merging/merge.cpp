// The decision procedure for merging two views into one.
#include "view/merging/merge.hpp"

#include <algorithm>
#include <atomic>

#include "oriel/error.hpp"
#include "view/canonical.hpp"
#include "view/merging/outer_walk.hpp"

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

MergeResult refused(MergeVerdict verdict) { return {verdict, {}}; }

/// The walk's axes by descending step, if the walk is row-major over exactly 0 .. count-1. The outer view is then a
/// reshape followed by permute, flip, expand and pad only. Empty otherwise, and for count 1, which has no axes.
InlineVector<std::size_t, 8> row_major_order(const Walk& walk, Int count) {
  InlineVector<std::size_t, 8> order;
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

__extension__ using Wide = __int128;

void add(Wide& sum, Wide term) {
  if (__builtin_add_overflow(sum, term, &sum)) throw ArithmeticOverflow();
}

Int in_64_bits(Wide n) {
  if (n < INT64_MIN || n > INT64_MAX) throw ArithmeticOverflow();
  return static_cast<std::int64_t>(n);
}

/// The general case on plain numbers: finds the box where the inner masks hold, then tests whether the value is affine
/// on it.
template <Number N>
MergeResult merge_general(const View& outer, OuterWalk<Int>& outer_walk, const BasicBlocks<N>& blocks) {
  CarryTerms terms;
  Constraints constraints;
  Int cut = 1;
  Int below = 0;
  Assumptions<N> numbers;  // stays empty: the blocks are numbers
  for (const BasicBlock<N>& block : blocks.list) {
    const Int extent = block.extent.value();
    const Int stride = block.stride.value();
    terms.push_back({cut, stride - below});
    below = extent * stride;
    if (!block.full(numbers))
      constraints.push_back({cut * extent, Int(block.lo.value()) * cut, Int(block.hi.value()) * cut});
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
  // The sum is computed in 128 bits, because single terms may exceed 64 bits although the sum fits.
  const auto carried = [&terms](Int n) {
    Wide sum = 0;
    for (const CarryTerm& term : terms) {
      if (term.coefficient != 0) add(sum, Wide{term.coefficient.value()} * (n / term.cut).value());
    }
    return sum;
  };
  Placement<N> result(outer);
  const Wide first = carried(walk.base);
  Wide offset = first;
  add(offset, blocks.offset.value());
  for (std::size_t k = 0; k < walk.rank(); ++k) {
    // The slope is measured on the map itself, because a step may carry.
    const Int slope = walk.extent[k] > 1 ? in_64_bits(carried(walk.base + walk.step[k]) - first) : Int(0);
    result.place(outer_walk.axis[k], slope.value(), start[k].value(), (start[k] + walk.extent[k]).value());
    add(offset, -(Wide{slope.value()} * start[k].value()));
  }
  return result.finish(in_64_bits(offset).value());
}

/// N is SymInt where a number is beyond 2^62.
template <Number N>
MergeResult decide_plain(const View& outer, const View& inner) {
  if (has_zero_extent_as<N>(outer.shape)) return {MergeVerdict::Merged, extentless_view(outer.shape)};
  BasicBlocks<N> blocks;
  if (has_empty_range_as<N>(outer.mask) || !split_blocks(inner, blocks)) return merged_invalid(outer.shape);
  if (blocks.list.empty() || (blocks.list.size() == 1 && blocks.list[0].full(blocks.assumed)))
    return merge_affine(outer, blocks);
  OuterWalk<Int> outer_walk = walk_of<Int>(outer);
  Int count = 1;
  for (const BasicBlock<N>& block : blocks.list) count *= block.extent.value();
  const auto order = row_major_order(outer_walk.walk, count);
  if (!order.empty()) return merge_reshape(outer, outer_walk, blocks, {order.data(), order.size()});
  return merge_general(outer, outer_walk, blocks);
}

MergeResult decide(const View& outer, const View& inner, bool plain) {
  if (plain) return decide_plain<Plain>(outer, inner);
  if (is_symbolic(outer) || is_symbolic(inner)) return merge_symbolic(outer, inner);
  return decide_plain<SymInt>(outer, inner);
}

MergeResult decide_or_unknown(const View& outer, const View& inner, bool plain) {
  try {
    return decide(outer, inner, plain);
  } catch (const ArithmeticOverflow&) {
    return refused(MergeVerdict::Unknown);
  } catch (const OverflowError&) {
    return refused(MergeVerdict::Unknown);
  }
}

}  // namespace

MergeStatistics merge_statistics() noexcept {
  return {all_merges.load(std::memory_order_relaxed), all_searches.load(std::memory_order_relaxed),
          all_steps.load(std::memory_order_relaxed), all_unknown.load(std::memory_order_relaxed)};
}

const MergeStatistics& thread_merge_statistics() noexcept { return own; }

void count_steps(Int steps) noexcept { own.steps += static_cast<std::uint64_t>(steps.value()); }

}  // namespace detail

MergeResult detail::merge_as(const View& outer, const View& inner, bool plain) {
  const detail::Counted counted;
  MergeResult result = detail::decide_or_unknown(outer, inner, plain);
  if (result.verdict == MergeVerdict::Unknown) {
    ++detail::own.unknown;
    detail::all_unknown.fetch_add(1, std::memory_order_relaxed);
  }
  return result;
}

MergeResult merge(const View& outer, const View& inner) {
  return detail::merge_as(outer, inner, detail::is_plain(outer, inner));
}

}  // namespace oriel
