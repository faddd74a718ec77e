// Programs of several parts (codegen/join.hpp): a block of rows goes through all of them while it is in cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/threads.hpp"

namespace oriel::backend::eigen {

struct RunningPlan;

/// Of a program. Each product packs a factor for each thread, so more would push each other out of its cache.
inline constexpr int kMostParts = 16;

struct PartPlan {
  std::shared_ptr<const ContractionPlan> product;  // of matrices, for rows at a time; or
  std::shared_ptr<const Plan> tiles;               // by the tile machine
  std::int64_t columns = 1;                        // points of it for one row
};

struct LocalRows {
  std::size_t argument = 0;
  std::int64_t bytes = 0;   // of one row
  std::int64_t offset = 0;  // in a thread's block of rows
};

struct PartsPlan {
  std::shared_ptr<const RunningPlan> running;  // how the parts run, where they are softmax between products
  std::vector<PartPlan> parts;
  std::vector<LocalRows> locals;
  std::size_t arguments = 0;  // local ones too
  std::int64_t batches = 1;   // of rows that share their factors
  std::int64_t rows = 1;      // of one batch
  std::int64_t block = 1;     // rows that go through the parts together
  std::int64_t local_bytes = 0;
};

std::shared_ptr<const PartsPlan> plan_parts(const codegen::LoopProgram& program, const isa::Table& table,
                                            std::int64_t tile);

/// "3 parts, 64 rows at a time: ..."; empty for a program of one part.
std::string describe_parts(const codegen::LoopProgram& program, const isa::Table& table);

void run_parts(const PartsPlan& plan, const Team& threads, std::span<void* const> arguments,
               std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
