#include "backend/eigen/products/online_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/eigen/tile/tiles.hpp"
#include "codegen/product_form.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

namespace {

using graph::Op;

int itemsize_of(const codegen::LoopProgram& program, std::size_t argument) {
  return static_cast<int>(itemsize(program.arguments[argument].dtype));
}

}  // namespace

OnlineRows::OnlineRows(const OnlinePlan& plan, std::span<void*> arguments, std::span<const graph::Scalar> parameters,
                       std::int64_t rows, int memory)
    : plan_(plan),
      table_(*plan.weights->table),
      arguments_(arguments),
      scores_(*plan.scores, arguments, parameters, memory),
      products_(*plan.products, arguments, parameters, memory + RowProduct::kMemories),
      columns_(plan, arguments, parameters, memory + 2 * RowProduct::kMemories),
      states_(table_, plan.softmax.dtype, quotient_up(rows, plan.rows_together)) {
  const std::int64_t results = round_up(rows * plan.products->shape.columns + isa::kPacket, 64) << plan.log_bytes;
  const codegen::LoopProgram& weights = plan.parts.weights;
  const int score_bytes = itemsize_of(weights, plan.softmax.scores_argument);
  const int weight_bytes = itemsize_of(weights, plan.softmax.weights_argument);
  const std::int64_t block = round_up(rows * plan.block + isa::kPacket, 64);
  const bool apart =
      weights.arguments[plan.softmax.scores_argument].dtype != weights.arguments[plan.softmax.weights_argument].dtype;
  const std::int64_t rows_bytes = block * score_bytes + (apart ? block * weight_bytes : 0);
  char* const numbers = thread_memory(memory + kMemories - 1, states_.bytes() + 2 * results + rows_bytes);
  states_.place(numbers);
  sums_ = numbers + states_.bytes();
  spread_ = sums_ + results;
  rows_ = spread_ + results;
  weights_at_ = apart ? rows_ + block * score_bytes : rows_;
}

// Positions count all rows, which are `block` columns apart. Only the current rows lie in this thread's memory.
void OnlineRows::place(std::int64_t first, std::int64_t column) {
  const codegen::OnlineSoftmax& s = plan_.softmax;
  const std::int64_t elements = first * plan_.block + column;
  const auto at = [&](char* memory, std::size_t argument) {
    const std::int64_t bytes = elements * itemsize_of(plan_.parts.weights, argument);
    // The shifted address may lie before `memory`, where pointer arithmetic would be undefined.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) - static_cast<std::uintptr_t>(bytes));
  };
  arguments_[s.scores_argument] = at(rows_, s.scores_argument);
  arguments_[s.weights_argument] = at(weights_at_, s.weights_argument);
}

void OnlineRows::run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t first) {
  states_.begin();
  bool begun = false;
  columns_.set_rows(first, rows);
  for (std::int64_t column = 0; column < plan_.softmax.columns; column += kOnlineBlock) {
    const codegen::IndexRange span = columns_.visible(column, std::min(column + kOnlineBlock, plan_.softmax.columns));
    if (span.begin == span.end) continue;
    place(first, column);
    scores_.run(batch, row, rows, span.begin, span.end);
    const std::array<WeightPiece, 2> pieces = columns_.cut(span);
    for (std::int64_t i = 0; i < rows; i += plan_.rows_together) {
      weigh(pieces, first + i, i / plan_.rows_together, std::min(plan_.rows_together, rows - i));
    }
    if (begun) scale_rows(Op::Mul, RowStates::kScale, rows);
    products_.add(batch, row, rows, span.begin, span.end, sums_, !begun);
    begun = true;
  }
  if (!begun) std::fill_n(sums_, rows * plan_.products->shape.columns << plan_.log_bytes, char{0});
  states_.finish();
  scale_rows(Op::Div, RowStates::kSum, rows);
  products_.finish(batch, row, rows, sums_);
}

/// Computes the maxima of a block of scores for a few rows, then their powers, and the sums of these under the maxima
/// so far.
void OnlineRows::weigh(std::span<const WeightPiece> pieces, std::int64_t first, std::int64_t group, std::int64_t n) {
  const codegen::OnlineSoftmax& s = plan_.softmax;
  const auto run_rows = [&](const WeightPiece& piece, std::size_t stage, RowStates::State result) {
    const TileStage& plan = piece.worker->plan().stages[stage];
    const auto [begin, end] = piece.columns;
    piece.worker->run_rows(plan, first, n, begin, end - begin, states_.at(result, group));
  };
  const auto run_outer = [&](const WeightPiece& piece, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) piece.worker->run_outer(piece.worker->plan().stages[k], first, n);
  };
  bool raised = false;
  for (const WeightPiece& piece : pieces) {
    if (piece.worker == nullptr) continue;
    run_outer(piece, 0, s.max_stage);
    run_rows(piece, s.max_stage, RowStates::kBlockMost);
    states_.raise(group, !raised);
    raised = true;
  }
  states_.rescale(group);
  for (const WeightPiece& piece : pieces) {
    if (piece.worker == nullptr) continue;
    const std::size_t shift = piece.worker->plan().stages[s.max_stage].reductions[0].result;
    piece.worker->slots()[shift] = states_.at(RowStates::kShift, group);
    run_outer(piece, s.max_stage, s.sum_stage);
    run_rows(piece, s.sum_stage, RowStates::kBlockSum);
    states_.add(group);
  }
  states_.settle(group);
}

/// Multiplies or divides each row of the sums by its number.
void OnlineRows::scale_rows(Op op, RowStates::State by, std::int64_t rows) {
  const std::int64_t columns = plan_.products->shape.columns;
  for (std::int64_t i = 0; i < rows; i += plan_.rows_together) {
    table_.copy[plan_.log_bytes](spread_ + (i * columns << plan_.log_bytes), columns, 1,
                                 states_.at(by, i / plan_.rows_together), 1, 0, std::min(plan_.rows_together, rows - i),
                                 columns);
  }
  states_.element(op, sums_, sums_, spread_, nullptr, rows * columns);
}

using codegen::round_up;

RowStates::RowStates(const isa::Table& table, DType dtype, std::int64_t groups)
    : table_(table),
      dtype_(dtype),
      log_bytes_(log_bytes_of(dtype)),
      state_bytes_(groups * isa::kPacket << log_bytes_) {}

void RowStates::place(char* memory) {
  memory_ = memory;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [state, number] :
       {std::pair<State, double>{kOne, 1}, {kLowest, -infinity}, {kNan, std::nan("")}, {kZero, 0}}) {
    const std::uint64_t bytes = register_bytes(graph::Scalar::of_float(dtype_, number), dtype_);
    table_.copy[log_bytes_](at(state), 0, 1, &bytes, 0, 0, 1, state_bytes_ >> log_bytes_);
  }
}

void RowStates::element(Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const {
  table_.element[static_cast<int>(op)][static_cast<int>(dtype_)](dst, a, b, c, round_up(n, isa::kPacket));
}

void RowStates::begin() {
  std::copy_n(at(kLowest), state_bytes_, at(kMost));
  std::copy_n(at(kZero), state_bytes_, at(kSum));
}

void RowStates::raise(std::int64_t group, bool first) {
  const isa::ReduceFns& largest = table_.reduce[isa::reduce_index(Op::ReduceMax)][static_cast<int>(dtype_)];
  largest.merge(at(kMore, group), at(first ? kMost : kMore, group), at(kBlockMost, group), isa::kPacket);
}

void RowStates::rescale(std::int64_t group) {
  const auto compute = [&](Op op, State dst, State a, State b, State c) {
    element(op, at(dst, group), at(a, group), at(b, group), at(c, group), isa::kPacket);
  };
  // -inf minus -inf counts as no change.
  compute(Op::Sub, kScale, kMost, kMore, kMore);
  compute(Op::Exp, kScale, kScale, kScale, kScale);
  compute(Op::Eq, kEqual, kMost, kMore, kMore);
  compute(Op::Where, kScale, kEqual, kOne, kScale);
  // While all scores are -inf, any finite number serves as the maximum: all powers are 0.
  compute(Op::Eq, kEqual, kMore, kLowest, kLowest);
  compute(Op::Where, kShift, kEqual, kZero, kMore);
  compute(Op::Mul, kSum, kSum, kScale, kScale);
}

void RowStates::add(std::int64_t group) {
  element(Op::Add, at(kSum, group), at(kSum, group), at(kBlockSum, group), nullptr, isa::kPacket);
}

void RowStates::settle(std::int64_t group) {
  std::copy_n(at(kMore, group), isa::kPacket << log_bytes_, at(kMost, group));
}

void RowStates::finish() {
  const std::int64_t all = state_bytes_ >> log_bytes_;
  element(Op::Eq, at(kEqual), at(kMost), at(kLowest), nullptr, all);
  element(Op::Where, at(kSum), at(kEqual), at(kNan), at(kSum), all);
}

}  // namespace oriel::backend::eigen
