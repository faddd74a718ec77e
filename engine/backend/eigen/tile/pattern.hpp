// Accesses whose positions repeat: those of a few last loops, shifted by what the loops before them add. Small matrices
// that are read transposed, rows of three that are rolled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend/eigen/tile/box.hpp"
#include "codegen/access.hpp"

namespace oriel::backend::eigen {

/// Appends an axis of several points. One that goes on evenly where the last one ends makes that one longer.
void join_axis(std::vector<codegen::AccessAxis>& axes, const codegen::AccessAxis& axis);

/// A list of distances says where the points of the last loops are, so that no position is computed for them.
class Pattern {
 public:
  /// The points of `fast` loops, counted row-major, for each point of `slow` ones; loops are those of the access. Empty
  /// where positions do not repeat in so few points, or a box holds so many that copying boxes is as fast.
  static std::optional<Pattern> make(const codegen::Access& access, const std::vector<std::size_t>& slow,
                                     const std::vector<std::size_t>& fast);

  struct Run {
    const std::int32_t* distances;
    const std::int32_t* least;  // isa::PickFn
  };
  /// Calls emit(at, position, run, n) for runs of the tile: element `at` + k is at `position` + run.distances[k].
  template <class Emit>
  void runs(const Tile& tile, Emit&& emit) const {
    for (std::int64_t i = 0; i < tile.rows; ++i)
      row(tile.fast, tile.cols, i * tile.cols, shift(slow_, tile.slow + i), emit);
  }
  /// Are there points without an element, whose distance is isa::kNoElement?
  bool holes() const noexcept { return holes_; }

 private:
  /// Loops that shift all positions by `step` for each of their points.
  struct Shift {
    std::int64_t extent = 1;
    std::int64_t step = 0;
  };
  using Shifts = std::vector<Shift>;

  static void add(Shifts& shifts, const Shift& next);
  static std::int64_t shift(const Shifts& shifts, std::int64_t index) noexcept {
    std::int64_t sum = 0;
    for (std::size_t d = shifts.size(); d-- > 0; index /= shifts[d].extent)
      sum += index % shifts[d].extent * shifts[d].step;
    return sum;
  }

  /// The pattern whose last `repeated` loops of `fast` repeat, if the other ones shift it.
  static std::optional<Pattern> repeating(const codegen::Access& access, const std::vector<std::size_t>& slow,
                                          const std::vector<std::size_t>& fast, std::size_t repeated);
  bool tabulate(const std::vector<std::int64_t>& positions);

  template <class Emit>
  void row(std::int64_t first, std::int64_t n, std::int64_t at, std::int64_t base, Emit& emit) const {
    const Shift& last = fast_.back();
    std::int64_t point = first / points_;
    std::int64_t skip = first % points_;
    while (n > 0) {
      const std::int64_t left = last.extent - point % last.extent;
      const std::int64_t some = (left < tabulated_ ? left : tabulated_) * points_ - skip;
      const std::int64_t take = some < n ? some : n;
      emit(at, offset_ + base + shift(fast_, point), Run{distances_.data() + skip, least_.data() + skip}, take);
      at += take;
      n -= take;
      point += (skip + take) / points_;
      skip = (skip + take) % points_;
    }
  }

  Shifts slow_;
  Shifts fast_;  // the loops before the repeated ones: one at least
  std::int64_t offset_ = 0;
  std::int64_t points_ = 1;     // of the repeated loops
  std::int64_t tabulated_ = 1;  // points of the last shift whose distances are in the list
  std::vector<std::int32_t> distances_;
  std::vector<std::int32_t> least_;
  bool holes_ = false;
};

}  // namespace oriel::backend::eigen
