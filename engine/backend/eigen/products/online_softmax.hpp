// A softmax between two products with a running maximum and sum (codegen/online_softmax.hpp). It goes by blocks of rows
// and columns that stay in cache.
#pragma once

#include <span>

#include "backend/eigen/products/online_columns.hpp"
#include "backend/eigen/products/row_product.hpp"
#include "backend/eigen/products/row_states.hpp"

namespace oriel::backend::eigen {

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
