// A contraction made ready: how its factors are packed, its blocks, and what is done to its results.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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
  /// Elements from the first to behind the last of `points` rows of `depth`, where they lie close together; else 0.
  std::int64_t reach(std::int64_t points, std::int64_t depth) const noexcept {
    const std::int64_t elements = (points - 1) * row + (depth - 1) * step + 1;
    return row >= 0 && step >= 0 && elements <= 2 * points * depth ? elements : 0;
  }
};

/// How a contraction runs. All paths but Dots add products in one order.
enum class Path : std::uint8_t {
  Blocked,   // packed panels
  Streamed,  // few rows: the right factor is read once, as it lies
  Dots,      // one row, the right factor's memory runs along the depth: in the order of other reductions
};

struct FactorPlan {
  FramedPlan values;               // a tile: depths by neighbouring rows (or columns)
  const Step* load = nullptr;      // where a load is all there is
  std::optional<Matrices> memory;  // where it lies in memory as the kernel reads it: row (or column) by depth
  std::int64_t points = 1;         // rows (or columns)
  bool turned = false;             // memory runs along the depth
  bool direct = false;             // read as it lies, never packed
  std::string sources;             // names of the arguments that it reads
};

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
};

KernelPath path_of(const ContractionPlan& plan);

/// Elements in a tile of a factor, and of the results.
inline constexpr std::int64_t kFactorTile = 4096;
inline constexpr std::int64_t kResultTile = 2048;
/// Rows for which the right factor is read as it lies.
inline constexpr std::int64_t kStreamedRows = 4;

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
