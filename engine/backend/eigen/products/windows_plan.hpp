// A reduction over windows made ready: how its source is computed, its blocks, and what is done to its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "codegen/windows.hpp"

namespace oriel::backend::eigen {

struct WindowsPlan {
  codegen::Windows shape;
  const isa::Table* table = nullptr;
  const isa::WindowFns* fns = nullptr;
  int log_bytes = 2;
  FramedPlan source;               // a tile: rows and columns of a plane
  const TileStep* load = nullptr;  // where a load is all that the source is
  std::optional<Matrices> memory;  // where it lies in memory as the kernel reads it: batches are planes, row by column
  std::optional<FramedPlan> weights;  // a tile: one weight for each tap
  FramedPlan epilogue;
  std::optional<Matrices> results;  // where a store is all that is done to them: batches are s, y by x
  std::int64_t y_block = 1;         // results that one job computes
  std::int64_t x_block = 1;
};

/// Elements in a tile of a source, and of the results.
inline constexpr std::int64_t kSourceTile = 4096;
inline constexpr std::int64_t kWindowTile = 2048;

/// Nothing where `program` reduces no windows, or the tile machine or a blocked product does better.
std::shared_ptr<const WindowsPlan> plan_windows(const codegen::LoopProgram& program, const isa::Table& table);

/// "windows: 512 times 56 x 56, windows of 9 in 58 x 58; in0 read as it lies"; empty for a program that has none.
std::string describe_windows(const codegen::LoopProgram& program, const isa::Table& table);

}  // namespace oriel::backend::eigen
