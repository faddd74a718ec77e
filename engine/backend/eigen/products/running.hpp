// A softmax between two products with a running maximum and sum (codegen/running.hpp). It goes by blocks of rows and
// columns that stay in cache.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "backend/eigen/products/row_product.hpp"
#include "backend/eigen/tile/tiles.hpp"
#include "codegen/bounds.hpp"
#include "codegen/running.hpp"

namespace oriel::backend::eigen {

/// The weights after choices by position are settled. In blocks of columns that all rows see, no mask is computed.
struct SettledWeights {
  std::vector<codegen::SettledChoices::Choice> choices;
  std::shared_ptr<const Plan> plan;
};

struct RunningPlan {
  codegen::RunningSoftmax softmax;
  codegen::RunningParts parts;
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
inline constexpr std::int64_t kRunningBlock = 528;

/// Null if the products are too small for blocks. Precondition: `running_softmax_in(program.form)`.
std::shared_ptr<const RunningPlan> plan_running(const codegen::LoopProgram& program, const isa::Table& table);

/// One thread's part of the work.
class RunningRows {
 public:
  /// `arguments` has slots for local arguments, which the constructor sets. `rows`: the most rows that run() is called
  /// for.
  RunningRows(const RunningPlan& plan, std::span<void*> arguments, std::span<const graph::Scalar> parameters,
              std::int64_t rows, int memory);

  /// Computes rows [row, row + rows) of a batch. `first` is the outer point of row `row`.
  void run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t first);

  /// The number of programs with settled choices: settle_choices() gives at most this many.
  static constexpr int kSettled = 2;
  static constexpr int kMemories = 2 * RowProduct::kMemories + 2 + kSettled;

 private:
  /// Numbers for each row, in the dtype of the sums. The numbers of a tile's rows lie in one packet.
  enum State : int {
    kMost,
    kMore,
    kShift,
    kScale,
    kSum,
    kBlockMost,
    kBlockSum,
    kScratch,
    kOne,
    kLowest,
    kNan,
    kZero,
    kStates
  };

  /// A range of columns and the worker that computes their weights; null if the range is empty.
  struct Piece {
    Worker* worker = nullptr;
    codegen::IndexRange columns;
  };

  char* state(int which) const { return states_ + which * state_bytes_; }
  void element(graph::Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const;
  void place(std::int64_t first, std::int64_t column);
  void place_box(std::int64_t first, std::int64_t rows);
  codegen::IndexRange visible(std::int64_t column, std::int64_t end);
  /// The worker that computes the weights of the box's rows in columns [begin, end) without a choice; null if there is
  /// none.
  Worker* settled(std::int64_t begin, std::int64_t end);
  std::array<Piece, 2> cut(const codegen::IndexRange& columns);
  void weigh(std::span<const Piece> pieces, std::int64_t first, std::int64_t group, std::int64_t n);
  void scale_rows(graph::Op op, State by, std::int64_t rows);

  const RunningPlan& plan_;
  const isa::Table& table_;
  std::span<void*> arguments_;
  BoundLaunch weights_launch_;
  RowProduct scores_;
  RowProduct products_;
  Worker weights_;
  struct Settled {
    BoundLaunch launch;
    Worker worker;
    Settled(const Plan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters, int memory)
        : launch(plan, arguments, parameters), worker(launch.launch(), memory) {}
  };
  std::vector<std::unique_ptr<Settled>> settled_;
  codegen::Bounder bounds_;
  bool hides_ = false;
  std::vector<codegen::IndexRange> box_;
  std::int64_t state_bytes_ = 0;
  char* states_ = nullptr;
  char* sums_ = nullptr;        // the result's rows by columns
  char* spread_ = nullptr;      // as many
  char* rows_ = nullptr;        // scores
  char* weights_at_ = nullptr;  // in the memory of the scores if both have one dtype
  char* equal_ = nullptr;
};

}  // namespace oriel::backend::eigen
