// A contraction made ready: how its factors are packed, its blocks, and what is done to its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "codegen/product_form.hpp"

namespace oriel::backend::eigen {

using codegen::kStreamedRows;
using codegen::Matrices;
using codegen::quotient_up;
using codegen::round_up;
using Path = codegen::ProductPath;

struct FactorPlan : codegen::FactorForm {
  FramedPlan values;               // a tile: depths by neighbouring rows (or columns)
  const TileStep* load = nullptr;  // where a load is all there is
  bool direct = false;             // read as it lies, never packed
  std::string sources;             // names of the arguments that it reads

  const codegen::FactorForm& form() const { return *this; }
};

/// A codegen::ProductForm with what the tile machine needs to run it.
struct ContractionPlan {
  codegen::Contraction shape;
  const isa::Table* table = nullptr;
  const isa::ProductFns* product = nullptr;
  int log_bytes = 2;
  std::int64_t depth_block = 1;  // depths that are summed before the results are added up
  std::int64_t columns = 1;      // of a block of results on the blocked path: whole panels
  std::int64_t segment = 1;      // depths that are summed apart from others, by any thread; all, or whole blocks
  FactorPlan left;
  FactorPlan right;
  FramedPlan epilogue;
  std::optional<Matrices> results;  // where a store is all that is done to them, row by column
  Path path = Path::Blocked;

  codegen::ProductForm form() const { return {shape, depth_block, segment, left.form(), right.form(), path}; }
};

KernelPath path_of(const ContractionPlan& plan);

/// Elements in a tile of a factor, and of the results.
inline constexpr std::int64_t kFactorTile = 4096;
inline constexpr std::int64_t kResultTile = 2048;

/// Nothing where `program` is no contraction, or one that the tile machine runs as well.
std::shared_ptr<const ContractionPlan> plan_contraction(const codegen::LoopProgram& program, const isa::Table& table);
/// The same of a part, which is asked for rows at a time: `product` is what it is beside the parts that share its rows
/// (codegen::SharedRows). Rows stay rows, and the path is the blocked one.
std::shared_ptr<const ContractionPlan> plan_part(const codegen::LoopProgram& part, const codegen::Contraction& product,
                                                 const isa::Table& table);

/// "contraction: batch 1, 512 x 512 x 512 (rows, columns, depth); blocked, rows from in0 packed, ..."
std::string describe_product(const ContractionPlan& plan);

/// "contraction: batch 1, 512 x 512 x 512 (rows, columns, depth); blocked, rows from in0 packed, columns from in1 read
/// as they lie"; empty for a program that is none.
std::string describe_contraction(const codegen::LoopProgram& program, const isa::Table& table);

}  // namespace oriel::backend::eigen
