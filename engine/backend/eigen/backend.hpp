// The CPU device: runs loop programs tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/compiled/tuner.hpp"
#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "base/per_process.hpp"
#include "oriel/settings.hpp"

namespace oriel::backend::eigen {

struct Options {
  /// The number of threads for every kernel that can be shared. 0: ORIEL_THREADS, or else the number of hardware
  /// threads, of which each kernel uses as many as pay (threads.hpp).
  int threads = 0;
  std::int64_t tile = 0;  ///< elements in a tile, a multiple of 16; 0: chosen for each kernel
  std::string isa;        ///< "baseline", "avx2", "avx512", "neon"; empty: ORIEL_ISA, else the best this machine has
  std::optional<EigenTier> tier = std::nullopt;  ///< nullopt: the tier of the context, at each launch
  const Compiler* compiler = nullptr;            ///< null: Compiler::system(), which is called when it is needed
  mem::DiskCache* cache = nullptr;               ///< null: DiskCache::shared()
  double patience = 1;                           ///< with EigenTier::automatic: scales the times of tuner.hpp
  /// With EigenTier::compile, a kernel that the compiler does not build is a DeviceError; otherwise the tile machine
  /// runs it. nullopt: true if ORIEL_COMPILE_STRICT is 1.
  std::optional<bool> strict = std::nullopt;
  int most_threads = 0;  ///< if `threads` is 0: replaces ORIEL_THREADS; 0: does not
  /// Device::context of the device's tensors. Its tier is used if `tier` is nullopt. In a context other than the
  /// default one the device has a memory pool of its own.
  std::uint16_t context = 0;
  std::optional<MemoryOptions> memory = std::nullopt;  ///< options of that pool; nullopt: as the environment says
};

/// Thread safety: every member may be called from any thread.
class EigenBackend final : public Backend {
 public:
  /// Throws ArgumentError for an invalid setting.
  explicit EigenBackend(const Options& options = {});
  Device device() const override { return {DeviceKind::eigen, 0, options_.context}; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<mem::Allocator> allocator() override { return allocator_; }
  std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) override;
  std::unique_ptr<const KernelFamily> family(const codegen::LoopProgram& kernel,
                                             std::span<const sym::Expr> variables) override;
  void prepare(std::span<const std::shared_ptr<const Kernel>> kernels) override;
  void launch(const Kernel& kernel, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) override;
  std::vector<std::size_t> keepable(const Kernel& kernel) const override;
  void launch_keeping(const Kernel& kernel, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                      const Keeping& keeping) override;
  void synchronize() override {}
  std::string source(const codegen::LoopProgram& program) const override;
  std::string source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const override;
  std::string method(const codegen::LoopProgram& program) const override;
  PathReport paths(const codegen::LoopProgram& program) const override;
  std::string tier(const codegen::LoopProgram& program, const Kernel* kernel) const override;
  std::string details() override;
  /// The number of threads that run a kernel that takes one thread `seconds`.
  int threads_for(double seconds) const;
  /// The tuner, whose thread has kernels built; for tests.
  Tuner& tuner() { return *tuner_; }

 private:
  class Family;
  EigenTier chosen_tier() const;
  std::shared_ptr<TieredKernel> make(const codegen::LoopProgram& program) const;
  NativeBuilder& builder();
  void build(std::span<const TieredKernel* const> kernels);
  /// Throws DeviceError if a kernel that must be compiled is not.
  static void demand(std::span<const TieredKernel* const> kernels, const std::vector<std::string>& notes);
  /// `keeping`: null if nothing is kept from launch to launch.
  void run(const TieredKernel& kernel, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
           const Keeping* keeping);
  void run_watched(const TieredKernel& kernel, std::span<void* const> arguments,
                   std::span<const graph::Scalar> parameters, const Keeping* keeping);
  void say_notes();
  Team team(const TieredKernel& kernel, bool native);

  const Options options_;
  const isa::Table& table_;
  std::int64_t tile_;
  const bool strict_;
  Threads threads_;
  std::shared_ptr<mem::Allocator> allocator_;
  Capabilities capabilities_;
  base::PerProcess<NativeBuilder> builder_;
  std::unique_ptr<Tuner> tuner_;  // the last member, because its thread uses the builder
};

#ifdef ORIEL_BY_USE
/// Explanations ask the backend from now on (base/by_use.hpp).
void use_descriptions();
#endif

}  // namespace oriel::backend::eigen
