// Products of matrices for a few rows at a time. The operations before and after run while the rows are in cache.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/kept_panels.hpp"
#include "backend/eigen/products/packer.hpp"
#include "backend/eigen/products/product_factors.hpp"

namespace oriel::backend::eigen {

/// A factor of a contraction that is run for some rows at a time. It is read in place, or its panels are kept from
/// launch to launch, or the points of the last call are packed at all depths.
///
/// Thread safety: none; each thread has its own.
class RowPanels {
 public:
  /// `kept`: the panels, if they are kept; else null. `worker` and `panels` are numbers of the thread's memories.
  RowPanels(const ContractionPlan& plan, bool left, std::span<void* const> arguments,
            std::span<const graph::Scalar> parameters, const KeptPanels* kept, int worker, int panels);

  /// Packs points [first, first + count) of a batch, or finds its kept panels, unless they are packed or the factor is
  /// read in place.
  void pack(std::int64_t batch, std::int64_t first, std::int64_t count) {
    if (!direct_ && (first_ != first || batch_ != batch)) pack_points(batch, first, count);
  }
  /// Sets the left factor of `p` to the rows that were packed (or begin at `first`), or the right one to the columns
  /// from `first` on, in the block of depths that begins at d.
  void set(PanelProduct& p, std::int64_t batch, std::int64_t first, std::int64_t d) const;

 private:
  void pack_points(std::int64_t batch, std::int64_t first, std::int64_t count);

  const ContractionPlan& plan_;
  const FactorPlan& factor_;
  const bool left_;
  std::span<void* const> arguments_;
  BoundLaunch launch_;
  Packer packer_;
  PanelLayout layout_;
  const KeptPanels* kept_;
  bool direct_;
  int memory_;
  std::int64_t batch_ = -1;  // whose points are packed; -1: none
  std::int64_t first_ = -1;
  std::int64_t count_ = 0;
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
  void add_depths(const ResultBlock& block, std::int64_t d, std::int64_t depths, char* target, std::int64_t pitch,
                  const char* from) const;

  const ContractionPlan& plan_;
  const codegen::Contraction& shape_;
  const isa::ProductFns& fns_;
  std::span<void* const> arguments_;
  BoundLaunch epilogue_;
  int memory_;
  RowPanels left_;
  RowPanels right_;
  Worker finish_;
  std::int64_t panel_ = 1;
};

}  // namespace oriel::backend::eigen
