// A device's queue: launches, waiting for them, and which of them failed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/opencl/api.hpp"
#include "backend/opencl/device_table.hpp"
#include "oriel/device.hpp"

namespace oriel::backend::opencl {

using Extents = std::array<std::size_t, 3>;  // items along the axes

/// What became of the launches of a queue. Launches count from 1. Guarded by its owner.
class LaunchOutcomes {
 public:
  /// Records the next launch and returns its number.
  std::uint64_t add(Event event, const std::string& kernel);
  /// Looks at the launches since the last call, all of which have ended. Throws DeviceError if any of them failed.
  void look(const Api& api, const char* operation, Device device);
  bool failed(std::uint64_t launch) const;

 private:
  Event last_;  // of the last enqueued kernel
  std::string last_name_;
  std::uint64_t launches_ = 0;
  std::uint64_t finished_ = 0;                                   // the last launch known to have succeeded
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed_;  // ranges (after, to] of launches that failed
};

/// Context and in-order queue of one device. Thread safety: any thread.
class DeviceQueue {
 public:
  /// Throws DeviceError if the device cannot be opened.
  DeviceQueue(const Api& api, const DeviceTable& table, Device device);

  cl_context context() const noexcept { return context_.get(); }
  cl_command_queue handle() const noexcept { return queue_.get(); }
  /// Enqueues `function` of `kernel`, whose arguments are set, and returns the number of the launch. If `nanoseconds`
  /// is given, the function runs alone on a profiling queue, the call waits for it, and `nanoseconds` receives its
  /// time. Throws a DeviceError that names `kernel`.
  std::uint64_t enqueue(cl_kernel cl, const std::string& kernel, const std::string& function, const Extents& global,
                        const Extents& local, std::uint64_t* nanoseconds = nullptr);
  /// Runs `work` while the device is idle and no other thread launches. Throws DeviceError if earlier work failed.
  void alone(const std::function<void()>& work);
  void flush();
  /// Throws DeviceError in a forked child of a process that used a driver.
  void check_process(const char* operation) const;
  /// Waits for all work. Throws DeviceError if any of it failed since the last call.
  void finish(const char* operation);
  /// Waits for all work, whatever becomes of it.
  void drain() noexcept;
  /// Is the launch among those that failed? Work that was not waited for counts as successful.
  bool failed(std::uint64_t launch) const;

 private:
  void wait(const char* operation) const;

  const Api& api_;
  cl_device_id id_;
  Device device_;
  bool one_grid_;
  Context context_;
  Queue queue_;
  Queue timed_queue_;  // made when a launch is first timed, so that the other queue needs no profiling
  std::mutex launching_;
  std::map<std::string, Extents> grids_;  // the grids of functions that may still run
  mutable std::mutex guard_;              // guards the outcomes
  LaunchOutcomes outcomes_;
};

}  // namespace oriel::backend::opencl
