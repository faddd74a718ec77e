// Accesses whose loops each move along one axis of a second map, without a carry: windows over padded images.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/eigen/tile/box.hpp"
#include "codegen/access.hpp"

namespace oriel::backend::eigen {

/// Two maps of which the first has no box, and by whose loops every digit of its position on the second one's axes is a
/// plain sum that stays inside of its axis. Then the position in memory is a sum too, and for fixed outer loops what is
/// valid is a box of the inner two.
class Digits {
 public:
  /// Empty if the access has another form. The axes are split as AccessWalker splits them.
  static std::optional<Digits> make(const codegen::Access& access, std::size_t outer, bool columns);

  /// As AccessWalker::boxes.
  template <class Emit>
  void boxes(const Tile& tile, Emit&& emit) const;

 private:
  static constexpr std::size_t kMaxLoops = 16;
  static constexpr std::size_t kMaxBounds = 8;
  static constexpr int kFree = -1;

  struct Loop {
    std::int64_t extent = 1;
    std::int64_t stride = 0;  // in memory
    std::int64_t step = 0;    // in the digit of its bound
    int bound = kFree;
  };
  /// A cut axis of the second map: its digit where all loops are 0, and where it is valid.
  struct Bound {
    std::int64_t start = 0;
    std::int64_t lo = 0;
    std::int64_t hi = 0;
  };
  using Loops = std::vector<Loop>;
  using Coordinates = std::array<std::int64_t, kMaxLoops>;
  using Values = std::array<std::int64_t, kMaxBounds>;

  static void add(Loops& loops, const Loop& loop);
  static void set(Coordinates& at, const Loops& loops, std::int64_t index) noexcept {
    for (std::size_t d = loops.size(); d-- > 0; index /= loops[d].extent) at[d] = index % loops[d].extent;
  }
  static void advance(Coordinates& at, const Loops& loops, std::size_t d, std::int64_t n) noexcept {
    at[d] += n;
    while (at[d] == loops[d].extent && d > 0) {
      at[d] = 0;
      ++at[--d];
    }
  }
  static void move(const Loop& loop, std::int64_t n, std::int64_t& position, Values& digits) noexcept {
    position += n * loop.stride;
    if (loop.bound != kFree) digits[static_cast<std::size_t>(loop.bound)] += n * loop.step;
  }
  /// The points k in [0, n) of a loop that are valid where it starts at these digits.
  Range64 valid(const Loop& loop, const Values& digits, std::int64_t n) const noexcept;

  template <class Emit>
  void row(Coordinates at, std::int64_t n, std::int64_t element, std::int64_t base, Values& digits, Emit& emit) const;

  Loops slow_;
  Loops fast_;
  std::vector<Bound> bounds_;
  std::int64_t offset_ = 0;
};

inline Range64 Digits::valid(const Loop& loop, const Values& digits, std::int64_t n) const noexcept {
  if (loop.bound == kFree) return {0, n};
  const Bound& bound = bounds_[static_cast<std::size_t>(loop.bound)];
  const std::int64_t digit = digits[static_cast<std::size_t>(loop.bound)];
  // Upwards from lo, or downwards from hi - 1.
  const std::int64_t step = loop.step < 0 ? -loop.step : loop.step;
  const std::int64_t before = loop.step < 0 ? digit - (bound.hi - 1) : bound.lo - digit;
  const std::int64_t until = loop.step < 0 ? digit - bound.lo + 1 : bound.hi - digit;
  Range64 range{0, n};
  if (before > 0) range.begin = step == 1 ? before : (before + step - 1) / step;
  if (until <= 0) {
    range.end = 0;
  } else {
    const std::int64_t last = step == 1 ? until : (until + step - 1) / step;
    if (last < n) range.end = last;
  }
  return range;
}

template <class Emit>
void Digits::row(Coordinates at, std::int64_t n, std::int64_t element, std::int64_t base, Values& digits,
                 Emit& emit) const {
  const std::size_t last = fast_.size() - 1;  // there are two at least
  const Loop& across = fast_[last];
  const Loop& down = fast_[last - 1];
  // If both loops move one digit, the valid points are no box.
  const bool whole = down.bound == kFree || down.bound != across.bound;
  while (n > 0) {
    // Moves the digits there and back. A copy of them would have to wait for the stores of the elements that were
    // copied before. The loops before the last two are moved once for all boxes of these.
    std::int64_t plane = base, back = 0;
    for (std::size_t d = 0; d + 1 < last; ++d) move(fast_[d], at[d], plane, digits);
    bool inside = true;
    for (std::size_t b = 0; b < bounds_.size(); ++b) {
      const int bound = static_cast<int>(b);
      if (bound != across.bound && bound != down.bound)
        inside = inside && digits[b] >= bounds_[b].lo && digits[b] < bounds_[b].hi;
    }
    std::int64_t& row = at[last - 1];
    std::int64_t& column = at[last];
    while (n > 0 && row < down.extent) {
      Box box;
      box.position = plane;
      box.at = element;
      box.pitch = across.extent;
      box.row = down.stride;
      box.col = across.stride;
      box.cols = across.extent - column < n ? across.extent - column : n;
      if (whole && box.cols == across.extent) {
        const std::int64_t left = down.extent - row, rows = n / across.extent;
        box.rows = rows < left ? rows : left;
      }
      const std::int64_t first_row = row, first_column = column;
      column += box.cols;
      if (column == across.extent) {
        column = 0;
        row += box.rows;
      }
      element += box.rows * box.cols;
      n -= box.rows * box.cols;
      if (!inside) continue;
      move(down, first_row, box.position, digits);
      move(across, first_column, box.position, digits);
      const Range64 rows = whole ? valid(down, digits, box.rows) : Range64{0, 1};
      const Range64 cols = valid(across, digits, box.cols);
      move(down, -first_row, back, digits);
      move(across, -first_column, back, digits);
      if (rows.begin >= rows.end || cols.begin >= cols.end) continue;
      box.at += rows.begin * box.pitch + cols.begin;
      box.position += rows.begin * box.row + cols.begin * box.col;
      box.rows = rows.end - rows.begin;
      box.cols = cols.end - cols.begin;
      emit(box);
    }
    for (std::size_t d = 0; d + 1 < last; ++d) move(fast_[d], -at[d], back, digits);
    if (row == down.extent) advance(at, fast_, last - 1, 0);
  }
}

template <class Emit>
void Digits::boxes(const Tile& tile, Emit&& emit) const {
  Coordinates slow{};
  Coordinates fast{};
  set(slow, slow_, tile.slow);
  set(fast, fast_, tile.fast);
  Values digits{};
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::size_t b = 0; b < bounds_.size(); ++b) digits[b] = bounds_[b].start;
    std::int64_t base = offset_;
    for (std::size_t d = 0; d < slow_.size(); ++d) move(slow_[d], slow[d], base, digits);
    row(fast, tile.cols, i * tile.cols, base, digits, emit);
    advance(slow, slow_, slow_.size() - 1, 1);
  }
}

}  // namespace oriel::backend::eigen
