// The CPU: runs loop programs at once, tile by tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backend/backend.hpp"
#include "backend/eigen/isa/table.hpp"
#include "backend/eigen/threads.hpp"

namespace oriel::backend::eigen {

struct Options {
  int threads = 0;        ///< 0: ORIEL_THREADS, else what the hardware runs at once
  std::int64_t tile = 0;  ///< elements in a tile, a multiple of 16; 0: chosen by kernel
  std::string isa;        ///< "baseline", "avx2", "avx512"; empty: ORIEL_ISA, else the best this machine has
};

/// Thread safety: every member may be called from any thread.
class EigenBackend final : public Backend {
 public:
  /// Throws ArgumentError for a setting that is none.
  explicit EigenBackend(const Options& options = {});
  Device device() const override { return Device::eigen(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<memory::Allocator> allocator() override { return allocator_; }
  std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) override;
  void launch(const Kernel& kernel, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) override;
  void synchronize() override {}
  std::string source(const codegen::LoopProgram& program) const override;
  std::string method(const codegen::LoopProgram& program) const override;

 private:
  const isa::Table& table_;
  std::int64_t tile_;
  Threads threads_;
  std::shared_ptr<memory::Allocator> allocator_;
  Capabilities capabilities_;
};

}  // namespace oriel::backend::eigen
