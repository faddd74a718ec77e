// A device's buffers. They are pooled. If the device shares the host's memory, the host's memory is used in place.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "backend/items/queue.hpp"
#include "memory/buffer.hpp"

namespace oriel::backend::items {

/// What a Buffer's data() points to on a device of work items.
struct Block {
  Object buffer;
  std::size_t bytes = 0;               // size of the device's buffer
  std::function<void(void*)> deleter;  // releases host memory that is used in place
  void* host = nullptr;
  std::uint64_t launch = 0;  // the last launch that writes it; 0: no launch since the host wrote it
};

/// Driver, queue and pool of one device. A released block can be reused at once, because the queue finishes
/// earlier work on it before later work. Thread safety: any thread.
class DeviceMemory final : public mem::Allocator {
 public:
  DeviceMemory(std::unique_ptr<Driver> driver, Device device);
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

  Driver& driver() const noexcept { return *driver_; }
  DeviceQueue& queue() noexcept { return queue_; }
  /// Records that the kernel of this launch writes the block.
  void written(void* data, std::uint64_t launch) {
    const std::lock_guard lock(guard_);
    static_cast<Block*>(data)->launch = launch;
  }

 private:
  const std::unique_ptr<Driver> driver_;
  const Device device_;
  const std::size_t largest_;  // bytes of a buffer
  DeviceQueue queue_;
  mutable std::mutex guard_;  // guards the members below
  std::multimap<std::size_t, std::unique_ptr<Block>> pool_;
  std::size_t pool_bytes_;
  MemoryStatistics counts_;
};

}  // namespace oriel::backend::items
