// The threads that large kernels are shared among.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace oriel::backend::eigen {

/// Where share `task` of `tasks` equal ones of `total` things begins: total * task / tasks, without that product, which
/// may not fit 64 bits.
constexpr std::int64_t share_begin(std::int64_t total, std::int64_t task, std::int64_t tasks) noexcept {
  return total / tasks * task + total % tasks * task / tasks;
}

/// As many tasks as `most` and the work allow, one for each `each` of it; at least one where `most` is.
inline std::int64_t tasks_for(double work, double each, std::int64_t most) noexcept {
  return work / each + 1 < static_cast<double>(most) ? static_cast<std::int64_t>(work / each + 1) : most;
}

/// Thread safety: `run` may be called from several threads at once, but not from inside a task.
class Threads {
 public:
  /// `count` threads in all, the caller's among them; the others start at the first large kernel. Where the system does
  /// not give so many, the work is done by half of those that it gave, or by the caller alone.
  explicit Threads(int count);
  ~Threads();
  int count() const noexcept { return count_; }

  /// Calls task(0) .. task(tasks - 1), each once, in any order, on this thread and the others; returns when all are
  /// done. The first exception of a task is thrown here.
  void run(std::int64_t tasks, const std::function<void(std::int64_t)>& task);

 private:
  struct Pool;
  Pool& pool();
  int count_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace oriel::backend::eigen
