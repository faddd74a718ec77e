// Products of matrices for a few rows at a time. The operations before and after run while the rows are in cache.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/packer.hpp"

namespace oriel::backend::eigen {

/// One thread's part of a contraction that is run for some rows at a time. The right factor is packed once for each
/// batch. Sums have the same order as in a contraction that runs alone.
///
/// Thread safety: none. Each thread has its own object, with its own thread memories from number `memory` on.
class RowProduct {
 public:
  /// `kept`: the right factor's panels, if they are kept from launch to launch; else null. They must outlive the
  /// object.
  RowProduct(const ContractionPlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
             int memory, const KeptPanels* kept = nullptr);

  /// Computes rows [row, row + rows) of a batch, including the operations on them. `arguments` may have changed since
  /// the last call.
  void run(std::int64_t batch, std::int64_t row, std::int64_t rows) { run(batch, row, rows, 0, shape_.columns); }
  /// The same for columns [begin, end); begin is a multiple of the columns of a panel.
  void run(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end);

  /// Adds the products of depths [begin, end) to sums of rows by columns. With `first` the sums start here. `begin` is
  /// a multiple of the depth block; so is `end`, unless it is the whole depth.
  void add(std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t begin, std::int64_t end, char* sums,
           bool first);
  /// Applies the operations that follow the sum.
  void finish(std::int64_t batch, std::int64_t row, std::int64_t rows, char* sums);

  static constexpr int kMemories = 6;

 private:
  enum Memory : int { kLeftWorker, kRightWorker, kResultWorker, kLeftPanels, kRightPanels, kSums };
  static_assert(kSums + 1 == kMemories);
  struct Block {
    std::int64_t batch = 0;
    std::int64_t row = 0;
    std::int64_t rows = 0;
    std::int64_t column = 0;
    std::int64_t columns = 0;
    char* results = nullptr;
    std::int64_t pitch = 0;
  };

  void pack_right(std::int64_t batch);
  void pack_left(const Block& block);
  void add_depths(const Block& block, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                  const char* from) const;
  void finish_block(const Block& block);
  const char* memory(const FactorPlan& factor, std::int64_t batch, std::int64_t point, std::int64_t d) const;

  const ContractionPlan& plan_;
  const codegen::Contraction& shape_;
  const isa::ProductFns& fns_;
  std::span<void* const> arguments_;
  BoundLaunch left_;
  BoundLaunch right_;
  BoundLaunch epilogue_;
  int memory_;
  Packer pack_left_;
  Packer pack_right_;
  Worker finish_;
  PanelLayout left_layout_;
  PanelLayout right_layout_;
  std::int64_t panel_ = 1;
  const KeptPanels* kept_ = nullptr;
  bool right_direct_ = false;
  std::int64_t packed_batch_ = -1;  // the batch whose right factor is packed; -1: none
  std::int64_t packed_left_batch_ = -1;
  std::int64_t packed_row_ = -1;
  char* left_panels_ = nullptr;
  const char* right_panels_ = nullptr;
};

}  // namespace oriel::backend::eigen
