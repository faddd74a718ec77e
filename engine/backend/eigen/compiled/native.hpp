// Kernels as the system's compiler builds them from their sources: built together, kept on disk, run over ranges.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/eigen/compiled/compiler.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "memory/disk_cache.hpp"

namespace oriel::backend::eigen {

/// What a rendered kernel's `parameters` point to.
union NativeScalar {
  std::int64_t i;
  double f;
};
using NativeFn = void (*)(void* const* arguments, const NativeScalar* parameters, std::int64_t first,
                          std::int64_t last);

/// How far a kernel is that runs by itself (EigenTier::automatic).
enum class Phase : std::uint8_t {
  Watched,   // the tile machine runs it; its time is added up
  Asked,     // and a compiler has been, or will be, asked
  Measured,  // both tiers run it in turns
  Tile,      // decided
  Native,    // decided
};

/// A kernel that both tiers run. Everything but the plan is filled in later, once.
struct TieredKernel final : Kernel, std::enable_shared_from_this<TieredKernel> {
  TieredKernel(std::shared_ptr<const Plan> tile_plan, codegen::LoopProgram loop_program, double alone,
               std::string why_tile);

  std::shared_ptr<const Plan> plan;
  codegen::LoopProgram program;
  double seconds = 0;       // that one thread takes, about (kernel_time.hpp)
  std::string tile_only;    // why no compiler is asked; empty where one may be
  std::int64_t blocks = 0;  // of results that the built kernel deals out; 0: its points are dealt out one by one
  mutable std::atomic<NativeFn> native{nullptr};
  mutable std::atomic<bool> tried{false};
  mutable std::shared_ptr<const LoadedUnit> unit;  // holds `native`; written before it

  mutable std::atomic<Phase> phase{Phase::Watched};
  mutable std::atomic<std::int64_t> tile_ns{0};  // spent by the tile machine
  mutable std::atomic<bool> looked_up{false};    // the disk cache was asked
  mutable std::atomic<bool> recalled{false};     // and for a verdict
  struct Measure {
    std::mutex guard;
    int runs[2] = {};         // by tier: tile, native
    double best[2] = {0, 0};  // seconds
  };
  mutable Measure measure;
};

std::size_t instructions(const codegen::LoopProgram& program);
/// Why only the tile machine runs a kernel, or nothing.
std::string why_tile_only(const codegen::LoopProgram& program, const Plan& plan, int threads);

/// What a kernel is taken to cost a compiler before the first was built: a stencil or a chain of float32 takes so long.
inline constexpr double kFirstBuildSeconds = 0.3;

/// Thread safety: any thread; one build at a time.
class NativeBuilder {
 public:
  /// `compiler` and `cache` must outlive it.
  NativeBuilder(const Compiler& compiler, mem::DiskCache& cache, std::string level);

  /// Builds those kernels that were not tried yet and that the cache does not hold, together as far as a compiler's
  /// time allows; where that fails, apart. Each is marked as tried. Says what happened, a line each, to `notes`. Never
  /// throws for what compilers and disks do.
  void build(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes, int niceness = 0,
             const std::atomic<bool>* cancel = nullptr);
  /// Takes from the cache what it holds of them; the others stay untried. Runs no compiler.
  void look_up(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes);
  /// Takes a kernel from the cache where it holds it, and an earlier process has found it faster than the tile machine
  /// with as many threads. Costs a few microseconds where there is no such verdict; never waits for a build.
  bool recall(const TieredKernel& kernel, int threads);
  /// Keeps a verdict for later processes: is the built form the faster one?
  void remember(const TieredKernel& kernel, int threads, bool faster);
  /// What a kernel has cost to build so far, in seconds of a compiler's work; a guess before the first.
  double seconds_a_kernel() const noexcept { return seconds_a_kernel_.load(std::memory_order_relaxed); }

 private:
  struct Wanted {
    const TieredKernel* kernel;
    std::string symbol;
    std::string source;
  };
  std::string verdict_key(const std::string& context, const TieredKernel& kernel, int threads) const;
  void introduce(std::vector<std::string>& notes);
  std::string context() const;
  std::vector<Wanted> take_found(const std::string& context, std::span<const TieredKernel* const> kernels,
                                 std::vector<std::string>& notes);
  struct Failure {
    std::string trouble;   // empty: there was none
    bool refused = false;  // the compiler ended by itself and said no
  };
  Failure build_unit(const std::string& context, std::span<const Wanted> wanted, std::vector<std::string>& notes,
                     int niceness, const std::atomic<bool>* cancel);
  bool find(const std::string& context, const Wanted& wanted);
  std::shared_ptr<const LoadedUnit> load(const std::string& key, std::string& trouble);
  static bool adopt(const Wanted& wanted, const std::shared_ptr<const LoadedUnit>& unit);

  const Compiler& compiler_;
  mem::DiskCache& cache_;
  std::string level_;
  std::mutex guard_;    // of builds
  std::mutex loading_;  // of what follows; taken after the other, never for long
  std::unordered_map<std::string, std::weak_ptr<const LoadedUnit>> loaded_;  // by unit key
  std::string recalled_context_;
  bool introduced_ = false;
  int failures_ = 0;  // in a row, and not a kernel's own fault
  std::atomic<double> seconds_a_kernel_{kFirstBuildSeconds};
};

/// Runs a built kernel once, its outer points dealt out to the threads.
void run_native(const TieredKernel& kernel, NativeFn native, const Team& threads, std::span<void* const> arguments,
                std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
