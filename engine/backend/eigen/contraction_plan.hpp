// A contraction made ready: how its factors are packed, its blocks, and what is done to its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backend/eigen/plan.hpp"
#include "codegen/contraction.hpp"

namespace oriel::backend::eigen {

/// A matrix for each batch in a buffer: element (i, j) of batch b at offset + batch(b) + i * row + j * step.
struct Matrices {
  std::int32_t buffer = -1;
  std::int64_t offset = 0;
  std::int64_t row = 0;
  std::int64_t step = 0;
  std::vector<std::int64_t> extents;  // of the batch loops
  std::vector<std::int64_t> strides;

  std::int64_t at(std::int64_t batch) const noexcept {
    std::int64_t position = offset;
    for (std::size_t d = extents.size(); d-- > 0; batch /= extents[d]) position += batch % extents[d] * strides[d];
    return position;
  }
};

struct FactorPlan {
  FramedPlan values;               // a tile: depths by neighbouring rows (or columns)
  const Step* load = nullptr;      // where a load is all there is
  std::optional<Matrices> memory;  // where the factor lies in memory as the kernel reads it: row by depth
  std::int64_t points = 1;         // rows (or columns)
};

struct ContractionPlan {
  codegen::Contraction shape;
  const isa::Table* table = nullptr;
  const isa::ProductFns* product = nullptr;
  int log_bytes = 2;
  std::int64_t depth_block = 1;  // depths that are summed before the results are added up
  FactorPlan left;
  FactorPlan right;
  FramedPlan epilogue;
  std::optional<Matrices> results;  // where a store is all that is done to them, row by column
  std::string note;                 // for explain
};

/// Elements in a tile of a factor, and of the results.
inline constexpr std::int64_t kFactorTile = 1024;
inline constexpr std::int64_t kResultTile = 2048;

/// Nothing where `program` is no contraction, or one that the tile machine runs as well.
std::shared_ptr<const ContractionPlan> plan_contraction(const codegen::LoopProgram& program, const isa::Table& table);

}  // namespace oriel::backend::eigen
