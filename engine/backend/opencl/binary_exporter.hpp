// Writes the binaries of built programs to the disk cache, in a thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/opencl/queue.hpp"
#include "memory/disk_cache.hpp"

namespace oriel::backend::opencl {

/// A program that was built from source.
struct FreshProgram {
  std::shared_ptr<const Program> program;
  std::string source;
  std::vector<std::string> kernels;  // the kernels' keys on disk
};

/// Thread safety: any thread.
class BinaryExporter {
 public:
  /// `context` is the first part of keys on disk. All arguments must outlive the object.
  BinaryExporter(const Api& api, DeviceQueue& queue, mem::DiskCache& cache, const std::string& context)
      : api_(api), queue_(queue), cache_(cache), context_(context) {}
  ~BinaryExporter() { stop(); }

  /// Hands over programs that have run.
  void add(std::vector<FreshProgram> programs);
  /// Allows no more exports and waits for the current one.
  void stop();
  /// Waits until nothing is left to export, for tests.
  void wait();
  std::uint64_t exported() const;

 private:
  void run();
  void write(const FreshProgram& fresh);

  const Api& api_;
  DeviceQueue& queue_;
  mem::DiskCache& cache_;
  const std::string& context_;
  mutable std::mutex guard_;
  std::deque<FreshProgram> exports_;
  std::uint64_t exported_ = 0;
  bool exporting_ = false;
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread exporter_;
};

}  // namespace oriel::backend::opencl
