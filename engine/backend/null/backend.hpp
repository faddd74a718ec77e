// A device that plans everything and computes nothing: for tests of schedules.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/backend.hpp"

namespace oriel::backend::null {

/// Thread safety: every member may be called from any thread.
class NullBackend final : public Backend {
 public:
  /// `context`: Device::context of its tensors.
  explicit NullBackend(std::uint16_t context = 0);
  Device device() const override { return device_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  /// Its buffers have an address and no memory behind it; reading one is a DeviceError.
  std::shared_ptr<mem::Allocator> allocator() override { return allocator_; }
  std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) override;
  void launch(const Kernel& kernel, std::span<void* const> arguments,
              std::span<const graph::Scalar> parameters) override;
  void synchronize() override {}
  /// The loop program's text.
  std::string source(const codegen::LoopProgram& program) const override;

  std::int64_t compiled() const noexcept { return compiled_; }
  std::int64_t launched() const noexcept { return launched_; }

 private:
  const Device device_;
  std::shared_ptr<mem::Allocator> allocator_;
  Capabilities capabilities_;
  std::atomic<std::int64_t> compiled_{0};
  std::atomic<std::int64_t> launched_{0};
};

}  // namespace oriel::backend::null
