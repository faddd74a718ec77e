// The jobs of a contraction: packing of the panels that blocks share, and blocks of results. And the order in which
// they wait for each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/eigen/products/product_blocks.hpp"

namespace oriel::backend::eigen {

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
