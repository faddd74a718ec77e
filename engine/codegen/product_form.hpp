// Decides the order in which a contraction adds products, and the layout of its factors. Both depend on the program
// alone and are the same for every instruction set. The tile machine and rendered sources follow them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/contraction.hpp"
#include "codegen/product_order.hpp"
#include "codegen/windows.hpp"

namespace oriel::codegen {

using order::quotient_up;
using order::round_up;

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
  /// Elements in the memory range that `points` rows of `depth` span; 0 if a stride is negative or more than half of
  /// the range is gaps.
  std::int64_t reach(std::int64_t points, std::int64_t depth) const noexcept {
    const std::int64_t elements = (points - 1) * row + (depth - 1) * step + 1;
    return row >= 0 && step >= 0 && elements <= 2 * points * depth ? elements : 0;
  }
};

/// Axes [from, to) of an access.
struct AxisRange {
  std::size_t from;
  std::size_t to;
};
/// `access` as matrices; nothing where it is masked or no single view, or where rows or depths do not walk evenly.
std::optional<Matrices> matrices_of(const Access& access, AxisRange batches, AxisRange rows, AxisRange depths);

/// How a contraction runs. All paths but Dots add products in one order.
enum class ProductPath : std::uint8_t {
  Blocked,   // packed panels
  Streamed,  // few rows: the right factor is read once, as it lies
  Dots,      // one row, the right factor's memory runs along the depth: in the order of other reductions
};

/// Rows for which the right factor is read as it lies.
inline constexpr std::int64_t kStreamedRows = 4;

/// How a factor is read when it is packed. This changes no bit.
enum class PackOrder : std::uint8_t {
  Depths,   // depth by depth, along its rows (or columns)
  Squares,  // the same, but memory runs along the depth: squares of elements are transposed
  Points,   // row by row, along the depth, and then transposed: windows over images that the depth walks
};

struct FactorForm {
  std::optional<Matrices> memory;  // where it lies in memory as the kernel reads it: row (or column) by depth
  std::int64_t points = 1;         // rows (or columns)
  bool transposed = false;         // its first views run along the depth, which decides the order of one row's sums
  PackOrder order = PackOrder::Depths;
};

/// The program of a factor with the loops of its rows (or columns) first, then those of the depth: of `inner` loops.
LoopProgram by_points(LoopProgram factor, std::size_t inner);

/// The left factor of a contraction (or the right one).
FactorForm factor_form(const LoopProgram& program, const Contraction& contraction, bool left);

struct ProductForm {
  Contraction shape;             // rows and columns exchanged where few columns would leave lanes idle
  std::int64_t depth_block = 1;  // depths that are summed before the results are added up
  std::int64_t segment = 1;      // depths that are summed apart from others, by any thread; all, or whole blocks
  FactorForm left;
  FactorForm right;
  ProductPath path = ProductPath::Blocked;
};

/// Is there a register block that multiplies this dtype?
constexpr bool has_products(DType dtype) noexcept { return dtype != DType::bool_ && !is_half(dtype); }

/// Nothing where `program` is no contraction, or one that runs as well element by element.
std::optional<ProductForm> product_form(const LoopProgram& program);
/// The same for a contraction whose sizes may be symbols. Says which loops are rows and along what the factors' memory
/// runs. The order of the sum is left open, because it depends on the sizes; `depth_block` is the most. nullopt if no
/// register block multiplies the dtype.
std::optional<ProductForm> symbolic_form(const LoopProgram& program);
/// The same for one part of fused kernels, which computes a few rows at a time. `product` is its contraction over the
/// shared rows (SharedRows). Rows and columns are never exchanged, and the path is Blocked.
std::optional<ProductForm> part_form(const LoopProgram& part, const Contraction& product);

/// The windows that a program reduces, where that pays: nothing where there are few taps in all, or where a blocked
/// product does better.
std::optional<Windows> window_form(const LoopProgram& program);

}  // namespace oriel::codegen
