// Softmax between two products with a running maximum and sum (codegen/running.hpp): blocks of rows by blocks of
// columns, all of it in cache.
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

/// The weights where the choices by position are settled: in blocks of columns that all rows see, no mask is worked
/// out.
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
  std::int64_t rows_together = 1;  // rows of weights in a tile
  int log_bytes = 2;
};

/// Columns of scores that are worked on at a time: whole panels at every level.
inline constexpr std::int64_t kRunningBlock = 528;

/// Nothing where the products are too small for blocks. Precondition: `program.form.running`.
std::shared_ptr<const RunningPlan> plan_running(const codegen::LoopProgram& program, const isa::Table& table);

/// One thread's part.
class RunningRows {
 public:
  /// `arguments` has places for local ones, which are set here. `rows`: the largest number that run() is asked for.
  RunningRows(const RunningPlan& plan, std::span<void*> arguments, std::span<const graph::Scalar> parameters,
              std::int64_t rows, int memory);

  /// Rows [row, row + rows) of a batch, whose first outer point is `first`.
  void run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t first);

  /// Programs of settled choices: at most as many as settle_choices() gives.
  static constexpr int kSettled = 2;
  static constexpr int kMemories = 2 * RowProduct::kMemories + 2 + kSettled;

 private:
  /// Numbers of a row each, in the dtype of the sums: those of the rows of a tile lie in a packet.
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

  /// Columns, and who makes their weights: nobody where there are none.
  struct Piece {
    Worker* worker = nullptr;
    codegen::IndexRange columns;
  };

  char* state(int which) const { return states_ + which * state_bytes_; }
  void element(graph::Op op, void* dst, const void* a, const void* b, const void* c, std::int64_t n) const;
  void place(std::int64_t first, std::int64_t column);
  void place_box(std::int64_t first, std::int64_t rows);
  codegen::IndexRange visible(std::int64_t column, std::int64_t end);
  /// Who makes the weights of the box's rows in columns [begin, end) without a choice; null where there is no such.
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
  char* sums_ = nullptr;        // rows by columns of the result
  char* spread_ = nullptr;      // as many
  char* rows_ = nullptr;        // scores
  char* weights_at_ = nullptr;  // in the scores' place where they have one dtype
  char* equal_ = nullptr;
};

}  // namespace oriel::backend::eigen
