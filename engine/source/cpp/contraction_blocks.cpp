#include "source/cpp/contraction_blocks.hpp"

#include <algorithm>
#include <cstdlib>

namespace oriel::source::cpp {

using codegen::quotient_up;
using codegen::round_up;

namespace {

// The rows of a block of results, and its panels of columns. The packed factors of a block stay in the second cache,
// and the block is large enough that packing takes little time beside multiplying. Blocks on the stack are smaller.
constexpr std::int64_t kHeapRows = 256;
constexpr std::int64_t kLeastRows = 64;
constexpr std::int64_t kStackRowBytes = 512;  // the bytes of all rows at one depth
constexpr std::int64_t kPanels = 5;
constexpr std::int64_t kStackPanels = 2;
// With at least this many blocks of results, threads have enough to share.
constexpr std::int64_t kEnoughBlocks = 16;
// A factor is read where it lies if its depths are at most this many bytes apart.
constexpr std::int64_t kNear = 4096;
// With at most this many rows, packing never pays off.
constexpr std::int64_t kFewRows = 64;
// Elements added between rows whose distance would be a multiple of a high power of two.
constexpr std::int64_t kApart = 16;

/// The pitch of rows of this many elements: a whole number of cache lines, but never one at which rows compete for the
/// same cache sets.
std::int64_t pitch_of(std::int64_t elements, std::int64_t element_bytes) {
  const std::int64_t pitch = round_up(elements, kApart);
  return pitch * element_bytes % 256 == 0 ? pitch + kApart : pitch;
}

/// Sets what is kept. `rest`: do the last columns fill no register?
void set_sizes(ContractionBlocks& b, std::int64_t bytes, bool rest, bool segments, bool carries) {
  if (b.left == FactorLayout::ByRows) {
    b.left_pitch = pitch_of(b.chunk, bytes);
    b.left_size = kStrip * b.left_pitch;
  } else if (b.left == FactorLayout::ByDepths) {
    b.left_pitch = b.chunk * kStrip + 64 / bytes;
    b.left_size = b.rows / kStrip * b.left_pitch;
    if (!b.left_in_memory) b.line_size = b.rows;
  }
  if (b.right != FactorLayout::InMemory) {
    b.right_pitch = pitch_of(b.columns, bytes);
    b.right_size = b.chunk * b.right_pitch;
  } else if (rest) {
    b.right_size = b.chunk * (64 / bytes);
  }
  if (b.right == FactorLayout::Transposed && !b.right_in_memory) {
    b.transposed_pitch = pitch_of(b.chunk, bytes);
    b.transposed_size = 64 / bytes * b.transposed_pitch;
  }
  b.sums_size = (b.strips ? kStrip : b.rows) * b.columns;
  if (carries) b.carry_size = b.rows * b.columns;
  if (segments) b.total_size = b.rows * b.columns;
  for (std::int64_t* size :
       {&b.left_size, &b.line_size, &b.right_size, &b.transposed_size, &b.sums_size, &b.carry_size, &b.total_size})
    *size = round_up(*size, 64 / bytes);
}

}  // namespace

ContractionBlocks choose_blocks(const codegen::ProductForm& plan, Keep keep, int longest_tile) {
  const codegen::Contraction& c = plan.shape;
  const auto bytes = static_cast<std::int64_t>(itemsize(c.dtype));
  const bool small = longest_tile < 256;
  ContractionBlocks b;
  // Two or three registers of 64 bytes, a multiple of the panels of shorter registers.
  b.panel = (is_floating(c.dtype) ? 192 : 128) / bytes;
  b.chunk = small ? std::min<std::int64_t>(plan.depth_block, longest_tile) : plan.depth_block;
  const std::int64_t panels = quotient_up(c.columns, b.panel);
  const std::int64_t most = small ? 1 : keep == Keep::Heap ? kPanels : kStackPanels;
  const std::int64_t across = quotient_up(panels, most);
  b.columns = quotient_up(panels, across) * b.panel;

  const auto& left = plan.left.memory;
  const auto& right = plan.right.memory;
  const auto near = [&](std::int64_t step) { return std::abs(step) * bytes <= kNear; };
  if (left && (left->step == 1 || (left->row == 1 && c.columns <= 4 * b.panel))) {
    b.left = FactorLayout::InMemory;
  } else {
    b.left = plan.left.transposed ? FactorLayout::ByRows : FactorLayout::ByDepths;
    b.left_in_memory = b.left == FactorLayout::ByDepths && left && left->row == 1;
  }
  if (right && right->row == 1 && (c.rows <= kFewRows || near(right->step))) {
    b.right = FactorLayout::InMemory;
  } else {
    b.right = plan.right.transposed ? FactorLayout::Transposed : FactorLayout::ByDepths;
    b.right_in_memory = b.right == FactorLayout::Transposed && right && right->step == 1;
  }

  b.rows = small                ? std::max<std::int64_t>(longest_tile / 2, kStrip)
           : keep == Keep::Heap ? kHeapRows
                                : kStackRowBytes / bytes;
  b.rows = std::min(b.rows, round_up(c.rows, kStrip));
  const auto blocks = [&] { return c.batches * quotient_up(c.rows, b.rows) * quotient_up(c.columns, b.columns); };
  const std::int64_t least = b.right == FactorLayout::InMemory ? kLeastRows : 2 * kLeastRows;
  while (!small && blocks() < kEnoughBlocks && b.rows > least) b.rows = round_up(b.rows / 2, kStrip);
  b.strips = c.depth <= b.chunk;

  set_sizes(b, bytes, c.columns % (64 / bytes) != 0, plan.segment < c.depth, b.chunk < plan.depth_block);
  return b;
}

ContractionBlocks symbolic_blocks(const codegen::ProductForm& plan, Keep keep, int longest_tile) {
  const auto bytes = static_cast<std::int64_t>(itemsize(plan.shape.dtype));
  const bool small = longest_tile < 256;
  ContractionBlocks b;
  b.panel = (is_floating(plan.shape.dtype) ? 192 : 128) / bytes;
  b.chunk = small ? longest_tile : codegen::order::kMostDepthBlock;
  b.columns = (small ? 1 : keep == Keep::Heap ? kPanels : kStackPanels) * b.panel;
  b.rows = small ? std::max<std::int64_t>(longest_tile / 2, kStrip) : kStackRowBytes / bytes;
  b.left = plan.left.transposed ? FactorLayout::ByRows : FactorLayout::ByDepths;
  b.right = plan.right.transposed ? FactorLayout::Transposed : FactorLayout::ByDepths;
  set_sizes(b, bytes, true, true, small);
  return b;
}

}  // namespace oriel::source::cpp
