// A device's buffers. They are pooled. If the device shares the host's memory, the host's memory is used in place.
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
  std::size_t bytes = 0;               // size of the device's buffer
  std::function<void(void*)> deleter;  // releases host memory that is used in place
  void* host = nullptr;
  std::uint64_t launch = 0;  // the last launch that writes it; 0: no launch since the host wrote it
};

/// Context, in-order queue and pool of one device. A released block can be reused at once, because the queue finishes
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
  cl_context context() const noexcept { return context_.get(); }
  cl_command_queue queue() const noexcept { return queue_.get(); }
  using Extents = std::array<std::size_t, 3>;  // items along the axes
  /// Enqueues `function` of `kernel`, whose arguments are set, and returns the number of the launch. If `nanoseconds`
  /// is given, the function runs alone on a profiling queue, the call waits for it, and `nanoseconds` receives its
  /// time. Throws a DeviceError that names `kernel`.
  std::uint64_t enqueue(cl_kernel cl, const std::string& kernel, const std::string& function, const Extents& global,
                        const Extents& local, std::uint64_t* nanoseconds = nullptr);
  /// Runs `work` while the device is idle and no other thread launches. Throws DeviceError if earlier work failed.
  void alone(const std::function<void()>& work);
  /// Records that the kernel of this launch writes the block.
  void written(void* data, std::uint64_t launch);
  void flush();
  /// Is this a child of the process that opened the device? Drivers do not survive a fork: their threads are gone.
  bool forked() const noexcept;
  /// Throws DeviceError in a forked child.
  void check_process(const char* operation) const;
  /// Waits for all work. Throws DeviceError if any of it failed since the last call.
  void finish(const char* operation);

 private:
  const Api& api_;
  cl_device_id id_;
  Device device_;
  std::int64_t largest_;
  bool unified_;
  bool one_grid_;
  unsigned forks_;  // forks of this process and its ancestors when the device was opened
  std::size_t alignment_;
  Context context_;
  Queue queue_;
  Queue timed_queue_;  // made when a launch is first timed, so that the other queue needs no profiling
  std::mutex launching_;
  std::map<std::string, Extents> grids_;  // the grids of functions that may still run
  mutable std::mutex guard_;              // guards the members below
  std::multimap<std::size_t, std::unique_ptr<Block>> pool_;
  std::size_t pool_bytes_;
  MemoryStatistics counts_;
  Event last_;  // of the last enqueued kernel
  std::string last_name_;
  std::uint64_t launches_ = 0;
  std::uint64_t finished_ = 0;                                   // the last launch known to have succeeded
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed_;  // ranges (after, to] of launches that failed
};

}  // namespace oriel::backend::opencl
