// OpenCL devices: kernels are generated and built by the device's own compiler.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/opencl/choices.hpp"
#include "backend/opencl/device_table.hpp"
#include "backend/opencl/memory.hpp"
#include "backend/opencl/programs.hpp"
#include "source/items/render.hpp"

namespace oriel::backend::opencl {

struct Options {
  const Api* api = nullptr;         ///< null: the system's loader
  mem::DiskCache* cache = nullptr;  ///< null: DiskCache::shared()
  RenderOptions render;
  std::uint16_t context = 0;  ///< Device::context of its tensors
  std::optional<bool>
      tune;  ///< measures the ways to distribute a kernel and keeps the fastest; nullopt: as ORIEL_TUNE says
  void (*adjust)(DeviceTable&) = nullptr;  ///< changes the capabilities of the device, for tests; null: no change
};

/// Thread safety: every member may be called from any thread.
class OpenClBackend final : public Backend {
 public:
  /// Throws DeviceError if the device does not exist. The message lists the devices that do.
  explicit OpenClBackend(int index, const Options& options = {});
  Device device() const override { return device_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<mem::Allocator> allocator() override { return memory_; }
  std::shared_ptr<mem::Buffer> wrap(void* data, std::size_t bytes, std::function<void(void*)> deleter) override;
  std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) override;
  /// Builds the kernels. Throws DeviceError with the compiler's log.
  void prepare(std::span<const std::shared_ptr<const Kernel>> kernels) override;
  void launch(const Kernel& kernel, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) override;
  /// Hands enqueued work to the device without waiting for it.
  void submit() override;
  void synchronize() override { memory_->queue().finish("synchronize"); }
  std::string source(const codegen::LoopProgram& program) const override;
  std::string source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const override;
  std::string method(const codegen::LoopProgram& program) const override;
  PathReport paths(const codegen::LoopProgram& program) const override;
  void time_launches(bool timed) override { timed_.store(timed, std::memory_order_relaxed); }
  std::string report(const Kernel& kernel) const override;
  std::string details() override;
  const DeviceTable& table() const noexcept { return table_; }
  /// Called after the first run of each newly built kernel.
  void on_build(void (*callback)()) { on_build_ = callback; }
  /// Waits for all work and for the export of binaries. Later builds are not exported.
  void quiesce() noexcept override;
  ProgramStore& programs() noexcept { return programs_; }
  const Choices& choices() const noexcept { return choices_; }

 private:
  /// The comment at the head of a source: how it is built and launched.
  std::string launch_comment(const Rendered& rendered) const;
  /// The program as it is launched: distributed in the way that was remembered for it.
  Rendered rendered(const codegen::LoopProgram& program) const;
  /// Times the ways to distribute a program's points, on buffers of its own, and remembers the fastest.
  void time_shapes(const codegen::LoopProgram& program, int shapes);
  void run(const Kernel& kernel, std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
           bool timed);
  const Api& api_;
  DeviceTable table_;
  Device device_;
  RenderOptions render_;
  mem::DiskCache& cache_;
  std::shared_ptr<DeviceMemory> memory_;
  ProgramStore programs_;
  mutable Choices choices_;
  Capabilities capabilities_;
  void (*on_build_)() = nullptr;
  std::atomic<bool> timed_{false};
};

/// How many devices the system's loader finds; 0 without a loader.
int device_count();

}  // namespace oriel::backend::opencl
