// The CPU: runs loop programs at once, tile by tile.
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
  /// So many for every kernel that can be shared out. 0: of ORIEL_THREADS, else of what the hardware runs at once, as
  /// many as pay for each kernel (threads.hpp).
  int threads = 0;
  std::int64_t tile = 0;  ///< elements in a tile, a multiple of 16; 0: chosen by kernel
  std::string isa;        ///< "baseline", "avx2", "avx512", "neon"; empty: ORIEL_ISA, else the best this machine has
  std::optional<EigenTier> tier = std::nullopt;  ///< nothing: that of the context, at each launch
  const Compiler* compiler = nullptr;            ///< null: Compiler::system(), asked for when it is needed
  mem::DiskCache* cache = nullptr;               ///< null: DiskCache::shared()
  double patience = 1;                           ///< with EigenTier::automatic: scales the times of tuner.hpp
  /// With EigenTier::compile: a kernel that the compiler does not build is a DeviceError, not the tile machine's.
  /// Nothing: where ORIEL_COMPILE_STRICT is 1.
  std::optional<bool> strict = std::nullopt;
  int most_threads = 0;  ///< where `threads` is 0: in place of ORIEL_THREADS; 0: none
  /// Device::context of its tensors, whose tier counts where there is none here. Those of another context than the
  /// default one have a pool of memory of their own.
  std::uint16_t context = 0;
  std::optional<MemoryOptions> memory = std::nullopt;  ///< of that pool; nothing: as the environment says
};

/// Thread safety: every member may be called from any thread.
class EigenBackend final : public Backend {
 public:
  /// Throws ArgumentError for a setting that is none.
  explicit EigenBackend(const Options& options = {});
  Device device() const override { return {DeviceKind::eigen, 0, options_.context}; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<mem::Allocator> allocator() override { return allocator_; }
  std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) override;
  void prepare(std::span<const std::shared_ptr<const Kernel>> kernels) override;
  void launch(const Kernel& kernel, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) override;
  void synchronize() override {}
  std::string source(const codegen::LoopProgram& program) const override;
  std::string source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const override;
  std::string method(const codegen::LoopProgram& program) const override;
  PathFacts paths(const codegen::LoopProgram& program) const override;
  std::string tier(const codegen::LoopProgram& program, const Kernel* kernel) const override;
  std::string details() override;
  /// How many threads run a kernel that takes one of them `seconds`.
  int threads_for(double seconds) const;
  /// The thread that has kernels built, for tests.
  Tuner& tuner() { return *tuner_; }

 private:
  EigenTier chosen_tier() const;
  NativeBuilder& builder();
  void build(std::span<const TieredKernel* const> kernels);
  /// Throws DeviceError where one is not built that should be.
  static void demand(std::span<const TieredKernel* const> kernels, const std::vector<std::string>& notes);
  void launch_watched(const TieredKernel& kernel, std::span<void* const> arguments,
                      std::span<const graph::Scalar> parameters);
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
  std::unique_ptr<Tuner> tuner_;  // last: its thread uses the builder
};

}  // namespace oriel::backend::eigen
