#include "view/reshape.hpp"

namespace oriel::detail {
namespace {

/// Expresses the interval [block.lo, block.hi) as a box of digits of the target axes [first, last), most significant
/// first. While both ends lie in the same row, the digit is fixed. After that, the interval must consist of whole rows.
/// False if it is no box.
template <Number N>
bool split_interval(const BasicBlock<N>& block, const Shape& target, std::size_t first, std::size_t last,
                    Ranges& mask) {
  N lo = block.lo;
  N hi = block.hi;
  N row = block.extent;
  for (std::size_t d = first; d < last; ++d) {
    row = row / N(target[d]);
    const N top = lo / row;
    const N next_row = (top + 1) * row;
    if (hi <= next_row) {
      mask[d] = {top, top + 1};
      lo -= top * row;
      hi -= top * row;
      continue;
    }
    mask[d] = {top, (hi - 1) / row + 1};
    const N ends[] = {lo, hi};
    if (!all_axes<N>(2, [&](std::size_t k) { return ends[k] % row == 0; })) return false;
    lo = 0;
    hi = row;
  }
  return true;
}

}  // namespace

template <Number N>
bool reshape_blocks(const BasicBlocks<N>& blocks, const Shape& target, Ints& strides, Ranges& mask) {
  const std::size_t rank = target.size();
  strides.assign(rank, 0);
  mask.resize(rank);
  std::size_t next = rank;  // target axes [next, rank) are done
  for (const BasicBlock<N>& block : blocks.list) {
    const std::size_t end = next;
    N width = 1;  // divides block.extent
    while (!or_false(width == block.extent)) {
      if (next == 0) return false;
      --next;
      strides[next] = block.stride * width;
      width *= N(target[next]);
      if (!or_false(block.extent % width == 0)) return false;
    }
    if (block.full()) {
      for (std::size_t d = next; d < end; ++d) mask[d] = {0, target[d]};
    } else if (!split_interval(block, target, next, end, mask)) {
      return false;
    }
  }
  for (std::size_t d = 0; d < next; ++d) mask[d] = {0, target[d]};
  return true;
}

template bool reshape_blocks(const BasicBlocks<Plain>&, const Shape&, Ints&, Ranges&);
template bool reshape_blocks(const BasicBlocks<SymInt>&, const Shape&, Ints&, Ranges&);

}  // namespace oriel::detail
