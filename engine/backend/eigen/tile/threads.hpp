// The threads that large kernels are shared among.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace oriel::backend::eigen {

/// The first of `total` things that belongs to share `task` of `tasks` equal shares: total * task / tasks, computed
/// without that product, which may not fit 64 bits.
constexpr std::int64_t share_begin(std::int64_t total, std::int64_t task, std::int64_t tasks) noexcept {
  return total / tasks * task + total % tasks * task / tasks;
}

/// The number of tasks for the work: one for each `each` of it, at most `most`, and at least one if `most` is at least
/// one.
inline std::int64_t tasks_for(double work, double each, std::int64_t most) noexcept {
  return work / each + 1 < static_cast<double>(most) ? static_cast<std::int64_t>(work / each + 1) : most;
}

/// A caller finds the threads awake where it comes back soon: a thread without work looks for the next job for about 30
/// microseconds before it sleeps. Nobody waits for a thread to wake up: one that comes too late for a job finds it
/// done.
///
/// Thread safety: `run` may be called from several threads at once, but not from inside a task. One job at a time is
/// shared; who calls meanwhile works alone.
class Threads {
 public:
  /// `count` threads in all, the caller's among them; the others start at the first large kernel. If the system grants
  /// fewer, half of those that it granted do the work, or the caller alone.
  explicit Threads(int count);
  ~Threads();
  int count() const noexcept { return count_; }

  /// Calls task(0) .. task(tasks - 1), each once, on this thread and up to `most` - 1 others, which take them in order;
  /// returns when all are done. The first exception of a task is thrown here.
  void run(std::int64_t tasks, const std::function<void(std::int64_t)>& task, int most);
  void run(std::int64_t tasks, const std::function<void(std::int64_t)>& task) { run(tasks, task, count_); }

 private:
  class Pool;
  struct SharedPool;
  Pool* pool();
  int count_;
  std::unique_ptr<SharedPool> place_;
};

/// Some of the threads: as many as pay for a kernel.
class Team {
 public:
  Team(Threads& all) : Team(all, all.count()) {}  // NOLINT(google-explicit-constructor)
  Team(Threads& all, int count) : all_(&all), count_(count) {}
  int count() const noexcept { return count_; }
  /// As Threads::run.
  void run(std::int64_t tasks, const std::function<void(std::int64_t)>& task) const { all_->run(tasks, task, count_); }

 private:
  Threads* all_;
  int count_;
};

/// How many of `most` threads pay for work that takes one of them `seconds`.
int threads_that_pay(double seconds, int most);

}  // namespace oriel::backend::eigen
