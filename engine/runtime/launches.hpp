// One step of a schedule, and all of them, prepared once and run many times on different buffers.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/activity.hpp"
#include "graph/node.hpp"
#include "oriel/inline_vector.hpp"
#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Runs the step with these arguments. If it is to be timed, waits for it and returns its seconds. Otherwise returns 0.
/// `keeping`: what may be kept of stable arguments; null for nothing.
double launch_step(const LaunchStep& step, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                   bool timed, const backend::Keeping* keeping = nullptr);

/// Runs a compiled schedule without a graph or a key. The schedule must overwrite none of its leaves. Each output is
/// new memory. Values that pass from kernel to kernel lie in temporaries. If all temporaries together are small
/// (`most_kept` bytes), their memory is kept for the next run; otherwise each run takes it from the device's pool.
///
/// Thread safety: any thread; concurrent runs have scratch of their own.
class LaunchList {
 public:
  static constexpr std::int64_t kMostKept = 1 << 20;

  /// `most_kept`: see above.
  LaunchList(std::shared_ptr<const CompiledSchedule> schedule, std::vector<graph::Scalar> parameters,
             std::int64_t most_kept = kMostKept);
  ~LaunchList();
  LaunchList(const LaunchList&) = delete;
  LaunchList& operator=(const LaunchList&) = delete;

  using Buffers = InlineVector<mem::BufferPtr, 4>;
  /// Runs all kernels in `work`. `leaves` holds the memory of each leaf of the key. Appends a buffer for each output to
  /// `outputs`. `keeping`: where copies of leaves are kept; null to keep none. Throws DeviceError and MemoryError;
  /// nothing has changed then.
  struct KeptLeaves {
    backend::KeptFactors& factors;
    std::span<const mem::BufferPtr* const> stable;  // by place in keepable(); null for a leaf that is not stable
  };
  void run(const base::Activity& work, std::span<void* const> leaves, Buffers& outputs,
           const KeptLeaves* keeping = nullptr) const;
  /// The leaves that kernels arrange in memory of their own before they compute, such as matrices in panels. A leaf may
  /// appear several times.
  std::span<const std::uint32_t> keepable() const noexcept { return keepable_; }

  const CompiledSchedule& schedule() const noexcept { return *schedule_; }
  /// How often it has run.
  std::uint64_t runs() const noexcept;
  /// Bytes kept between runs, for each run that can be under way at the same time.
  std::int64_t kept_bytes() const noexcept { return keeps_ ? scratch_bytes_ : 0; }

 private:
  struct Launch {
    backend::Backend* device;
    const backend::Kernel* kernel;  // null for a copy between devices
    std::uint32_t first;            // index of its first argument in the list of all arguments
    std::uint32_t count;
    bool changes_device;
    std::uint16_t keepable_count;  // of keepable_, that this launch arranges
    std::uint32_t first_keepable;
    Site site;
  };
  struct Filled {
    std::uint32_t argument;
    std::uint32_t index;
  };
  struct alignas(64) Scratch {
    std::vector<void*> pointers;
    std::vector<mem::BufferPtr> blocks;
    std::atomic<std::uint64_t> runs{0};
  };
  Scratch& scratch(const base::Activity& work) const;
  void allocate_blocks(Scratch& s) const;
  void launch_all(Scratch& s, const KeptLeaves* keeping) const;
  void collect_keepable(const LaunchStep& step, Launch& launch);

  std::shared_ptr<const CompiledSchedule> schedule_;
  std::vector<graph::Scalar> parameters_;
  std::vector<Launch> launches_;
  std::vector<Filled> leaves_;
  std::vector<std::uint32_t> keepable_;           // leaves
  std::vector<std::uint32_t> keepable_argument_;  // of its kernel, for each of them
  std::vector<Filled> outputs_;
  std::vector<Filled> temporaries_;                          // arguments that are temporaries
  std::vector<std::shared_ptr<mem::Allocator>> allocators_;  // one for each output
  std::size_t arguments_ = 0;
  std::int64_t scratch_bytes_ = 0;
  bool keeps_ = false;
  mutable std::array<std::atomic<Scratch*>, base::Activity::kMost> scratch_{};
};

}  // namespace oriel::runtime
