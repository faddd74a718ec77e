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
#include "backend/eigen/compiled/symbolic_unit.hpp"
#include "backend/eigen/compiled/tuning.hpp"
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
/// The same of a unit for many sizes.
using SizedFn = void (*)(void* const* arguments, const NativeScalar* parameters, std::int64_t first, std::int64_t last,
                         const std::int64_t* sizes);

/// A kernel that both tiers run. Everything but the plan is filled in later, once.
struct TieredKernel final : Kernel, std::enable_shared_from_this<TieredKernel> {
  TieredKernel(std::shared_ptr<const Plan> tile_plan, codegen::LoopProgram loop_program, double alone,
               std::string why_tile);

  std::shared_ptr<const Plan> plan;
  codegen::LoopProgram program;
  double seconds = 0;     // estimated time on one thread (run.hpp)
  std::string tile_only;  // why it is never compiled; empty if it may be
  SizedUnit sized;        // if it may share its compiled form with kernels of other sizes
  /// The form that is compiled alone counts from these elements of the arguments; empty if all are 0.
  std::vector<std::int64_t> bases;
  std::int64_t blocks = 0;  // blocks of results that threads share when it is compiled; 0: they share single points
  mutable std::atomic<NativeFn> native{nullptr};
  mutable std::atomic<bool> tried{false};
  mutable std::shared_ptr<const LoadedUnit> unit;  // holds `native`; written before it

  mutable std::vector<std::int64_t> numbers;  // what a launch gives a shared form; written before `native`
  mutable std::atomic<bool> orphaned{false};  // it can no longer share: the plan of its unit is gone
  mutable Tuning own_tuning;

  /// The unit of many sizes that it shares; null if it is compiled by itself.
  const SymbolicUnit* shared() const noexcept {
    return orphaned.load(std::memory_order_relaxed) ? nullptr : sized.unit.get();
  }
  Tuning& tuning() const noexcept {
    const SymbolicUnit* const symbolic = shared();
    return symbolic != nullptr ? symbolic->tuning : own_tuning;
  }
};

std::size_t instructions(const codegen::LoopProgram& program);
/// Why only the tile machine runs a kernel, or nothing.
std::string why_tile_only(const codegen::LoopProgram& program, const Plan& plan, int threads);

/// Assumed build time of a kernel before the first build: the time of a stencil or a chain of float32.
inline constexpr double kFirstBuildSeconds = 0.3;

/// Thread safety: any thread; one build at a time.
class NativeBuilder {
 public:
  /// `compiler` and `cache` must outlive it.
  NativeBuilder(const Compiler& compiler, mem::DiskCache& cache, std::string level);

  /// Builds the kernels that were not tried before and are not in the cache, together as far as the compiler's time
  /// limit allows. If a joint build fails, it builds them separately. Marks each kernel as tried and writes a line for
  /// each event to `notes`. Never throws for failures of compilers or disks.
  void build(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes, int niceness = 0,
             const std::atomic<bool>* cancel = nullptr);
  /// Loads the kernels that the cache holds; the others stay untried. Runs no compiler.
  void look_up(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes);
  /// Loads a kernel from the cache if an earlier process found it faster than the tile machine with as many threads.
  /// Costs a few microseconds if there is no such verdict; never waits for a build.
  bool recall(const TieredKernel& kernel, int threads);
  /// Did an earlier process find the compiled form faster, with as many threads? Precondition: the form was found.
  bool was_faster(const TieredKernel& kernel, int threads) const;
  /// Stores for later processes whether the compiled form is faster.
  void remember(const TieredKernel& kernel, int threads, bool faster);
  /// The mean build time of a kernel so far, in seconds of CPU time; an assumed value before the first build.
  double seconds_a_kernel() const noexcept { return seconds_a_kernel_.load(std::memory_order_relaxed); }

 private:
  struct Wanted {
    const TieredKernel* kernel;
    std::string symbol;
    std::string source;
  };
  static Wanted wanted(const TieredKernel& kernel, const std::string& name);
  std::string verdict_key(const std::string& context, const TieredKernel& kernel, int threads) const;
  void introduce(std::vector<std::string>& notes);
  std::string context() const;
  std::vector<Wanted> take_found(const std::string& context, std::span<const TieredKernel* const> kernels,
                                 std::vector<std::string>& notes);
  void build_units(const std::string& context, std::span<const Wanted> wanted, std::vector<std::string>& notes,
                   int niceness, const std::atomic<bool>* cancel);
  struct Failure {
    std::string trouble;   // empty: there was none
    bool refused = false;  // the compiler itself ended with an error
  };
  Failure build_unit(const std::string& context, std::span<const Wanted> wanted, std::vector<std::string>& notes,
                     int niceness, const std::atomic<bool>* cancel);
  bool find(const std::string& context, const Wanted& wanted);
  bool find_loaded(const std::string& context, const Wanted& wanted);
  std::shared_ptr<const LoadedUnit> load(const std::string& key, std::string& trouble);
  bool adopt(const std::string& context, const Wanted& wanted, const std::shared_ptr<const LoadedUnit>& unit);

  const Compiler& compiler_;
  mem::DiskCache& cache_;
  std::string level_;
  std::mutex guard_;    // held while building
  std::mutex loading_;  // guards the members below; locked after guard_, and only briefly
  std::unordered_map<std::string, std::weak_ptr<const LoadedUnit>> loaded_;     // by unit key
  std::unordered_map<std::string, std::weak_ptr<const LoadedUnit>> by_source_;  // by source_key
  std::string recalled_context_;
  bool introduced_ = false;
  int failures_ = 0;  // failures of the compiler in a row that no kernel caused
  std::atomic<double> seconds_a_kernel_{kFirstBuildSeconds};
};

/// A builder for kernels of the instruction set `level`. Null: the system's compiler, the shared disk cache.
std::unique_ptr<NativeBuilder> make_builder(const Compiler* compiler, mem::DiskCache* cache, const std::string& level);

/// Renders the unit of many sizes that the kernel shares, if it does. If that is too late, the kernel is compiled by
/// itself from now on. To be called before the kernel is given to a NativeBuilder, on a thread that launches it.
void render_unit_of(const TieredKernel& kernel);
/// Gives the kernel what is already compiled for other sizes. A kernel of these sizes alone stays as it is.
void take_compiled(const TieredKernel& kernel);

/// Into how many ranges of outer points threads may divide a compiled kernel.
std::int64_t native_shares(const Plan& plan, int threads);
/// Runs a compiled kernel once. Threads share its outer points.
void run_native(const TieredKernel& kernel, NativeFn native, const Team& threads, std::span<void* const> arguments,
                std::span<const graph::Scalar> parameters);

}  // namespace oriel::backend::eigen
