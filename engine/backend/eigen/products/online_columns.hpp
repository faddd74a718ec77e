// The columns of weights that rows of an online softmax may see, and the programs that compute them.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "backend/eigen/products/online_plan.hpp"
#include "backend/eigen/tile/worker.hpp"
#include "codegen/bounds.hpp"

namespace oriel::backend::eigen {

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

}  // namespace oriel::backend::eigen
