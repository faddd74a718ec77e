// A softmax between two products with a running maximum and sum (codegen/join.hpp). It goes by blocks of rows
// and columns that stay in cache.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/row_product.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "codegen/bounds.hpp"
#include "codegen/join.hpp"
#include "graph/scalar.hpp"

namespace oriel::backend::eigen {

/// The most programs with settled choices that a plan holds.
inline constexpr int kSettledPrograms = 2;

/// The weights after choices by position are settled. In blocks of columns that all rows see, no mask is computed.
struct SettledWeights {
  std::vector<codegen::SettledChoices::Choice> choices;
  std::shared_ptr<const Plan> plan;
};

struct OnlinePlan {
  codegen::OnlineSoftmax softmax;
  codegen::OnlineParts parts;
  std::shared_ptr<const ContractionPlan> scores;
  std::shared_ptr<const ContractionPlan> products;
  std::shared_ptr<const Plan> weights;
  std::vector<SettledWeights> settled;
  Ints outer;
  std::int64_t block = 1;          // columns at a time
  std::int64_t rows_together = 1;  // rows of weights that a tile holds together
  int log_bytes = 2;
};

/// Columns of scores in a block; whole panels at every level.
inline constexpr std::int64_t kOnlineBlock = 528;

/// Null if the products are too small for blocks. Precondition: `online_softmax_in(program.form)`.
std::shared_ptr<const OnlinePlan> plan_online(const codegen::LoopProgram& program, const isa::Table& table);

/// The maxima and sums of some rows so far, and what follows from them, in the dtype of the sums. The numbers of a
/// group of rows lie in one packet.
///
/// Thread safety: none; each thread has its own.
class RowStates {
 public:
  enum State : int {
    kMost,       // the maximum of the scores so far
    kMore,       // the same with the current block
    kShift,      // what the current block's scores are shifted by
    kScale,      // what rescales sums under kMost to kMore
    kSum,        // the sum of the powers so far
    kBlockMost,  // the maximum in a part of the current block
    kBlockSum,   // the sum of the powers in a part of the current block
    kEqual,      // the last comparison
    kOne,
    kLowest,
    kNan,
    kZero,
    kStates
  };

  RowStates(const isa::Table& table, DType dtype, std::int64_t groups);

  /// Bytes of memory that place() is given.
  std::int64_t bytes() const { return kStates * state_bytes_; }
  /// `memory` must outlive the object, or the next call.
  void place(char* memory);

  /// The numbers of a group of rows.
  char* at(State state, std::int64_t group = 0) const {
    return memory_ + state * state_bytes_ + (group * isa::kPacket << log_bytes_);
  }
  /// dst = op(a, b, c) for n numbers, in whole packets.
  void element(graph::Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const;

  /// Before the first block: no maximum, and a sum of 0.
  void begin();
  /// Takes the scores of a part of the block, whose maxima are in kBlockMost, into the maxima. `first`: it is the
  /// block's first part.
  void raise(std::int64_t group, bool first);
  /// Rescales what was summed under the old maxima to the new ones, and computes kScale and kShift.
  void rescale(std::int64_t group);
  /// Adds kBlockSum to the sums.
  void add(std::int64_t group);
  /// After a block: its maxima are the old ones.
  void settle(std::int64_t group);
  /// After the last block: rows of only -inf have no weights, and their sums become NaN.
  void finish();

 private:
  const isa::Table& table_;
  DType dtype_;
  int log_bytes_;
  std::int64_t state_bytes_;
  char* memory_ = nullptr;
};

/// A range of columns and the worker that computes their weights; null if the range is empty.
struct WeightPiece {
  Worker* worker = nullptr;
  codegen::IndexRange columns;
};

/// Asks the bounds of the weights' program about some rows and columns.
///
/// Thread safety: none; each thread has its own, with its own thread memories from number `memory` on.
class WeightColumns {
 public:
  static constexpr int kMemories = 1 + kSettledPrograms;

  WeightColumns(const OnlinePlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                int memory);

  /// Sets the rows that the next questions are about. `first` is the outer point of the first one.
  void set_rows(std::int64_t first, std::int64_t rows);
  /// The columns of [column, end) that some row may see: whole panels from `column` on.
  codegen::IndexRange visible(std::int64_t column, std::int64_t end);
  /// Cuts the columns in two if their choices are settled up to some column, or from some column on.
  std::array<WeightPiece, 2> cut(const codegen::IndexRange& columns);

 private:
  struct Program {
    BoundLaunch launch;
    Worker worker;
    Program(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters, int memory)
        : launch(plan, arguments, parameters), worker(launch.launch(), memory) {}
  };

  /// The worker that computes the weights of the box's rows in columns [begin, end) without a choice; null if there is
  /// none.
  Worker* settled(std::int64_t begin, std::int64_t end);

  const OnlinePlan& plan_;
  Program weights_;
  std::vector<std::unique_ptr<Program>> settled_;
  codegen::Bounder bounds_;
  bool hides_ = false;
  std::vector<codegen::IndexRange> box_;  // outer loops and columns
};

/// One thread's part of the work.
class OnlineRows {
 public:
  /// `arguments` has slots for local arguments, which run() sets. `rows`: the most rows that run() is called for.
  /// `memory`: the number of the first of the thread's memories that the object uses.
  OnlineRows(const OnlinePlan& plan, std::span<void*> arguments, std::span<const graph::Scalar> parameters,
             std::int64_t rows, int memory);

  /// Computes rows [row, row + rows) of a batch. `first` is the outer point of row `row`.
  void run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t first);

  static constexpr int kMemories = 2 * RowProduct::kMemories + WeightColumns::kMemories + 1;

 private:
  void place(std::int64_t first, std::int64_t column);
  void weigh(std::span<const WeightPiece> pieces, std::int64_t first, std::int64_t group, std::int64_t n);
  void scale_rows(graph::Op op, RowStates::State by, std::int64_t rows);

  const OnlinePlan& plan_;
  const isa::Table& table_;
  std::span<void*> arguments_;
  RowProduct scores_;
  RowProduct products_;
  WeightColumns columns_;
  RowStates states_;
  char* sums_ = nullptr;        // the result's rows by columns
  char* spread_ = nullptr;      // as many
  char* rows_ = nullptr;        // scores
  char* weights_at_ = nullptr;  // in the memory of the scores if both have one dtype
};

}  // namespace oriel::backend::eigen
