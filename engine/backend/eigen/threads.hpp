// The threads that large kernels are shared among.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace oriel::backend::eigen {

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
