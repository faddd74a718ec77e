// Products of matrices for a few rows at a time. The operations before and after run while the rows are in cache.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/packer.hpp"
#include "backend/eigen/products/panel_product.hpp"

namespace oriel::backend::eigen {

/// The left factor of a contraction that is run for some rows at a time. It is read in place, or the rows of the last
/// call are packed.
///
/// Thread safety: none; each thread has its own.
class LeftPanels {
 public:
  /// `worker` and `panels` are numbers of the thread's memories.
  LeftPanels(const ContractionPlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
             int worker, int panels);

  /// Packs rows [row, row + rows) of a batch at all depths, unless they are packed or the factor is read in place.
  void pack(std::int64_t batch, std::int64_t row, std::int64_t rows) {
    if (!plan_.left.direct && (packed_row_ != row || packed_batch_ != batch)) pack_rows(batch, row, rows);
  }
  /// Sets the left factor of `p`: rows [row, row + rows) of a batch in the block of depths that begins at d. They are
  /// packed, if the factor is not read in place.
  void set(PanelProduct& p, std::int64_t batch, std::int64_t row, std::int64_t rows, std::int64_t d) const;

 private:
  void pack_rows(std::int64_t batch, std::int64_t row, std::int64_t rows);

  const ContractionPlan& plan_;
  std::span<void* const> arguments_;
  BoundLaunch launch_;
  Packer packer_;
  PanelLayout layout_;
  int memory_;
  std::int64_t packed_batch_ = -1;
  std::int64_t packed_row_ = -1;
  char* panels_ = nullptr;
};

/// The right factor of a contraction that is run for some rows at a time. It is read in place, or its panels are kept
/// from launch to launch, or all columns of the last batch are packed.
///
/// Thread safety: none; each thread has its own.
class RightPanels {
 public:
  /// `kept`: the panels, if they are kept; else null. `worker` and `panels` are numbers of the thread's memories.
  RightPanels(const ContractionPlan& plan, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
              const KeptPanels* kept, int worker, int panels);

  /// Packs a batch, or finds its kept panels, unless it is packed or the factor is read in place.
  void pack(std::int64_t batch) {
    if (!direct_ && packed_batch_ != batch) pack_batch(batch);
  }
  /// Sets the right factor of `p`: the columns from `column` on, in the block of depths that begins at d. The batch is
  /// packed, if the factor is not read in place.
  void set(PanelProduct& p, std::int64_t batch, std::int64_t column, std::int64_t d) const;

 private:
  void pack_batch(std::int64_t batch);

  const ContractionPlan& plan_;
  std::span<void* const> arguments_;
  BoundLaunch launch_;
  Packer packer_;
  PanelLayout layout_;
  const KeptPanels* kept_ = nullptr;
  bool direct_ = false;
  int memory_;
  std::int64_t packed_batch_ = -1;  // the batch whose right factor is packed; -1: none
  const char* panels_ = nullptr;
};

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

  void add_depths(const Block& block, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                  const char* from) const;
  void finish_block(const Block& block);

  const ContractionPlan& plan_;
  const codegen::Contraction& shape_;
  const isa::ProductFns& fns_;
  std::span<void* const> arguments_;
  BoundLaunch epilogue_;
  int memory_;
  LeftPanels left_;
  RightPanels right_;
  Worker finish_;
  std::int64_t panel_ = 1;
};

}  // namespace oriel::backend::eigen
