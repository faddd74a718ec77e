// What a loop program is. The schedule decides it and lowering adds what the numbers of the loops say. The verifier
// compares both with the program, and everyone else asks the form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "graph/op.hpp"
#include "oriel/dtype.hpp"

namespace oriel::codegen {

struct LoopProgram;

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

/// Reduces nothing: each point by itself.
struct Elementwise {
  friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

/// Reduces in the loops of one stage, which are neither a contraction nor windows.
struct PlainReduction {
  std::size_t stage = 0;
  friend bool operator==(const PlainReduction&, const PlainReduction&) = default;
};

/// Reduces, and walks the same rows in several stages: softmax, layer norm.
struct Rows {
  std::size_t stages = 0;
  friend bool operator==(const Rows&, const Rows&) = default;
};

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
  std::optional<Contraction> product;  // what the loops are as well: a convolution is a product of matrices, too
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
/// comes after the product. So rows are needed block by block, never as a whole (join.hpp).
struct OnlineSoftmax {
  DType dtype = DType::float32;  // of exp(y - most)
  std::int64_t columns = 1;      // of the scores
  std::size_t max_stage = 0;     // of the middle part as a program by itself (join.hpp)
  std::size_t sum_stage = 0;
  std::size_t scores_argument = 0;
  std::size_t weights_argument = 0;
  ValueId shifted = kNoValue;  // y, in sum_stage
  ValueId power = kNoValue;    // exp(y - most), there
  friend bool operator==(const OnlineSoftmax&, const OnlineSoftmax&) = default;
};

/// Several parts (join.hpp).
struct Parts {
  std::optional<SharedRows> rows;       // nothing where they share none
  std::optional<OnlineSoftmax> online;  // where the schedule lets the middle part run so (LoopProgram::online)
  friend bool operator==(const Parts&, const Parts&) = default;
};

/// Sorts rows (LoopProgram::sorting).
struct Sort {
  friend bool operator==(const Sort&, const Sort&) = default;
};

/// Combines the elements up to each one along an axis (LoopProgram::scanning).
struct Scan {
  friend bool operator==(const Scan&, const Scan&) = default;
};

/// Combines elements into the entries that positions name (LoopProgram::scattering).
struct Scatter {
  friend bool operator==(const Scatter&, const Scatter&) = default;
};

/// Calls a function of host memory (LoopProgram::hosting).
struct Host {
  friend bool operator==(const Host&, const Host&) = default;
};

/// What a program is. Windows that are a product of matrices as well hold it: a device takes what it runs faster.
using Form = std::variant<Elementwise, PlainReduction, Rows, Contraction, Windows, Parts, Sort, Scan, Scatter, Host>;

/// Parts of a form, or null: the product, also of windows; the windows; the rows of several parts and their softmax.
/// @{
const Contraction* contraction_in(const Form& form) noexcept;
const Windows* windows_in(const Form& form) noexcept;
const SharedRows* shared_rows_in(const Form& form) noexcept;
const OnlineSoftmax* online_softmax_in(const Form& form) noexcept;
/// @} Does a program of this form contain reductions?
bool reduces(const Form& form) noexcept;

/// What a program is: what the schedule says of it (its stages, the axes of its reductions, `online`), with the numbers
/// of its loops. finish() (cost.hpp) calls this function, and so must code that splits programs or changes loops,
/// instructions or accesses. The verifier checks that.
Form form_of(const LoopProgram& program);

/// Throws InternalError if a reduction is said to sum a product and does not (Reduction::source), or if the middle part
/// of a program that is said to be `online` is no softmax.
void verify_decisions(const LoopProgram& program);

}  // namespace oriel::codegen
