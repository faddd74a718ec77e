// A device's buffers: pooled, and shared with the host where the memory is the same.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/opencl/api.hpp"
#include "backend/opencl/device_table.hpp"
#include "memory/buffer.hpp"

namespace oriel::backend::opencl {

/// What a Buffer's data() points to on an OpenCL device.
struct Block {
  Memory memory;
  std::size_t bytes = 0;               // of the device's buffer
  std::function<void(void*)> deleter;  // of host memory that is used where it lies
  void* host = nullptr;
  std::uint64_t launch = 0;  // the last one that writes it; 0: none since the host did
};

/// Context, in-order queue and pool of one device. Blocks that are given back are handed out again at once: the queue
/// runs what was enqueued on them before whatever comes. Thread safety: any thread.
class DeviceMemory final : public mem::Allocator {
 public:
  /// Throws DeviceError where the device cannot be opened.
  DeviceMemory(const Api& api, const DeviceTable& table, Device device);
  ~DeviceMemory() override;

  Device device() const override { return device_; }
  void* allocate(std::size_t bytes) override;
  void release(void* data, std::size_t bytes) noexcept override;
  /// Waits for all work that was enqueued before. Throws DeviceError where some of it failed.
  void read(const void* data, void* host, std::size_t bytes) override;
  void write(void* data, const void* host, std::size_t bytes) override;
  MemoryStatistics statistics() const override;
  void trim(std::size_t keep) override;
  void reset_peak() override;

  /// The host's memory as a block: where it lies if the device shares the host's memory and `data` is aligned as it
  /// asks, else nothing.
  void* adopt(void* data, std::size_t bytes, std::function<void(void*)> deleter);

  const Api& api() const noexcept { return api_; }
  cl_context context() const noexcept { return context_.get(); }
  cl_command_queue queue() const noexcept { return queue_.get(); }
  using Extents = std::array<std::size_t, 3>;  // items along the axes
  /// Enqueues `function`, whose arguments are set, of `kernel`. With `nanoseconds`: runs it alone on a queue with a
  /// clock, to its end, and tells what the device took. Throws DeviceError for `kernel`.
  /// Returns the launch's number.
  std::uint64_t enqueue(cl_kernel cl, const std::string& kernel, const std::string& function, const Extents& global,
                        const Extents& local, std::uint64_t* nanoseconds = nullptr);
  /// Runs `work` with nothing at work on the device and no launch meanwhile. Throws DeviceError where what was enqueued
  /// before failed.
  void alone(const std::function<void()>& work);
  /// The kernel of that launch writes this block.
  void written(void* data, std::uint64_t launch);
  void flush();
  /// Is this a child of the process that opened the device? Drivers do not survive a fork: their threads are gone.
  bool forked() const noexcept;
  /// Throws DeviceError where it is.
  void check_process(const char* operation) const;
  /// Waits for everything. Throws DeviceError where something failed since the last time.
  void finish(const char* operation);

 private:
  const Api& api_;
  cl_device_id id_;
  Device device_;
  std::int64_t largest_;
  bool unified_;
  bool one_grid_;
  unsigned forks_;  // of this process and those before it, when the device was opened
  std::size_t alignment_;
  Context context_;
  Queue queue_;
  Queue timed_queue_;  // made when a launch is first timed: the other one pays nothing for it
  std::mutex launching_;
  std::map<std::string, Extents> grids_;  // of functions that may be under way
  mutable std::mutex guard_;              // of what follows
  std::multimap<std::size_t, std::unique_ptr<Block>> pool_;
  std::size_t pool_bytes_;
  MemoryStatistics counts_;
  Event last_;  // of the last kernel that was enqueued
  std::string last_name_;
  std::uint64_t launches_ = 0;
  std::uint64_t finished_ = 0;                                   // the last launch that is known to have ended well
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed_;  // ranges (after, to] of launches that did not
};

}  // namespace oriel::backend::opencl
