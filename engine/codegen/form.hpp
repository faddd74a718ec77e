// What a loop program is, read off its accesses: found once, when the program is made, and asked by everyone after
// that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op.hpp"
#include "oriel/dtype.hpp"

namespace oriel::codegen {

struct LoopProgram;

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

/// The only loops of a program, where they sum a product of two factors that vary along different outer loops:
///
///   result[b, i, j] = sum over r of left[b, i, r] * right[b, j, r]
///
/// An outer loop is a row where the left factor alone varies along it, a column where the right one does, a batch where
/// both or neither do. Each list names outer loops in their order. Left and right are chosen so that the last loop that
/// is not a batch is a column: the results' memory is walked along columns.
struct Contraction {
  std::size_t stage = 0;
  DType dtype = DType::float32;
  ValueId left = kNoValue;
  ValueId right = kNoValue;
  ValueId result = kNoValue;
  std::vector<std::size_t> batch_loops;
  std::vector<std::size_t> row_loops;
  std::vector<std::size_t> column_loops;
  std::int64_t batches = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;  // points that are summed
  friend bool operator==(const Contraction&, const Contraction&) = default;
};

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
    friend bool operator==(const Tap&, const Tap&) = default;
  };
  std::vector<Tap> taps;      // by the inner loops' order
  std::int64_t row_span = 0;  // the largest row and column of a tap
  std::int64_t column_span = 0;
  friend bool operator==(const Windows&, const Windows&) = default;
};

/// What a program of several parts is (join.hpp): rows that its products share.
struct SharedRows {
  /// The first outer loops, which are batches to each product: the loops behind them are rows of all of them.
  std::size_t batches = 0;
  /// The products by part, with those loops as batches; nothing for a part that walks rows.
  std::vector<std::optional<Contraction>> products;
  friend bool operator==(const SharedRows&, const SharedRows&) = default;
};

/// What a program of three parts is where its middle part is softmax of the rows that the first one leaves:
///
///   most = the maximum over c of y[c]      weights[c] = exp(y[c] - most) / (the sum over c of exp(y[c] - most))
///   out[e] = the sum over c of weights[c] * values[c, e]
///
/// exp(y - most) of one block of columns can be summed, and multiplied, before the maximum over all of them is known:
/// where a later block has a larger one, all sums so far are multiplied by exp(old - new). The division by the sum
/// comes after the product. So rows are needed block by block, never as a whole (running.hpp).
struct RunningSoftmax {
  DType dtype = DType::float32;  // of exp(y - most)
  std::int64_t columns = 1;      // of the scores
  std::size_t max_stage = 0;     // of the middle part as a program by itself (join.hpp)
  std::size_t sum_stage = 0;
  std::size_t scores_argument = 0;
  std::size_t weights_argument = 0;
  ValueId shifted = kNoValue;  // y, in sum_stage
  ValueId power = kNoValue;    // exp(y - most), there
  friend bool operator==(const RunningSoftmax&, const RunningSoftmax&) = default;
};

/// What a program is. A reduction over windows may be a product of matrices too (a convolution); a device takes the
/// one that it runs faster. Where nothing is set the program is elementwise, or reduces without a form of its own, or
/// sorts.
struct Form {
  std::optional<Contraction> contraction;
  std::optional<Windows> windows;
  std::optional<SharedRows> rows;         // of a program of several parts; nothing where they share none
  std::optional<RunningSoftmax> running;  // of a program that the schedule lets run so (LoopProgram::running)
  friend bool operator==(const Form&, const Form&) = default;
};

/// Finds what the program is. Whoever makes a program, or changes its loops, instructions or accesses, calls this, or
/// finish() (cost.hpp), which does; the verifier finds it again and compares.
Form form_of(const LoopProgram& program);

}  // namespace oriel::codegen
