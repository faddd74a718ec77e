// Programs of several parts (codegen/join.hpp): a block of rows goes through all parts while it is in cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"

namespace oriel::backend::eigen {

struct OnlinePlan;

/// The most parts of a program. Each product packs a factor for each thread; more factors would not fit the cache.
inline constexpr int kMostParts = 16;

struct PartPlan {
  std::shared_ptr<const ContractionPlan> product;  // a product of matrices that runs for some rows at a time; or
  std::shared_ptr<const Plan> tiles;               // a part that the tile machine runs
  std::int64_t columns = 1;                        // points of the part for one row
};

struct LocalRows {
  std::size_t argument = 0;
  std::int64_t bytes = 0;   // of one row
  std::int64_t offset = 0;  // in a thread's block of rows
};

struct PartsPlan {
  std::shared_ptr<const OnlinePlan> online;  // set if the parts are a softmax between products
  std::vector<PartPlan> parts;
  std::vector<LocalRows> locals;
  std::size_t arguments = 0;  // including local ones
  std::int64_t batches = 1;   // of rows with the same factors
  std::int64_t rows = 1;      // of one batch
  std::int64_t block = 1;     // rows that go through all parts together
  std::int64_t local_bytes = 0;
};

std::shared_ptr<const PartsPlan> plan_parts(const codegen::LoopProgram& program, const isa::Table& table,
                                            std::int64_t tile);

/// For example "3 parts, 64 rows at a time: ...".
std::string describe_parts(const PartsPlan& plan);

/// The arguments whose elements products pack as they lie in memory.
std::vector<std::size_t> packed_arguments(const PartsPlan& plan);

/// `keeping`: null if nothing is kept from launch to launch.
void run_parts(const PartsPlan& plan, const Team& threads, std::span<void* const> arguments,
               std::span<const graph::Scalar> parameters, const Keeping* keeping = nullptr);

}  // namespace oriel::backend::eigen
