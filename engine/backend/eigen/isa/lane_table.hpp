// Products of small matrices that lie side by side, as a table of function pointers for each instruction-set level. It
// is not part of Table, which most of the tile machine includes.
#pragma once

#include <cstdint>

#include "backend/eigen/isa/table.hpp"

namespace oriel::backend::isa {

/// Matrices that lie side by side in as many lanes.
inline constexpr std::int64_t kSmallLanes = 16;

/// Products of kSmallLanes matrices. Element e of a matrix is row e of kSmallLanes elements, one for each matrix; the
/// strides count such rows. Row i * columns + j of `out` = the sum over p < depth of row i * a_row + p * a_step of `a`
/// times row p * b_step + j * b_column of `b`. Products are rounded, then added in the order of a reduction. The depth
/// is at most kBlock.
struct SmallProducts {
  const void* a = nullptr;
  std::int64_t a_row = 0;
  std::int64_t a_step = 0;
  const void* b = nullptr;
  std::int64_t b_step = 0;
  std::int64_t b_column = 0;
  void* out = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t depth = 0;
};
using SmallProductsFn = void (*)(const SmallProducts&);
/// dst[e * kSmallLanes + lane] = src[lane * matrix + e] for e < elements: matrices that are `matrix` elements apart.
using LanesFn = void (*)(void* dst, const void* src, std::int64_t matrix, std::int64_t elements);

/// out[m] = a[m] b[m] for `count` successive matrices, multiplied where they lie. Products are rounded, then added in
/// the order of a reduction.
using InPlaceFn = void (*)(void* out, const void* a, const void* b, std::int64_t count);
/// The most elements of the vectors that are multiplied where they lie.
inline constexpr int kMostInPlace = 4;

struct LaneTable {
  SmallProductsFn multiply[kDTypeCount] =
      {};                        // register dtypes that can be multiplied and added; in the profile small float32
  LanesFn into_lanes[2] = {};    // elements of 4 and 8 bytes
  LanesFn out_of_lanes[2] = {};  // the other way: dst[lane * matrix + e] = src[e * kSmallLanes + lane]
  // Of float32 and float64; null in the profile small, and where a matrix fits no register.
  InPlaceFn two_by_two[2] = {};  // row-major matrices of 2 x 2
  // A vector of n elements times n x n numbers, of which those that make an element of the result lie together (0) or
  // n apart (1).
  InPlaceFn vector_by_square[kMostInPlace + 1][2][2] = {};
};

/// The table of the same level.
const LaneTable& lane_table(const Table& table);

}  // namespace oriel::backend::isa
