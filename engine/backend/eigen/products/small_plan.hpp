// Many products of small matrices, prepared to run side by side: sixteen at a time, one in each lane.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/eigen/isa/lane_table.hpp"
#include "backend/eigen/products/contraction_plan.hpp"

namespace oriel::backend::eigen {

/// How the elements of a matrix in memory become rows of lanes. Piece k has `elements` elements, `unit` apart in
/// memory, from k * piece on; element e of it is row k * elements + e.
struct LaneLayout {
  codegen::Matrices memory;  // of its loops, neighbours that walk evenly are one
  std::int64_t pieces = 1;
  std::int64_t piece = 0;
  std::int64_t elements = 1;
  std::int64_t unit = 1;
};

struct SmallPlan final : PathPlan {
  codegen::Contraction shape;
  const isa::Table* table = nullptr;
  const isa::LaneTable* lanes = nullptr;
  int log_bytes = 2;
  LaneLayout left;
  LaneLayout right;
  isa::SmallProducts strides;         // of rows of lanes; the pointers are null
  std::optional<LaneLayout> results;  // set if the results are only stored
  FramedPlan epilogue;
  // Set if the factors, and the results that are only stored, are successive matrices of 2 x 2, or vectors of up to
  // four elements and squares: these are multiplied where they lie.
  isa::InPlaceFn in_place = nullptr;

  double nanoseconds() const override;
  std::string describe(const codegen::LoopProgram& program) const override;
  /// Threads share the matrices.
  void run(const Team& threads, std::span<void* const> arguments,
           std::span<const graph::Scalar> parameters) const override;
};
/// The plan, if it is one of small products; else null.
inline const SmallPlan* small_plan(const Plan& plan) {
  return plan.path == KernelPath::SmallProducts ? static_cast<const SmallPlan*>(plan.by_use.get()) : nullptr;
}

/// The most elements of the results that operations run on together.
inline constexpr std::int64_t kSmallResultTile = 2048;

/// Null unless `program` is a contraction of many small matrices whose factors are evenly spaced elements of memory.
/// The sum has the order of other reductions, so the path may depend on the device alone.
std::shared_ptr<const SmallPlan> plan_small_products(const codegen::LoopProgram& program, const isa::Table& table);

}  // namespace oriel::backend::eigen
