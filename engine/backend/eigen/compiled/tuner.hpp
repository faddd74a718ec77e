// EigenTier::automatic: which tier runs a kernel next, and the thread that has kernels built.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/eigen/compiled/native.hpp"

namespace oriel::backend::eigen {

/// A kernel that an earlier process found faster when compiled, and that the disk cache holds, is compiled from its
/// first launch on. Any other starts on the tile machine. When that has spent 5 ms on it, the disk cache is asked; when
/// it has spent what building a kernel costs (so that at worst the time is doubled), it is built. Then both tiers run
/// it in turns, five times each beside a first native run that does not count, and the one with the best time keeps it:
/// a verdict that the disk cache keeps too. All asking and building is done by one thread of low priority, with its
/// compilers of low priority; what gathers while it is at work goes into one unit. Nobody waits for it but the end of
/// the process, which ends a compiler that is at work.
///
/// Thread safety: any thread.
class Tuner {
 public:
  /// `builder` is called on the thread, and for what earlier processes have found out. `threads` says how many run a
  /// kernel. `patience` scales the times above.
  Tuner(
      std::function<NativeBuilder&()> builder, double patience,
      std::function<int(const TieredKernel&)> threads = [](const TieredKernel&) { return 1; });
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// What an earlier process has found out of a kernel, asked at its first launch: then it is decided.
  void recall(const TieredKernel& kernel);
  /// Should the next launch be native? Only while the kernel's phase is not decided.
  bool native_next(const TieredKernel& kernel);
  /// What a launch took.
  void record(const TieredKernel& kernel, bool native, double seconds);
  /// Ends the thread, and a compiler with it.
  void stop();
  /// What there is to say since the last call; empty as a rule.
  std::vector<std::string> notes();
  bool has_notes() const noexcept { return has_notes_.load(std::memory_order_relaxed); }
  /// Waits until nothing is asked for: for tests.
  void settle();

 private:
  using KernelPtr = std::shared_ptr<const TieredKernel>;
  bool in_child() const;
  void ask(const TieredKernel& kernel, std::vector<KernelPtr>& list);
  void work();
  void decide(const TieredKernel& kernel);
  void note(std::string text);

  const std::function<NativeBuilder&()> builder_;
  const double patience_;
  const std::function<int(const TieredKernel&)> threads_;
  std::atomic<double> seconds_to_build_{kFirstBuildSeconds};
  std::atomic<bool> stop_{false};
  std::atomic<int> process_{0};  // that the thread belongs to; a forked child has none
  std::mutex guard_;             // of the rest
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::vector<KernelPtr> to_look_up_;
  std::vector<KernelPtr> to_build_;
  std::vector<KernelPtr> to_remember_;                           // decided
  std::shared_ptr<const std::vector<std::string>> environment_;  // as it was when kernels were last asked for
  bool busy_ = false;
  std::thread thread_;
  std::vector<std::string> notes_;
  std::atomic<bool> has_notes_{false};
};

}  // namespace oriel::backend::eigen
