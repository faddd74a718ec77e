// What a kernel works in: how long a rendered one's tiles are, how much memory its variables take, and sizes that both
// tiers share. And what a kernel for many sizes takes from the numbers of one call.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"
#include "ops/functions/reduction_order.hpp"
#include "oriel/dtype.hpp"
#include "sym/estimate.hpp"

namespace oriel::source::cpp {

/// Outputs of at least this size use streaming stores. They would be evicted before their next read, and a streaming
/// store does not fetch the line first.
inline constexpr std::int64_t kStreamBytes = std::int64_t{32} << 20;

inline bool bypasses_caches(const codegen::Argument& output) {
  return sym::estimate(output.elements) >= kStreamBytes / static_cast<std::int64_t>(itemsize(output.dtype));
}

/// Lanes of the order of a reduction (backend/eigen/tile/README.md).
inline constexpr int kReductionLanes = ops::reduction::kOrder;
/// Are the stage's rows long enough to be reduced in registers?
inline bool fills_lanes(const codegen::Stage& stage) {
  return !stage.inner.empty() && sym::estimate(stage.inner.back()) >= kReductionLanes;
}

/// Elements of a block of the order of a reduction (backend/eigen/tile/README.md).
inline constexpr std::int64_t kReductionBlock = ops::reduction::kBlock;
/// Does a column of the stage end in the block in which it begins?
bool one_block(const codegen::Stage& stage);
/// Tiles of columns whose number is symbolic: few lengths, since each is another source. One if nothing is reduced.
int columns_tile(const codegen::LoopProgram& program);

/// The tile length that wastes least on loops of these extents: whole blocks of the reduction order, a few elements'
/// time a tile.
int tile_length(const std::vector<std::int64_t>& extents, int longest);

/// A type of a kernel's variables, and the bytes that it takes in a frame, at least, on any target.
struct Type {
  std::string text;
  std::int64_t bytes = 8;
  std::int64_t alignment = 8;
};
/// Int, a position or a number of elements.
Type position_type();
Type pointer_type(const std::string& element);
/// Memory whose first element counts as another number than 0.
Type shifted_type(const std::string& element);
/// A value of `dtype` (spelling.hpp).
Type number_type(DType dtype);
/// `n` of them, as `text`.
Type values_type(const std::string& text, DType dtype, std::int64_t n);
Type row_reduction_type(const std::string& functor, DType dtype);
/// In tiles of `tile` elements; `levels` blocks wait.
Type column_reduction_type(const std::string& functor, DType dtype, std::int64_t tile, int levels);
/// The members of the struct that a large kernel's functions share.
class FrameMembers {
 public:
  /// Adds a member unless there is one of that name.
  void add(const Type& type, const std::string& name);
  /// A line each.
  const std::string& text() const { return text_; }
  /// At least what the struct takes where it begins at a multiple of 64.
  std::int64_t bytes() const;

 private:
  std::set<std::string> names_;
  std::string text_;
  std::int64_t bytes_ = 0;
};

/// The kernel at two sets of sizes has the same source (render_unit) if it has the same key at both: loops run
/// along the same axis in equal tiles, the same rows are kept, the same reductions stay in registers or in one block,
/// axes have the same roles in a contraction, and the same outputs bypass the caches.
class SpecialisationKey {
 public:
  /// `accesses`: codegen::LoweredKernel::former_accesses.
  SpecialisationKey(const codegen::LoopProgram& program, std::span<const std::int32_t> accesses);

  friend bool operator==(const SpecialisationKey&, const SpecialisationKey&) = default;

 private:
  struct StageOutline {
    std::vector<codegen::Instr> body;
    std::vector<codegen::Instr> outer;
    bool fills_lanes;
    bool one_block;
    friend bool operator==(const StageOutline&, const StageOutline&) = default;
  };
  struct ProductOutline {
    std::vector<std::size_t> batch_loops;
    std::vector<std::size_t> row_loops;
    std::vector<std::size_t> column_loops;
    bool windows;
    friend bool operator==(const ProductOutline&, const ProductOutline&) = default;
  };
  codegen::Orientation orientation_;
  std::optional<ProductOutline> product_;
  std::vector<StageOutline> stages_;
  std::vector<std::int32_t> accesses_;
  std::vector<bool> bypasses_;  // by argument
  int columns_tile_ = 0;
};

}  // namespace oriel::source::cpp
