#include "backend/eigen/products/running.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

using graph::Op;

// Elements in a tile of weights.
constexpr std::int64_t kTile = 4 * kRunningBlock;
// Blocks are cut at multiples of this many columns: whole panels at every level.
constexpr std::int64_t kPanel = 48;
static_assert(kRunningBlock % kPanel == 0);

int itemsize_of(const codegen::LoopProgram& program, std::size_t argument) {
  return static_cast<int>(itemsize(program.arguments[argument].dtype));
}

}  // namespace

std::shared_ptr<const RunningPlan> plan_running(const codegen::LoopProgram& program, const isa::Table& table) {
  auto plan = std::make_shared<RunningPlan>();
  plan->softmax = *codegen::running_softmax_in(program.form);
  // Rows whose distance is their length are contiguous.
  const std::int64_t block = std::min(kRunningBlock, plan->softmax.columns);
  plan->parts = codegen::running_parts(program, block);
  plan->outer = program.outer;
  const std::vector<std::optional<codegen::Contraction>>& part = codegen::shared_rows_in(program.form)->products;
  if (!part.front() || !part.back()) return nullptr;
  plan->scores = plan_part(plan->parts.scores, *part.front(), table);
  const std::shared_ptr<const ContractionPlan> products = plan_part(plan->parts.products, *part.back(), table);
  if (plan->scores == nullptr || products == nullptr || !products->left.memory || products->left.memory->step != 1 ||
      !products->product->loose || products->shape.dtype != plan->softmax.dtype) {
    return nullptr;
  }
  auto blocked = std::make_shared<ContractionPlan>(*products);
  blocked->left.direct = true;
  blocked->depth_block = kRunningBlock / 2;
  plan->products = std::move(blocked);
  plan->block = block;
  plan->rows_together = std::clamp<std::int64_t>(kTile / plan->block, 1, isa::kPacket);
  plan->log_bytes = log_bytes_of(plan->softmax.dtype);
  plan->weights = make_tile_plan(plan->parts.weights, table, plan->block, plan->rows_together);
  for (const codegen::SettledChoices& s : codegen::settle_choices(plan->parts.weights)) {
    if (plan->settled.size() == RunningRows::kSettled) break;
    plan->settled.push_back({s.choices, make_tile_plan(s.program, table, plan->block, plan->rows_together)});
  }
  return plan;
}

RunningRows::RunningRows(const RunningPlan& plan, std::span<void*> arguments, std::span<const graph::Scalar> parameters,
                         std::int64_t rows, int memory)
    : plan_(plan),
      table_(*plan.weights->table),
      arguments_(arguments),
      weights_launch_(*plan.weights, arguments, parameters),
      scores_(*plan.scores, arguments, parameters, memory),
      products_(*plan.products, arguments, parameters, memory + RowProduct::kMemories),
      weights_(weights_launch_.launch(), memory + 2 * RowProduct::kMemories),
      bounds_(plan.parts.weights, parameters),
      hides_(bounds_.may_hide()),
      box_(plan.outer.size() + 1) {
  for (const SettledWeights& w : plan.settled) {
    const int own = memory + 2 * RowProduct::kMemories + 2 + static_cast<int>(settled_.size());
    settled_.push_back(std::make_unique<Settled>(*w.plan, arguments, parameters, own));
  }
  const std::int64_t row_elements = quotient_up(rows, plan.rows_together) * isa::kPacket;
  state_bytes_ = row_elements << plan.log_bytes;
  const std::int64_t results = round_up(rows * plan.products->shape.columns + isa::kPacket, 64) << plan.log_bytes;
  const codegen::LoopProgram& weights = plan.parts.weights;
  const int score_bytes = itemsize_of(weights, plan.softmax.scores_argument);
  const int weight_bytes = itemsize_of(weights, plan.softmax.weights_argument);
  const std::int64_t block = round_up(rows * plan.block + isa::kPacket, 64);
  const bool apart =
      weights.arguments[plan.softmax.scores_argument].dtype != weights.arguments[plan.softmax.weights_argument].dtype;
  const std::int64_t rows_bytes = block * score_bytes + (apart ? block * weight_bytes : 0);
  states_ = thread_memory(memory + 2 * RowProduct::kMemories + 1,
                          kStates * state_bytes_ + 2 * results + rows_bytes + state_bytes_);
  sums_ = states_ + kStates * state_bytes_;
  spread_ = sums_ + results;
  equal_ = spread_ + results;
  rows_ = equal_ + state_bytes_;
  weights_at_ = apart ? rows_ + block * score_bytes : rows_;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [which, number] :
       {std::pair<int, double>{kOne, 1}, {kLowest, -infinity}, {kNan, std::nan("")}, {kZero, 0}}) {
    const std::uint64_t bytes = register_bytes(graph::Scalar::of_float(plan.softmax.dtype, number), plan.softmax.dtype);
    table_.copy[plan.log_bytes](state(which), 0, 1, &bytes, 0, 0, 1, row_elements);
  }
}

void RunningRows::element(Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const {
  table_.element[static_cast<int>(op)][static_cast<int>(plan_.softmax.dtype)](dst, a, b, c, round_up(n, isa::kPacket));
}

// Positions count all rows, which are `block` columns apart. Only the current rows lie in this thread's memory.
void RunningRows::place(std::int64_t first, std::int64_t column) {
  const codegen::RunningSoftmax& s = plan_.softmax;
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

/// Sets the box for the next questions about bounds, except its columns.
void RunningRows::place_box(std::int64_t first, std::int64_t rows) {
  // A range of points is a box if only the last loops vary: every loop after the first one whose ends differ runs in
  // full.
  std::int64_t low = first;
  std::int64_t high = first + rows - 1;
  for (std::size_t d = plan_.outer.size(); d-- > 0;) {
    const std::int64_t extent = plan_.outer[d].value();
    box_[d] = {low % extent, high % extent + 1};
    low /= extent;
    high /= extent;
  }
  for (std::size_t d = 0; d + 1 < plan_.outer.size(); ++d) {
    if (box_[d].end - box_[d].begin == 1) continue;
    for (std::size_t e = d + 1; e < plan_.outer.size(); ++e) box_[e] = {0, plan_.outer[e].value()};
    break;
  }
}

/// The columns of [column, end) that some row may see: whole panels from `column` on.
codegen::IndexRange RunningRows::visible(std::int64_t column, std::int64_t end) {
  if (!hides_) return {column, end};
  const auto hides = [&](std::int64_t from) {
    box_.back() = {from, end};
    bounds_.look_at(box_);
    return bounds_.hidden(plan_.softmax.shifted);
  };
  if (hides(column)) return {column, column};
  std::int64_t shown = 0;  // panels before the first one from which on all panels are hidden
  for (std::int64_t least = 0, most = quotient_up(end - column, kPanel); least < most;) {
    const std::int64_t middle = (least + most) / 2;
    if (column + middle * kPanel < end && hides(column + middle * kPanel)) {
      most = middle;
    } else {
      least = middle + 1;
    }
    shown = most;
  }
  return {column, std::min(end, column + shown * kPanel)};
}

Worker* RunningRows::settled(std::int64_t begin, std::int64_t end) {
  box_.back() = {begin, end};
  bounds_.look_at(box_);
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    const std::vector<codegen::SettledChoices::Choice>& choices = plan_.settled[i].choices;
    const auto holds = [&](const auto& c) { return bounds_.always(c.condition, c.truth); };
    if (std::all_of(choices.begin(), choices.end(), holds)) return &settled_[i]->worker;
  }
  return nullptr;
}

/// Cuts the columns in two if their choices are settled up to some column, or from some column on.
std::array<RunningRows::Piece, 2> RunningRows::cut(const codegen::IndexRange& columns) {
  const auto [begin, end] = columns;
  if (settled_.empty()) return {Piece{&weights_, columns}, Piece{}};
  if (Worker* whole = settled(begin, end)) return {Piece{whole, columns}, Piece{}};
  const std::int64_t panels = (end - begin - 1) / kPanel;
  for (const bool front : {true, false}) {
    // Every part of a settled box is settled, so the largest one is found by bisection.
    std::int64_t some = 0;
    Worker* worker = nullptr;
    for (std::int64_t step = std::bit_floor(static_cast<std::uint64_t>(panels)); step > 0; step /= 2) {
      if (some + step > panels) continue;
      const std::int64_t n = (some + step) * kPanel;
      Worker* w = front ? settled(begin, begin + n) : settled(end - n, end);
      if (w == nullptr) continue;
      worker = w;
      some += step;
    }
    if (worker == nullptr) continue;
    const std::int64_t middle = front ? begin + some * kPanel : end - some * kPanel;
    return {Piece{front ? worker : &weights_, {begin, middle}}, Piece{front ? &weights_ : worker, {middle, end}}};
  }
  return {Piece{&weights_, columns}, Piece{}};
}

void RunningRows::run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t first) {
  std::copy_n(state(kLowest), state_bytes_, state(kMost));
  std::copy_n(state(kZero), state_bytes_, state(kSum));
  bool begun = false;
  place_box(first, rows);
  for (std::int64_t column = 0; column < plan_.softmax.columns; column += kRunningBlock) {
    const codegen::IndexRange span = visible(column, std::min(column + kRunningBlock, plan_.softmax.columns));
    if (span.begin == span.end) continue;
    place(first, column);
    scores_.run(batch, row, rows, span.begin, span.end);
    const std::array<Piece, 2> pieces = cut(span);
    for (std::int64_t i = 0; i < rows; i += plan_.rows_together) {
      weigh(pieces, first + i, i / plan_.rows_together, std::min(plan_.rows_together, rows - i));
    }
    if (begun) scale_rows(Op::Mul, kScale, rows);
    products_.add(batch, row, rows, span.begin, span.end, sums_, !begun);
    begun = true;
  }
  if (!begun) std::fill_n(sums_, rows * plan_.products->shape.columns << plan_.log_bytes, char{0});
  // Rows of only -inf have no weights: their quotients are NaN.
  const std::int64_t all = state_bytes_ >> plan_.log_bytes;
  element(Op::Eq, equal_, state(kMost), state(kLowest), nullptr, all);
  element(Op::Where, state(kSum), equal_, state(kNan), state(kSum), all);
  scale_rows(Op::Div, kSum, rows);
  products_.finish(batch, row, rows, sums_);
}

/// Computes the maxima of a block of scores for a few rows, then their powers, and the sums of these under the maxima
/// so far.
void RunningRows::weigh(std::span<const Piece> pieces, std::int64_t first, std::int64_t group, std::int64_t n) {
  const codegen::RunningSoftmax& s = plan_.softmax;
  const auto at = [&](State which) { return state(which) + (group * isa::kPacket << plan_.log_bytes); };
  const auto run_rows = [&](const Piece& piece, std::size_t stage, State result) {
    const StagePlan& plan = piece.worker->plan().stages[stage];
    piece.worker->run_rows(plan, first, n, piece.columns.begin, piece.columns.end - piece.columns.begin, at(result));
  };
  const auto run_outer = [&](const Piece& piece, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) piece.worker->run_outer(piece.worker->plan().stages[k], first, n);
  };
  const isa::ReduceFns& largest = table_.reduce[isa::reduce_index(Op::ReduceMax)][static_cast<int>(s.dtype)];
  const void* most = at(kMost);
  for (const Piece& piece : pieces) {
    if (piece.worker == nullptr) continue;
    run_outer(piece, 0, s.max_stage);
    run_rows(piece, s.max_stage, kBlockMost);
    largest.merge(at(kMore), most, at(kBlockMost), isa::kPacket);
    most = at(kMore);
  }
  // Rescales what was summed under the old maximum to the new one. -inf minus -inf counts as no change.
  element(Op::Sub, at(kScale), at(kMost), at(kMore), nullptr, isa::kPacket);
  element(Op::Exp, at(kScale), at(kScale), nullptr, nullptr, isa::kPacket);
  element(Op::Eq, equal_, at(kMost), at(kMore), nullptr, isa::kPacket);
  element(Op::Where, at(kScale), equal_, at(kOne), at(kScale), isa::kPacket);
  // While all scores are -inf, any finite number serves as the maximum: all powers are 0.
  element(Op::Eq, equal_, at(kMore), at(kLowest), nullptr, isa::kPacket);
  element(Op::Where, at(kShift), equal_, at(kZero), at(kMore), isa::kPacket);
  element(Op::Mul, at(kSum), at(kSum), at(kScale), nullptr, isa::kPacket);
  for (const Piece& piece : pieces) {
    if (piece.worker == nullptr) continue;
    piece.worker->slots()[piece.worker->plan().stages[s.max_stage].reductions[0].result] = at(kShift);
    run_outer(piece, s.max_stage, s.sum_stage);
    run_rows(piece, s.sum_stage, kBlockSum);
    element(Op::Add, at(kSum), at(kSum), at(kBlockSum), nullptr, isa::kPacket);
  }
  std::copy_n(at(kMore), isa::kPacket << plan_.log_bytes, at(kMost));
}

/// Multiplies or divides each row of the sums by its number.
void RunningRows::scale_rows(Op op, State by, std::int64_t rows) {
  const std::int64_t columns = plan_.products->shape.columns;
  for (std::int64_t i = 0; i < rows; i += plan_.rows_together) {
    const char* numbers = state(by) + (i / plan_.rows_together * isa::kPacket << plan_.log_bytes);
    table_.copy[plan_.log_bytes](spread_ + (i * columns << plan_.log_bytes), columns, 1, numbers, 1, 0,
                                 std::min(plan_.rows_together, rows - i), columns);
  }
  element(op, sums_, sums_, spread_, nullptr, rows * columns);
}

}  // namespace oriel::backend::eigen
