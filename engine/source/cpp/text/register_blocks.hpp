// Register blocks of products. The parts are text of rendered contractions, which set the type and the sizes; here they
// are those of a small product. How a block sums is ops/functions/vector_sums.hpp's, as in the tile machine's blocks
// (backend/eigen/isa/product_ops.cpp).
#pragma once

#include "ops/functions/vector_sums.hpp"

namespace oriel::source::cpp::text::product {
namespace {

using ops::VectorOf, ops::sum_products, ops::transpose_square;
using Int = std::int64_t;
using Element = float;
constexpr Int kRows = 7;
constexpr Int kColumns = 45;
constexpr bool kRightInPlace = true;
constexpr Int kPitch = 64;
constexpr std::integral_constant<Int, 32> kLeftRow{};
constexpr Int kLeftStep = 1;
constexpr Int kRightStep = 64;
constexpr Int kTransposedRow = 40;

// snippet registers: VectorOf

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
/// The rows of a block of sums, and the registers of each row, chosen to fill the registers of the target.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kHeight = std::is_floating_point<Element>::value ? 8 : 4;
constexpr int kWidth = std::is_floating_point<Element>::value ? 3 : 2;
#elif defined(__AVX2__)
constexpr int kHeight = 4;
constexpr int kWidth = std::is_floating_point<Element>::value ? 3 : 2;
#else
constexpr int kHeight = 4;
constexpr int kWidth = 2;
#endif
using Packet = VectorOf<Element, kVectorBytes>::type;
constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(Element));
constexpr Int kPanel = kWidth * kLanes;

[[maybe_unused]] inline Int least(Int a, Int b) { return a < b ? a : b; }

// snippet tail:

/// If the right factor is read where it lies, the last columns that fill no register are packed.
constexpr Int kTail = kRightInPlace ? kColumns % kLanes : 0;

// snippet sum_block: sum_products

inline Packet load(const Element* p) {
  Packet x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
inline void store(Element* p, const Packet& x) { std::memcpy(p, &x, sizeof x); }

/// Sums `depth` products in registers. Starts from the numbers at `from` (from 0 if it is null), adds the numbers at
/// `add` unless it is null, and writes to `to`. Rows of b are kStep apart, those of a left_row, which may be a
/// constant.
template <int Rows, int Packets, Int kStep, class LeftRow>
__attribute__((noinline)) void sum_block(const Element* a, LeftRow left_row, const Element* b, Int depth,
                                         const Element* from, const Element* add, Element* to) {
  Packet sum[Rows][Packets];
  ORIEL_UNROLLED
  for (int i = 0; i < Rows; ++i) {
    ORIEL_UNROLLED
    for (int j = 0; j < Packets; ++j) sum[i][j] = from != nullptr ? load(from + i * kPitch + j * kLanes) : Packet{};
  }
  sum_products<1>(sum, a, left_row, std::integral_constant<Int, kLeftStep>(), b, std::integral_constant<Int, kStep>(),
                  depth, [] {});
  ORIEL_UNROLLED
  for (int i = 0; i < Rows; ++i) {
    ORIEL_UNROLLED
    for (int j = 0; j < Packets; ++j) {
      const Int at = i * kPitch + j * kLanes;
      store(to + at, add != nullptr ? load(add + at) + sum[i][j] : sum[i][j]);
    }
  }
}

// end of snippets

namespace fixed {

// snippet sum_rows:

template <int Rows>
void sum_row_of_blocks(const Element* a, const Element* b, [[maybe_unused]] const Element* tail, Int depth,
                       const Element* from, const Element* add, Element* to, Int columns) {
  const auto moved = [](const Element* p, Int j) { return p != nullptr ? p + j : nullptr; };
  Int j = 0;
  for (; j + kPanel <= columns; j += kPanel)
    sum_block<Rows, kWidth, kRightStep>(a, kLeftRow, b + j, depth, moved(from, j), moved(add, j), to + j);
  constexpr int kRest = static_cast<int>(((kColumns - kTail) % kPanel + kLanes - 1) / kLanes);
  if constexpr (kRest > 0) {
    if (columns - j > kTail) {
      sum_block<Rows, kRest, kRightStep>(a, kLeftRow, b + j, depth, moved(from, j), moved(add, j), to + j);
      j += kRest * kLanes;
    }
  }
  if constexpr (kTail > 0) {
    if (j < columns) sum_block<Rows, 1, kLanes>(a, kLeftRow, tail, depth, moved(from, j), moved(add, j), to + j);
  }
}

inline void sum_rows(const Element* a, const Element* b, const Element* tail, Int depth, const Element* from,
                     const Element* add, Element* to, Int rows, Int columns) {
  if (rows == kHeight) return sum_row_of_blocks<kHeight>(a, b, tail, depth, from, add, to, columns);
  if constexpr (kRows % kHeight != 0)
    sum_row_of_blocks<static_cast<int>(kRows % kHeight)>(a, b, tail, depth, from, add, to, columns);
}

// end of snippets

}  // namespace fixed

namespace symbolic {

// snippet sum_symbolic_rows:

/// The last columns, which fill at most kWidth registers.
template <int Rows, int Packets, class LeftRow>
void sum_rest(const Element* a, LeftRow left_row, const Element* b, Int depth, const Element* from, const Element* add,
              Element* to, Int packets) {
  if constexpr (Packets > 0) {
    if (packets == Packets) return sum_block<Rows, Packets, kRightStep>(a, left_row, b, depth, from, add, to);
    sum_rest<Rows, Packets - 1>(a, left_row, b, depth, from, add, to, packets);
  }
}
/// If the right factor is read where it lies, the columns that fill no register are packed at `tail`.
template <int Rows, class LeftRow>
void sum_some_rows(const Element* a, LeftRow left_row, const Element* b, const Element* tail, Int depth,
                   const Element* from, const Element* add, Element* to, Int rows, Int columns) {
  if constexpr (Rows > 0) {
    if (rows < Rows) return sum_some_rows<Rows - 1>(a, left_row, b, tail, depth, from, add, to, rows, columns);
    const auto moved = [](const Element* p, Int j) { return p != nullptr ? p + j : nullptr; };
    const Int whole = kRightInPlace ? columns - columns % kLanes : columns;
    Int j = 0;
    for (; j + kPanel <= whole; j += kPanel)
      sum_block<Rows, kWidth, kRightStep>(a, left_row, b + j, depth, moved(from, j), moved(add, j), to + j);
    sum_rest<Rows, kWidth>(a, left_row, b + j, depth, moved(from, j), moved(add, j), to + j,
                           (whole - j + kLanes - 1) / kLanes);
    if (whole < columns)
      sum_block<Rows, 1, kLanes>(a, left_row, tail, depth, moved(from, whole), moved(add, whole), to + whole);
  }
}
template <class LeftRow>
void sum_rows(const Element* a, LeftRow left_row, const Element* b, const Element* tail, Int depth, const Element* from,
              const Element* add, Element* to, Int rows, Int columns) {
  sum_some_rows<kHeight>(a, left_row, b, tail, depth, from, add, to, rows, columns);
}

// end of snippets

}  // namespace symbolic

// snippet turn: transpose_square

/// Squares are at most 32 bytes wide.
constexpr int kSide = (kVectorBytes < 32 ? kVectorBytes : 32) / static_cast<int>(sizeof(Element));
/// Rows of `to` are kRightStep apart, those of `from` kTransposedRow.
// Fewer than kSide rows or columns are left beside the squares. The loops state this bound, because compilers would
// warn of overflow otherwise.
inline void turn(const Element* from, Element* to, Int columns, Int depth) {
  Int j = 0;
  for (; j + kSide <= columns; j += kSide) {
    Int p = 0;
    for (; p + kSide <= depth; p += kSide)
      transpose_square<kSide>(to + p * kRightStep + j, std::integral_constant<Int, kRightStep>(),
                              from + j * kTransposedRow + p, std::integral_constant<Int, kTransposedRow>());
    for (Int q = 0; q < kSide && p + q < depth; ++q) {
      for (Int l = j; l < j + kSide; ++l) to[(p + q) * kRightStep + l] = from[l * kTransposedRow + p + q];
    }
  }
  for (Int l = 0; l < kSide && j + l < columns; ++l) {
    for (Int p = 0; p < depth; ++p) to[p * kRightStep + j + l] = from[(j + l) * kTransposedRow + p];
  }
}

// end of snippets

}  // namespace
}  // namespace oriel::source::cpp::text::product
