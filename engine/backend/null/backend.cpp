#include "backend/null/backend.hpp"

#include <limits>
#include <string>

#include "oriel/error.hpp"

namespace oriel::backend::null {
namespace {

class NullKernel final : public Kernel {};

// All buffers share one address: nothing ever looks behind it.
class NullAllocator final : public mem::Allocator {
 public:
  explicit NullAllocator(Device device) : device_(device) {}
  Device device() const override { return device_; }
  void* allocate(std::size_t bytes) override {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max())) {
      throw MemoryError("allocate", std::to_string(bytes) + " bytes on null; accepted are sizes below 2^63");
    }
    return place_;
  }
  void release(void*, std::size_t) noexcept override {}
  void read(const void*, void*, std::size_t bytes) override {
    throw DeviceError(
        "read", std::to_string(bytes) + " bytes from the null device, which computes nothing; use eigen for results");
  }
  void write(void*, const void*, std::size_t) override {}

 private:
  const Device device_;
  alignas(64) unsigned char place_[64] = {};
};

}  // namespace

NullBackend::NullBackend(std::uint16_t context)
    : device_{DeviceKind::null, 0, context}, allocator_(std::make_shared<NullAllocator>(device_)) {
  capabilities_.scatters = true;
  capabilities_.hosts = true;
  capabilities_.description = "computes nothing";
}

std::shared_ptr<const Kernel> NullBackend::compile(const codegen::LoopProgram&) {
  ++compiled_;
  return std::make_shared<NullKernel>();
}

void NullBackend::launch(const Kernel&, std::span<void* const>, std::span<const graph::Scalar>) { ++launched_; }

std::string NullBackend::source(const codegen::LoopProgram& program) const { return codegen::to_string(program); }

}  // namespace oriel::backend::null
