// A device's queue: launches, waiting for them, and which of them failed.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "backend/items/driver.hpp"
#include "oriel/device.hpp"

namespace oriel::backend::items {

/// Thread safety: any thread.
class DeviceQueue {
 public:
  /// `driver` must outlive the object.
  DeviceQueue(Driver& driver, Device device) : driver_(driver), device_(device) {}

  /// Enqueues `function`, which is the function `name` of `kernel` and whose arguments are set, and returns the number
  /// of the launch. If `nanoseconds` is given, the function runs alone on a timed queue, the call waits for it, and
  /// `nanoseconds` receives its time. Throws a DeviceError that names `kernel`.
  std::uint64_t enqueue(const Object& function, const std::string& kernel, const std::string& name,
                        const Extents& global, const Extents& local, std::uint64_t* nanoseconds);
  /// Runs `work` while the device is idle and no other thread launches. Throws DeviceError if earlier work failed.
  void alone(const std::function<void()>& work);
  void flush();
  /// Throws DeviceError in a forked child of a process that used the driver.
  void check_process(const char* operation) const;
  /// Waits for all work. Throws DeviceError if any of it failed since the last call.
  void finish(const char* operation);
  /// Waits for all work, whatever becomes of it.
  void drain() noexcept { driver_.finish(); }
  /// Is the launch among those that failed? Launches count from 1. Work that was not waited for counts as successful.
  bool failed(std::uint64_t launch) const;

 private:
  void wait(const char* operation, bool timed = false) const;

  Driver& driver_;
  const Device device_;
  std::mutex launching_;
  std::map<std::string, Extents> grids_;  // the grids of functions that may still run
  mutable std::mutex guard_;              // guards the members below
  Object last_;                           // the event of the last enqueued kernel
  std::string last_kernel_;
  std::uint64_t launches_ = 0;
  std::uint64_t finished_ = 0;                                   // the last launch known to have succeeded
  std::vector<std::pair<std::uint64_t, std::uint64_t>> failed_;  // ranges (after, to] of launches that failed
};

}  // namespace oriel::backend::items
