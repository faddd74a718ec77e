// A contraction prepared to run: how its factors are packed, its blocks, and the operations on its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"
#include "codegen/product_form.hpp"

namespace oriel::backend::eigen {

using codegen::kStreamedRows;
using codegen::Matrices;
using codegen::quotient_up;
using codegen::round_up;
using Path = codegen::ProductPath;

struct FactorPlan : codegen::FactorForm {
  FramedPlan values;  // a tile: depths by neighbouring rows (or columns); the other way round in PackOrder::Points
  const TileStep* load = nullptr;  // the load, if the factor is only a load
  bool direct = false;             // read in place, never packed
  std::string sources;             // names of the arguments that the factor reads

  const codegen::FactorForm& form() const { return *this; }
};

/// A codegen::ProductForm with what the tile machine needs to run it.
struct ContractionPlan {
  codegen::Contraction shape;
  const isa::Table* table = nullptr;
  const isa::ProductFns* product = nullptr;
  int log_bytes = 2;
  std::int64_t depth_block = 1;  // depths that are summed before the sums are added to the results
  std::int64_t columns = 1;      // columns of a block of results on the blocked path; whole panels
  std::int64_t segment = 1;      // depths that are summed separately, by any thread: all depths, or whole blocks
  FactorPlan left;
  FactorPlan right;
  FramedPlan epilogue;
  std::optional<Matrices> results;  // set if the results are only stored: rows by columns
  Path path = Path::Blocked;

  codegen::ProductForm form() const { return {shape, depth_block, segment, left.form(), right.form(), path}; }
};

KernelPath path_of(const ContractionPlan& plan);

/// Elements in a tile of a factor, and of the results.
inline constexpr std::int64_t kFactorTile = 4096;
/// Of a factor that is read in PackOrder::Points: a block of depths of the rows (or columns) of a square.
inline constexpr std::int64_t kPackedPoints = 16;
inline constexpr std::int64_t kPointsTile = kPackedPoints * codegen::order::kMostDepthBlock;
inline constexpr std::int64_t kResultTile = 2048;

/// The operations on a kernel's results, for tiles of `tile` elements that are split before axis `split`. `after`: a
/// program without loops, which reads `result`.
struct ResultsPlan {
  FramedPlan epilogue;
  /// Of a program that only stores the results, in their dtype and to memory that no argument shares: the access.
  /// Elements of the sources are still read when results are stored, and packets may store an element twice.
  const codegen::Access* stored = nullptr;
};
ResultsPlan plan_results(const codegen::LoopProgram& after, codegen::ValueId result, DType dtype, std::size_t split,
                         std::int64_t tile, const isa::Table& table);

/// Null if `program` is not a contraction, or if the tile machine runs it equally fast.
std::shared_ptr<const ContractionPlan> plan_contraction(const codegen::LoopProgram& program, const isa::Table& table);
/// The same for a part of a program, which is run for some rows at a time. `product` is the contraction in the part,
/// without the parts that share its rows (codegen::SharedRows). Rows stay rows, and the path is the blocked one.
std::shared_ptr<const ContractionPlan> plan_part(const codegen::LoopProgram& part, const codegen::Contraction& product,
                                                 const isa::Table& table);

/// For example "contraction: batch 1, 512 x 512 x 512 (rows, columns, depth); blocked, rows from in0 packed, ...".
std::string describe_product(const ContractionPlan& plan);

/// `keeping`: null if nothing is kept from launch to launch.
void run_contraction(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                     std::span<const graph::Scalar> parameters, const Keeping* keeping = nullptr);

}  // namespace oriel::backend::eigen
