// What a context remembers of earlier work: compiled schedules by their keys, compiled kernels by their programs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/activity.hpp"
#include "base/context.hpp"
#include "base/fork_lock.hpp"
#include "runtime/compiled.hpp"

namespace oriel::runtime {

/// Compiled schedules by key, the least recently used dropped first. Thread safety: any thread.
class ScheduleCache {
 public:
  explicit ScheduleCache(std::uint16_t context) : context_(context) {}
  /// Null if there is none.
  std::shared_ptr<const CompiledSchedule> find(const Key& key);
  /// Keeps the schedule, unless another thread has added one for this key meanwhile. Returns the kept one.
  std::shared_ptr<const CompiledSchedule> insert(const Key& key, std::shared_ptr<const CompiledSchedule> schedule);
  void clear();

 private:
  using Recent = std::list<std::shared_ptr<const CompiledSchedule>>;
  static constexpr std::size_t kMostSchedules = 4096;
  static constexpr std::size_t kMostWords = 16'000'000;  // 128 MB of keys

  base::ForkMutex& lock() const { return base::fork_mutex(base::ForkLock::schedules, context_); }
  std::shared_ptr<const CompiledSchedule> find_locked(const Key& key);
  void drop_oldest(Recent& dropped);

  const std::uint16_t context_;
  Recent recent_;
  std::unordered_multimap<std::uint64_t, Recent::iterator> by_hash_;
  std::unordered_map<const CompiledSchedule*, std::uint64_t> hash_of_;
  std::size_t words_ = 0;
};

/// Schedules that one slot used recently. Repeated work finds its schedule here and reads no memory that other threads
/// write.
/// Thread safety: none.
class RecentSchedules {
 public:
  /// Returns null if the schedule is not among them or the shared cache was cleared since.
  const CompiledSchedule* find(const Key& key);
  void insert(const Key& key, std::shared_ptr<const CompiledSchedule> schedule);

 private:
  static constexpr std::size_t kMost = 16;  // a power of two
  std::array<std::shared_ptr<const CompiledSchedule>, kMost> by_hash_;
  std::uint64_t cleared_ = 0;
};

/// Kernels by their programs. Thread safety: any thread.
class KernelCache {
 public:
  explicit KernelCache(std::uint16_t context) : context_(context) {}
  /// Compiles the kernels that are not known yet. Kernels with the same program are compiled once for each device. (If
  /// threads miss the same kernel at the same time, each compiles it, and one result is kept.)
  /// @{
  std::shared_ptr<const backend::Kernel> compile(backend::Backend& backend, const codegen::LoopProgram& program);
  std::shared_ptr<const backend::Kernel> compile(backend::Backend& backend, codegen::LoopProgram&& program);
  /// `closed`: the kernel of the family at these values. `family` may be null.
  std::shared_ptr<const backend::Kernel> compile(backend::Backend& backend, codegen::LoweredKernel&& closed,
                                                 const backend::KernelFamily* family,
                                                 std::span<const std::int64_t> values);
  /// @}
  /// Returns the kernel that `compile` returned before if it is still kept; else null.
  std::shared_ptr<const backend::Kernel> find(const backend::Backend& backend, const codegen::LoopProgram& program);
  void clear();
  std::uint64_t compiled() const noexcept { return compiled_.load(std::memory_order_relaxed); }

 private:
  struct Known {
    const backend::Backend* backend;
    codegen::LoopProgram program;
    std::shared_ptr<const backend::Kernel> kernel;
  };
  using Table = std::unordered_multimap<std::uint64_t, Known>;
  static constexpr std::size_t kMost = 4096;

  base::ForkMutex& lock() const { return base::fork_mutex(base::ForkLock::kernels, context_); }
  template <class Make>
  std::shared_ptr<const backend::Kernel> compile_new(backend::Backend& backend, codegen::LoopProgram& program,
                                                     const Make& make);
  std::shared_ptr<const backend::Kernel> find_locked(const backend::Backend& backend,
                                                     const codegen::LoopProgram& program, std::uint64_t hash);

  const std::uint16_t context_;
  Table by_hash_;
  std::atomic<std::uint64_t> compiled_{0};
};

/// Both caches and their counters. Those of the default context are never destroyed: static tensors may be realised
/// while the process ends.
struct Caches final : base::ContextPart {
  explicit Caches(std::uint16_t context) : schedules(context), kernels(context) {}
  ~Caches() override { schedules.clear(); }  // also invalidates every RecentSchedules
  ScheduleCache schedules;
  KernelCache kernels;
  // One set of counters for each slot (base/activity.hpp), so that threads do not write to the same cache line.
  struct alignas(64) Counts {
    std::atomic<std::uint64_t> schedules_built{0};
    std::atomic<std::uint64_t> schedules_reused{0};
    std::atomic<std::uint64_t> kernels_launched{0};
  };
  std::array<Counts, base::Activity::kMost> counts;
};

/// Throws DeviceError if the context has ended.
Caches& caches_of(std::uint16_t context);

}  // namespace oriel::runtime
