#include "view/reshape.hpp"

namespace oriel::detail {
namespace {

/// Expresses the interval [block.lo, block.hi) as a box of digits of the target axes [first, last), most significant
/// first. While both ends lie in the same row, the digit is fixed. After that, the interval must consist of whole rows.
/// False if it is no box.
bool split_interval(const Block& block, const Shape& target, std::size_t first, std::size_t last, Ranges& mask) {
  SymInt lo = block.lo;
  SymInt hi = block.hi;
  SymInt row = block.extent;
  for (std::size_t d = first; d < last; ++d) {
    row = row / target[d];
    const SymInt top = lo / row;
    const SymInt bottom = (hi - 1) / row;
    mask[d] = {top, bottom + 1};
    if (top == bottom) {
      lo -= top * row;
      hi -= top * row;
    } else if (lo % row == 0 && hi % row == 0) {
      lo = 0;
      hi = row;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool reshape_blocks(const Blocks& blocks, const Shape& target, Ints& strides, Ranges& mask) {
  const std::size_t rank = target.size();
  strides.assign(rank, 0);
  mask.resize(rank);
  std::size_t next = rank;  // target axes [next, rank) are done
  for (const Block& block : blocks.list) {
    const std::size_t end = next;
    SymInt width = 1;
    while (width < block.extent) {
      if (next == 0) return false;
      --next;
      strides[next] = block.stride * width;
      width *= target[next];
      if (block.extent % width != 0) return false;
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

}  // namespace oriel::detail
