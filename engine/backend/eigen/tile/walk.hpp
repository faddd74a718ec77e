// Walks the part of an access that a tile covers, as boxes of evenly spaced positions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "backend/eigen/tile/box.hpp"
#include "backend/eigen/tile/digits.hpp"
#include "backend/eigen/tile/pattern.hpp"
#include "codegen/loop_program.hpp"

namespace oriel::backend::eigen {

using codegen::AccessAxis;
using Axes = std::vector<AccessAxis>;

/// After axes of extent 1 are gone, every axis at least doubles the number of points: 2^63 has room for no more.
inline constexpr int kMaxAxes = 64;

/// An access prepared for one order of loops.
class AccessWalker {
 public:
  AccessWalker() = default;
  /// The loops are split into [0, outer) and the rest; `columns` says which part is the fast one: the first
  /// (columns) or the second (rows).
  AccessWalker(const codegen::Access& access, std::size_t outer, bool columns);

  /// Nothing is ever valid.
  bool nothing() const noexcept { return nothing_; }
  /// Every point is valid and stands for one position.
  bool uniform() const noexcept { return uniform_; }
  std::int64_t offset() const noexcept { return offset_; }
  /// Parts of a tile may be invalid: fill with zeros before the boxes are copied.
  bool masked() const noexcept { return masked_; }
  /// Has no point of the tile an element? True only where that is easily seen.
  bool misses(const Tile& tile) const noexcept {
    const std::int64_t from = tile.slow * fast_points_ + tile.fast;
    if ((tile.rows - 1) * fast_points_ + from + tile.cols <= first_ || from > last_) return true;
    return tile.size() < all_.back().extent && (tile.rows == 1 || tile.cols == fast_points_) &&
           misses_columns(tile, from);
  }
  /// Boxes come by their elements' places, and no box lies between two rows of another.
  bool in_order() const noexcept { return digits_.has_value(); }

  /// The slow and the fast loops are one axis each, the fast one walks memory, and all points are valid. Then the
  /// element (slow, fast) is at offset() + slow * pitch() + fast.
  bool matrix() const noexcept { return matrix_; }
  std::int64_t pitch() const noexcept { return slow_[0].coefficient; }

  /// Position of the tile's first element where the whole tile is valid and lies in memory in a row; else -1.
  std::int64_t in_place(const Tile& tile) const noexcept {
    // A part of one row of memory, as stencils read and write it.
    if (matrix_ && tile.rows == 1) return offset_ + tile.slow * slow_[0].coefficient + tile.fast;
    return find_in_place(tile);
  }

  /// Calls emit(box) for each valid box.
  template <class Emit>
  void boxes(const Tile& tile, Emit&& emit) const;

  /// Calls pattern.runs(tile) with `emit(pattern, at, position, run, n)`. False if boxes serve the tile better.
  template <class Emit>
  bool runs(const Tile& tile, Emit&& emit) const {
    const bool flat = tile.cols == fast_points_;
    const std::optional<Pattern>& pattern = flat ? flat_pattern_ : pattern_;
    if (!pattern || (!flat && tile.cols < kShortestRun)) return false;
    const Tile one{0, 1, tile.slow * fast_points_ + tile.fast, tile.size()};
    pattern->runs(flat ? one : tile, [&](auto... run) { emit(*pattern, run...); });
    return true;
  }

 private:
  /// A further map, reached by a flat position.
  struct Below {
    Axes axes;
    std::int64_t offset = 0;
  };
  struct Counter {
    std::array<std::int64_t, kMaxAxes> at;
    void set(const Axes& axes, std::int64_t index) noexcept {
      std::size_t d = axes.size();
      // Long division costs several times as much, and few buffers need it.
      if (index >= 0 && index >> 32 == 0) {
        auto rest = static_cast<std::uint32_t>(index);
        while (d-- > 1) {
          if (axes[d].extent >> 32 != 0) {
            at[d] = rest;
            rest = 0;
            continue;
          }
          const auto extent = static_cast<std::uint32_t>(axes[d].extent);
          at[d] = rest % extent;
          rest /= extent;
        }
        at[0] = rest;
        return;
      }
      while (d-- > 0) {
        at[d] = index % axes[d].extent;
        index /= axes[d].extent;
      }
    }
    /// Moves axis d on by n, which may reach but not pass its end.
    void advance(const Axes& axes, std::size_t d, std::int64_t n) noexcept {
      at[d] += n;
      while (at[d] == axes[d].extent) {
        at[d] = 0;
        if (d == 0) return;
        ++at[--d];
      }
    }
  };

  /// The place where a walk through the view below last was. The next position is mostly near it, and then needs no
  /// division.
  struct Cursor {
    Counter counter;
    std::int64_t position = -1;
    void move(const Axes& axes, std::int64_t to) noexcept {
      const std::size_t last = axes.size() - 1;
      const std::int64_t step = to - position;
      if (position >= 0 && step > -axes[last].extent && step <= axes[last].extent) {
        std::int64_t& fast = counter.at[last];
        fast += step;
        position = to;
        if (fast >= 0 && fast < axes[last].extent) return;
        if (last > 0) {
          const std::int64_t carry = fast < 0 ? -1 : 1;
          std::int64_t& slow = counter.at[last - 1];
          if (slow + carry >= 0 && slow + carry < axes[last - 1].extent) {
            slow += carry;
            fast -= carry * axes[last].extent;
            return;
          }
        }
      }
      counter.set(axes, to);
      position = to;
    }
  };

  std::int64_t find_in_place(const Tile& tile) const noexcept;
  /// Of successive points from number `from` on, fewer than the last axis has: is none in that axis's range?
  bool misses_columns(const Tile& tile, std::int64_t from) const noexcept;

  template <class Emit>
  void flat_boxes(const Axes& axes, std::int64_t first, std::int64_t n, std::int64_t base, std::int64_t at,
                  Cursor& cursor, Emit& emit) const;
  template <class Emit>
  void product_boxes(const Tile& tile, Cursor& cursor, Emit& emit) const;
  /// Clips a box of two axes to their valid ranges, then sends it down the views below.
  template <class Emit>
  void clip(Box box, const AccessAxis* row_axis, std::int64_t row_at, const AccessAxis& col_axis, std::int64_t col_at,
            Cursor& cursor, Emit& emit) const;
  template <class Emit>
  void descend(std::size_t level, std::int64_t at, std::int64_t position, std::int64_t step, std::int64_t n,
               Cursor& cursor, Emit& emit) const;

  Axes slow_;
  Axes fast_;
  Axes all_;  // slow loops then fast ones, joined where they can be
  std::int64_t fast_points_ = 1;
  std::int64_t first_ = 0;  // of the points with an element, counted row by row, the first
  std::int64_t last_ = -1;  // and the last one; further maps may leave out more
  std::int64_t offset_ = 0;
  bool joined_ = false;  // all_ is shorter than slow_ and fast_ apart, or one of them is trivial
  bool nothing_ = false;
  bool uniform_ = false;
  bool masked_ = false;
  bool matrix_ = false;
  std::vector<Below> below_;  // nearest the top first
  std::optional<Digits> digits_;
  static constexpr std::int64_t kShortestRun = 32;

  std::optional<Pattern> pattern_;       // of the fast loops
  std::optional<Pattern> flat_pattern_;  // of all loops
};

template <class Emit>
void AccessWalker::boxes(const Tile& tile, Emit&& emit) const {
  if (nothing_) return;
  if (digits_) return digits_->boxes(tile, emit);
  Cursor cursor;
  if (tile.cols == fast_points_ && (joined_ || slow_.size() == 1)) {
    flat_boxes(all_, tile.slow * fast_points_ + tile.fast, tile.size(), offset_, 0, cursor, emit);
  } else if (tile.rows == 1 && tile.slow == 0) {
    // A first slow point has all slow coordinates 0.
    for (const AccessAxis& axis : slow_) {
      if (axis.begin > 0) return;
    }
    flat_boxes(fast_, tile.fast, tile.cols, offset_, 0, cursor, emit);
  } else {
    product_boxes(tile, cursor, emit);
  }
}

template <class Emit>
void AccessWalker::clip(Box box, const AccessAxis* row_axis, std::int64_t row_at, const AccessAxis& col_axis,
                        std::int64_t col_at, Cursor& cursor, Emit& emit) const {
  if (col_axis.cut()) {
    const std::int64_t skip = col_axis.begin > col_at ? col_axis.begin - col_at : 0;
    const std::int64_t end = col_axis.end - col_at < box.cols ? col_axis.end - col_at : box.cols;
    if (skip >= end) return;
    box.at += skip;
    box.position += skip * box.col;
    box.cols = end - skip;
  }
  if (row_axis != nullptr && row_axis->cut()) {
    const std::int64_t skip = row_axis->begin > row_at ? row_axis->begin - row_at : 0;
    const std::int64_t end = row_axis->end - row_at < box.rows ? row_axis->end - row_at : box.rows;
    if (skip >= end) return;
    box.at += skip * box.pitch;
    box.position += skip * box.row;
    box.rows = end - skip;
  }
  if (below_.empty()) {
    emit(box);
    return;
  }
  for (std::int64_t i = 0; i < box.rows; ++i) {
    descend(0, box.at + i * box.pitch, box.position + i * box.row, box.col, box.cols, cursor, emit);
  }
}

template <class Emit>
void AccessWalker::flat_boxes(const Axes& axes, std::int64_t first, std::int64_t n, std::int64_t base, std::int64_t at,
                              Cursor& cursor, Emit& emit) const {
  Counter counter;
  counter.set(axes, first);
  const std::size_t last = axes.size() - 1;
  const AccessAxis& fast = axes[last];
  while (n > 0) {
    bool valid = true;
    std::int64_t position = base + counter.at[last] * fast.coefficient;
    for (std::size_t d = 0; d < last; ++d) {
      position += counter.at[d] * axes[d].coefficient;
      // The row axis of a box is clipped, not tested.
      if (d + 1 < last) valid = valid && counter.at[d] >= axes[d].begin && counter.at[d] < axes[d].end;
    }
    Box box;
    box.at = at;
    box.pitch = fast.extent;
    box.position = position;
    box.col = fast.coefficient;
    const AccessAxis* row_axis = last > 0 ? &axes[last - 1] : nullptr;
    const std::int64_t row_at = last > 0 ? counter.at[last - 1] : 0;
    const std::int64_t col_at = counter.at[last];
    box.cols = fast.extent - col_at < n ? fast.extent - col_at : n;
    if (row_axis != nullptr && box.cols == fast.extent) {
      const std::int64_t whole = n / fast.extent;
      box.rows = whole < row_axis->extent - row_at ? whole : row_axis->extent - row_at;
      box.row = row_axis->coefficient;
      counter.advance(axes, last - 1, box.rows);
    } else {
      counter.advance(axes, last, box.cols);
    }
    const std::int64_t done = box.rows * box.cols;
    if (valid) clip(box, row_axis, row_at, fast, col_at, cursor, emit);
    at += done;
    n -= done;
  }
}

template <class Emit>
void AccessWalker::product_boxes(const Tile& tile, Cursor& cursor, Emit& emit) const {
  Counter slow;
  slow.set(slow_, tile.slow);
  const std::size_t slow_last = slow_.size() - 1;
  const std::size_t fast_last = fast_.size() - 1;
  for (std::int64_t i = 0; i < tile.rows;) {
    const std::int64_t row_at = slow.at[slow_last];
    const std::int64_t left = slow_[slow_last].extent - row_at;
    const std::int64_t rows = left < tile.rows - i ? left : tile.rows - i;
    bool slow_valid = true;
    std::int64_t base = offset_;
    for (std::size_t d = 0; d <= slow_last; ++d) {
      base += slow.at[d] * slow_[d].coefficient;
      if (d < slow_last) slow_valid = slow_valid && slow.at[d] >= slow_[d].begin && slow.at[d] < slow_[d].end;
    }
    if (slow_valid) {
      Counter fast;
      fast.set(fast_, tile.fast);
      for (std::int64_t j = 0; j < tile.cols;) {
        const std::int64_t col_at = fast.at[fast_last];
        Box box;
        box.at = i * tile.cols + j;
        box.pitch = tile.cols;
        box.rows = rows;
        box.row = slow_[slow_last].coefficient;
        box.col = fast_[fast_last].coefficient;
        const std::int64_t run = fast_[fast_last].extent - col_at;
        box.cols = run < tile.cols - j ? run : tile.cols - j;
        box.position = base;
        bool valid = true;
        for (std::size_t d = 0; d <= fast_last; ++d) {
          box.position += fast.at[d] * fast_[d].coefficient;
          if (d < fast_last) valid = valid && fast.at[d] >= fast_[d].begin && fast.at[d] < fast_[d].end;
        }
        if (valid) clip(box, &slow_[slow_last], row_at, fast_[fast_last], col_at, cursor, emit);
        fast.advance(fast_, fast_last, box.cols);
        j += box.cols;
      }
    }
    slow.advance(slow_, slow_last, rows);
    i += rows;
  }
}

// Flat positions q, q + step, ... of a lower view move along one of its axes until that axis ends. So the quotients are
// computed once for each such run, not for each element.
template <class Emit>
void AccessWalker::descend(std::size_t level, std::int64_t at, std::int64_t position, std::int64_t step, std::int64_t n,
                           Cursor& cursor, Emit& emit) const {
  if (level == below_.size()) {
    Box box;
    box.at = at;
    box.cols = n;
    box.pitch = n;
    box.position = position;
    box.col = step;
    emit(box);
    return;
  }
  const Below& view = below_[level];
  const std::size_t last = view.axes.size() - 1;
  // The axis that a step moves along, and by how much.
  std::size_t axis = last;
  std::int64_t delta = step;
  if (step != 1 || view.axes[last].extent == 1) {
    while (axis > 0 && delta % view.axes[axis].extent == 0) delta /= view.axes[axis--].extent;
  }
  Cursor own;
  Cursor& near = level == 0 ? cursor : own;
  const Counter& counter = near.counter;
  while (n > 0) {
    near.move(view.axes, position);
    const AccessAxis& moving = view.axes[axis];
    const std::int64_t start = counter.at[axis];
    std::int64_t run = n;
    if (delta == 1) {
      run = moving.extent - start;
    } else if (delta > 0) {
      run = (moving.extent - 1 - start) / delta + 1;
    }
    if (delta < 0) run = start / -delta + 1;
    if (run > n) run = n;
    bool valid = true;
    std::int64_t next = view.offset;
    for (std::size_t d = 0; d <= last; ++d) {
      next += counter.at[d] * view.axes[d].coefficient;
      if (d != axis) valid = valid && counter.at[d] >= view.axes[d].begin && counter.at[d] < view.axes[d].end;
    }
    std::int64_t begin = 0;
    std::int64_t end = run;
    if (delta == 1) {
      if (moving.begin > start) begin = moving.begin - start;
      if (moving.end - start < end) end = moving.end - start;
    } else if (delta > 0) {
      if (moving.begin > start) begin = (moving.begin - start + delta - 1) / delta;
      const std::int64_t until = moving.end > start ? (moving.end - start + delta - 1) / delta : 0;
      if (until < end) end = until;
    } else if (delta < 0) {
      if (start >= moving.end) begin = (start - moving.end) / -delta + 1;
      const std::int64_t until = start >= moving.begin ? (start - moving.begin) / -delta + 1 : 0;
      if (until < end) end = until;
    } else {
      valid = valid && start >= moving.begin && start < moving.end;
    }
    if (valid && begin < end) {
      const std::int64_t stride = delta * moving.coefficient;
      descend(level + 1, at + begin, next + begin * stride, stride, end - begin, cursor, emit);
    }
    position += run * step;
    at += run;
    n -= run;
  }
}

}  // namespace oriel::backend::eigen
