// How the results of a contraction are divided into blocks, and which panels several blocks share. And the jobs that
// follow from them: packing of shared panels, and blocks of results. They wait for each other in an order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/packer.hpp"

namespace oriel::backend::eigen {

/// Points [first, first + count) of a factor: rows of the left one, columns of the right one.
struct PointRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Sizes are chosen for one run: they depend on the number of threads and on the alignment of the right factor.
struct ProductBlocks {
  std::int64_t height = 1;  // rows in a panel of the left factor
  std::int64_t width = 1;   // columns in a panel of the right factor
  std::int64_t rows = 1;    // rows in a block of results
  std::int64_t columns = 1;
  std::int64_t segments = 1;  // parts of the depth that are summed separately
  int log_bytes = 2;
  PanelLayout left;
  PanelLayout right;
  bool right_direct = false;  // the right factor is read in place, never packed
  bool right_dense = false;   // the right factor is not divided into panels
  bool right_kept = false;    // its panels are kept from an earlier launch (kept_panels.hpp)
  bool one_block = false;     // a batch is one block: a thread prefetches the factors of its probable next batch
  int threads = 1;
  bool share_left = false;  // panels of rows are packed once for several blocks
  bool share_right = false;
  std::int64_t shared_rows = 1;  // rows whose panels are in memory at the same time
  std::int64_t shared_columns = 1;

  /// The number of blocks in `row_count` by `column_count` results of one batch.
  std::int64_t count(std::int64_t row_count, std::int64_t column_count) const noexcept {
    return quotient_up(row_count, rows) * quotient_up(column_count, columns);
  }
  /// The bytes of the sums of one segment of one block.
  std::int64_t segment_bytes() const noexcept { return (rows * columns + isa::kPacket) << log_bytes; }
};

/// `kept`: the layout of the right factor's panels, if they are kept from an earlier launch; else null.
ProductBlocks choose_blocks(const ContractionPlan& plan, int threads, std::span<void* const> arguments,
                            const PanelLayout* kept);

/// The address of element (point, depth d) of a factor that is read in memory.
inline const char* element_address(const FactorPlan& factor, std::span<void* const> arguments, int log_bytes,
                                   std::int64_t batch, std::int64_t point, std::int64_t d) {
  const Matrices& m = *factor.memory;
  const char* data = static_cast<const char*>(arguments[static_cast<std::size_t>(m.buffer)]);
  return data + ((m.at(batch) + point * m.row + d * m.step) << log_bytes);
}

/// The results of one batch, or as many of them as the shared panels cover.
struct BlockGroup {
  std::int64_t batch = 0;
  PointRange rows;
  PointRange columns;
  std::int64_t pack_left = 0;  // number of jobs that pack the left factor
  std::int64_t pack_right = 0;
  std::int64_t multiply = 0;
  std::int64_t begin = 0;  // its first job
  std::int64_t packs() const noexcept { return pack_left + pack_right; }
};

/// Jobs are taken in order. So the jobs that a job waits for have been taken, and none of them waits for a later job.
/// Thread safety: any thread may run a job.
class ProductJobs {
 public:
  ProductJobs(const ContractionPlan& plan, const ProductBlocks& blocks);

  std::int64_t count() const noexcept { return count_; }

  /// Waits until the job may run, and runs it. It calls pack(left, group, job, jobs) for one of the jobs that pack a
  /// factor, or multiply(group, job) for one of the group's blocks and segments.
  template <class Pack, class Multiply>
  void run(std::int64_t job, Pack&& pack, Multiply&& multiply) {
    const auto after = std::upper_bound(groups_.begin(), groups_.end(), job,
                                        [](std::int64_t j, const BlockGroup& g) { return j < g.begin; });
    const auto index = static_cast<std::size_t>(after - groups_.begin()) - 1;
    const BlockGroup& g = groups_[index];
    Progress& progress = progress_[index];
    job -= g.begin;
    try {
      if (job < g.packs()) {
        if (index > 0) wait(progress_[index - 1].multiplied, groups_[index - 1].multiply);
        if (job < g.pack_left) {
          pack(true, g, job, g.pack_left);
        } else {
          pack(false, g, job - g.pack_left, g.pack_right);
        }
        progress.packed.fetch_add(1, std::memory_order_release);
      } else {
        wait(progress.packed, g.packs());
        multiply(g, job - g.packs());
        progress.multiplied.fetch_add(1, std::memory_order_release);
      }
    } catch (...) {
      failed_ = true;
      throw;
    }
  }

 private:
  struct Progress {
    std::atomic<std::int64_t> packed{0};
    std::atomic<std::int64_t> multiplied{0};
  };
  void add_groups(const ContractionPlan& plan, const ProductBlocks& blocks, std::int64_t batch);
  /// Returns early if another job has failed.
  void wait(const std::atomic<std::int64_t>& done, std::int64_t all) const;

  std::vector<BlockGroup> groups_;
  std::vector<Progress> progress_;  // one element for each group
  std::int64_t count_ = 0;
  std::atomic<bool> failed_{false};
};

}  // namespace oriel::backend::eigen
