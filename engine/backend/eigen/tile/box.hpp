// Tiles, and the boxes of evenly spaced positions into which they are divided.
#pragma once

#include <cstdint>

namespace oriel::backend::eigen {

/// The points of a tile: the slow points [slow, slow + rows) of the slow loops, times the fast points [fast, fast +
/// cols) of the fast loops. Both are counted row-major. Element (i, j) lies at i * cols + j in the register.
struct Tile {
  std::int64_t slow = 0;
  std::int64_t rows = 1;
  std::int64_t fast = 0;
  std::int64_t cols = 1;
  std::int64_t size() const noexcept { return rows * cols; }
};

/// A box of a tile whose positions are evenly spaced: element (i, j), at `at` + i * pitch + j in the register, has
/// position `position` + i * row + j * col.
struct Box {
  std::int64_t at = 0;
  std::int64_t pitch = 0;
  std::int64_t rows = 1;
  std::int64_t cols = 0;
  std::int64_t position = 0;
  std::int64_t row = 0;
  std::int64_t col = 0;
};

/// The range [begin, end).
struct Range64 {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

}  // namespace oriel::backend::eigen
