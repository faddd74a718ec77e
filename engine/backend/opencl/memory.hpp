// A device's buffers. They are pooled. If the device shares the host's memory, the host's memory is used in place.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "backend/opencl/api.hpp"
#include "backend/opencl/device_table.hpp"
#include "backend/opencl/queue.hpp"
#include "memory/buffer.hpp"

namespace oriel::backend::opencl {

/// What a Buffer's data() points to on an OpenCL device.
struct Block {
  Memory memory;
  std::size_t bytes = 0;               // size of the device's buffer
  std::function<void(void*)> deleter;  // releases host memory that is used in place
  void* host = nullptr;
  std::uint64_t launch = 0;  // the last launch that writes it; 0: no launch since the host wrote it
};

/// Queue and pool of one device. A released block can be reused at once, because the queue finishes
/// earlier work on it before later work. Thread safety: any thread.
class DeviceMemory final : public mem::Allocator {
 public:
  /// Throws DeviceError if the device cannot be opened.
  DeviceMemory(const Api& api, const DeviceTable& table, Device device);
  ~DeviceMemory() override;

  Device device() const override { return device_; }
  void* allocate(std::size_t bytes) override;
  void release(void* data, std::size_t bytes) noexcept override;
  /// Waits for all work enqueued so far. Throws DeviceError if some of it failed.
  void read(const void* data, void* host, std::size_t bytes) override;
  void write(void* data, const void* host, std::size_t bytes) override;
  MemoryStatistics statistics() const override;
  void trim(std::size_t keep) override;
  void reset_peak() override;

  /// Makes a block that uses the host's memory in place. Returns null if the device does not share the host's memory or
  /// `data` lacks the alignment that it needs.
  void* adopt(void* data, std::size_t bytes, std::function<void(void*)> deleter);

  const Api& api() const noexcept { return api_; }
  DeviceQueue& queue() noexcept { return queue_; }
  /// Records that the kernel of this launch writes the block.
  void written(void* data, std::uint64_t launch);

 private:
  const Api& api_;
  Device device_;
  std::int64_t largest_;
  bool unified_;
  std::size_t alignment_;
  DeviceQueue queue_;
  mutable std::mutex guard_;  // guards the members below
  std::multimap<std::size_t, std::unique_ptr<Block>> pool_;
  std::size_t pool_bytes_;
  MemoryStatistics counts_;
};

}  // namespace oriel::backend::opencl
