// A reduction over windows prepared to run: how its source is computed, its blocks, and the operations on its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "codegen/windows.hpp"

namespace oriel::backend::eigen {

struct WindowsPlan {
  codegen::Windows shape;
  const isa::Table* table = nullptr;
  const isa::WindowFns* fns = nullptr;
  int log_bytes = 2;
  FramedPlan source;               // a tile: rows and columns of a plane
  const TileStep* load = nullptr;  // the load, if the source is only a load
  std::optional<Matrices>
      memory;  // set if the source lies in memory as the kernel reads it: batches are planes, row by column
  std::optional<FramedPlan> weights;  // a tile: one weight for each tap
  FramedPlan epilogue;
  std::optional<Matrices> results;  // set if the results are only stored: batches are s, y by x
  std::int64_t y_block = 1;         // results that one job computes
  std::int64_t x_block = 1;
};

/// Elements in a tile of a source, and of the results.
inline constexpr std::int64_t kSourceTile = 4096;
inline constexpr std::int64_t kWindowTile = 2048;

/// Null if `program` reduces no windows, or if the tile machine or a blocked product is faster.
std::shared_ptr<const WindowsPlan> plan_windows(const codegen::LoopProgram& program, const isa::Table& table);

/// For example "windows: 512 times 56 x 56, windows of 9 in 58 x 58 read as they lie".
std::string describe_windows(const WindowsPlan& plan);

void run_windows(const WindowsPlan& plan, const Team& threads, std::span<void* const> arguments,
                 std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
