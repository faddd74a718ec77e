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

/// Decides which tier runs each kernel. A kernel runs compiled from its first launch if the disk cache holds it and an
/// earlier process found it faster. Any other kernel starts on the tile machine. After 5 ms there, the disk cache is
/// asked. When the kernel has taken as long as building costs, it is built; so at worst the time doubles. Then both
/// tiers run it in turns, five times each after a first compiled run that does not count. The tier with the best time
/// keeps the kernel, and the disk cache keeps the verdict. Kernels of many sizes that share a compiled form
/// (symbolic_unit.hpp) are watched, built and measured together: a size that was never met costs no build. One thread
/// of low priority asks and builds, and its compilers have low priority too. Kernels that become due while it works
/// form one unit. Only the end of the process waits for the thread, and it ends a running compiler.
///
/// Thread safety: any thread.
class Tuner {
 public:
  /// `builder` is called on the thread, and to look up verdicts of earlier processes. `threads` returns how many
  /// threads run a kernel. `patience` scales the times above.
  Tuner(
      std::function<NativeBuilder&()> builder, double patience,
      std::function<int(const TieredKernel&)> threads = [](const TieredKernel&) { return 1; });
  ~Tuner();
  Tuner(const Tuner&) = delete;
  Tuner& operator=(const Tuner&) = delete;

  /// Applies the verdict of an earlier process, at the first launch of a kernel; then the kernel is decided.
  void recall(const TieredKernel& kernel);
  /// Should the next launch run compiled? Call it only while the kernel is not decided.
  bool native_next(const TieredKernel& kernel);
  /// Records the time of a launch.
  void record(const TieredKernel& kernel, bool native, double seconds);
  /// Ends the thread and its running compiler.
  void stop();
  /// The notes since the last call; usually none.
  std::vector<std::string> notes();
  bool has_notes() const noexcept { return has_notes_.load(std::memory_order_relaxed); }
  /// Waits until no request is left. For tests.
  void settle();

 private:
  using KernelPtr = std::shared_ptr<const TieredKernel>;
  bool in_child() const;
  void ask(const TieredKernel& kernel, std::vector<KernelPtr>& list);
  void work();
  void decide(const TieredKernel& kernel);
  bool was_faster(const TieredKernel& kernel);
  void note(std::string text);

  const std::function<NativeBuilder&()> builder_;
  const double patience_;
  const std::function<int(const TieredKernel&)> threads_;
  std::atomic<double> seconds_to_build_{kFirstBuildSeconds};
  std::atomic<bool> stop_{false};
  std::atomic<int> process_{0};  // the process whose thread it is; a forked child has no thread
  std::mutex guard_;             // guards the members below
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
