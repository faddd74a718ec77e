// A device of work items: kernels are rendered, and built and run by its driver.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "backend/backend.hpp"
#include "backend/items/choices.hpp"
#include "backend/items/kernel.hpp"
#include "backend/items/memory.hpp"
#include "backend/items/programs.hpp"

namespace oriel::backend::items {

struct Options {
  mem::DiskCache* cache = nullptr;  ///< null: DiskCache::shared()
  RenderOptions render;
  std::uint16_t context = 0;  ///< Device::context of its tensors
  /// Measures the ways to distribute a kernel and keeps the fastest; nullopt: as ORIEL_TUNE says.
  std::optional<bool> tune;
};

/// Thread safety: every member may be called from any thread.
class ItemBackend : public Backend {
 public:
  ItemBackend(std::unique_ptr<Driver> driver, const source::Dialect& dialect, Device device, const Options& options);
  Device device() const override { return memory_->device(); }
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
  std::string report(const Kernel& kernel) const override { return item_kernel(kernel).report(driver().options()); }
  std::string details() override { return capabilities_.description + "; disk cache " + cache_.state(); }
  /// Called after the first run of each newly built kernel.
  void on_build(void (*callback)()) { on_build_ = callback; }
  /// Waits for all work and for the export of binaries. Later builds are not exported.
  void quiesce() noexcept override;
  ProgramStore& programs() noexcept { return programs_; }
  const Choices& choices() const noexcept { return choices_; }
  const DeviceTable& table() const noexcept { return driver().table(); }
  Driver& driver() const noexcept { return memory_->driver(); }

 private:
  static const ItemKernel& item_kernel(const Kernel& kernel) { return static_cast<const ItemKernel&>(kernel); }
  /// The program distributed in one of its ways.
  Rendered rendered_as(const codegen::LoopProgram& program, int shape) const;
  /// The program as it is launched: distributed in the way that was remembered for it.
  Rendered rendered(const codegen::LoopProgram& program) const;
  /// Times the ways to distribute a program's points, on buffers of its own, and remembers the fastest.
  void time_shapes(const codegen::LoopProgram& program, int shapes);
  /// The comment at the head of a source: how it is built and launched.
  std::string launch_comment(const Rendered& rendered) const;

  const source::Dialect& dialect_;
  const RenderOptions render_;
  mem::DiskCache& cache_;
  const std::shared_ptr<DeviceMemory> memory_;
  ProgramStore programs_;
  mutable Choices choices_;
  Capabilities capabilities_;
  void (*on_build_)() = nullptr;
  std::atomic<bool> timed_{false};
};

}  // namespace oriel::backend::items
