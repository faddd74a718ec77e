// Reductions over windows, recognised from strides alone: neighbouring points of the last outer loop read neighbouring
// elements, and their windows overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::codegen {

/// The only loops of a program, where they reduce windows of something that is computed once an element:
///
///   result[s, y, x] = reduce over r of source[s, plane(r), y * row_step + row(r), x * step + column(r)]
///
/// or, for sums, of that times weight[s, r]. x is the last outer loop and y the one before it, if the weights are the
/// same along it; s stands for all others. A plane has `rows` rows of `columns` elements; the points of inner loops
/// that go along neither axis have planes of their own.
struct Windows {
  std::size_t stage = 0;
  graph::Op op = graph::Op::Sum;
  DType dtype = DType::float32;
  ValueId source = kNoValue;
  ValueId weight = kNoValue;  // none: 1
  ValueId result = kNoValue;
  std::size_t slow_loops = 0;            // the first outer loops, which s stands for
  std::vector<std::size_t> plane_loops;  // inner loops that go from plane to plane
  std::int64_t slow_points = 1;
  std::int64_t y_points = 1;
  std::int64_t x_points = 1;
  std::int64_t planes = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_step = 0;
  std::int64_t step = 1;

  /// Where a point of the inner loops reads a source.
  struct Tap {
    std::int64_t plane = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
  };
  std::vector<Tap> taps;      // by the inner loops' order
  std::int64_t row_span = 0;  // the largest row and column of a tap
  std::int64_t column_span = 0;
};

/// The windows that `program` reduces, or nothing: a single stage with loops, in it a single reduction, of at most
/// `most_taps` points, whose elements are read several times each, in order along the last outer loop or at most
/// `most_step` apart.
std::optional<Windows> find_windows(const LoopProgram& program, std::int64_t most_taps, std::int64_t most_step);

/// What makes the source, as a program without inner loops over s, planes, rows and columns; and the weights, over s
/// and the inner loops.
LoopProgram source_program(const LoopProgram& program, const Windows& windows);
LoopProgram weight_program(const LoopProgram& program, const Windows& windows);

/// What comes before and after the reduction, as a program without inner loops over the outer ones. It reads
/// `windows.result`, which nothing in it makes.
LoopProgram epilogue_program(const LoopProgram& program, const Windows& windows);

/// "512 times 56 x 56, windows of 9 in 58 x 58".
std::string to_string(const Windows& windows);

}  // namespace oriel::codegen
