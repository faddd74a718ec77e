// Sources built: all new kernels of a schedule in one program, binaries kept on disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/opencl/device_table.hpp"
#include "backend/opencl/memory.hpp"
#include "memory/disk_cache.hpp"
#include "source/items/render.hpp"

namespace oriel::backend::opencl {

using source::items::Rendered;
using source::items::RenderOptions;

/// How a program came to be.
struct BuildNote {
  bool from_disk = false;
  double seconds = 0;
  std::size_t kernels = 0;
  std::string log;  // what the compiler said though it went well
};

/// A kernel's functions, built. Kernels that differ in sizes alone share them.
struct BuiltKernel {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const BuildNote> note;
  std::vector<KernelHandle> functions;
  std::mutex guard;  // arguments are set and enqueued by one thread at a time
};

/// Thread safety: any thread.
class ProgramStore {
 public:
  /// `memory` and `cache` must outlive it.
  ProgramStore(DeviceMemory& memory, const DeviceTable& table, mem::DiskCache& cache);
  ~ProgramStore();

  /// The functions of each, built together where neither memory nor the disk holds them. Throws DeviceError with the
  /// build log.
  std::vector<std::shared_ptr<BuiltKernel>> build(std::span<const Rendered* const> kernels);
  /// Was something built that was not handed to export_new?
  bool has_new() const;
  /// What was built since and has run is exported to the disk cache by a thread of its own.
  void export_new();
  /// No more exports; waits for the one at work.
  void stop();
  /// Waits until nothing is left to export, for tests.
  void wait_for_exports();
  void clear();
  const std::string& options() const noexcept { return options_; }
  /// Device, driver and options: what keys on disk begin with.
  const std::string& context() const noexcept { return context_; }
  /// Programs built from source, and loaded from the disk.
  struct Counts {
    std::uint64_t built = 0;
    std::uint64_t loaded = 0;
    std::uint64_t exported = 0;
  };
  Counts counts() const;

 private:
  struct Fresh {
    std::shared_ptr<const Program> program;
    std::string source;
    std::vector<std::string> kernels;  // their keys
  };
  std::shared_ptr<const Program> build_source(const std::string& source, const std::string& names, BuildNote& note);
  std::string build_log(cl_program program) const;
  std::shared_ptr<const Program> load(const std::string& key);
  std::shared_ptr<BuiltKernel> adopt(std::shared_ptr<const Program> program, const Rendered& kernel);
  std::shared_ptr<BuiltKernel> find_on_disk(const Rendered& kernel, const std::string& key);
  void export_one(const Fresh& fresh);
  void run_exports();

  DeviceMemory& memory_;
  const Api& api_;
  cl_device_id device_;
  mem::DiskCache& cache_;
  std::string options_;
  std::string context_;  // of keys on disk
  mutable std::mutex guard_;
  std::unordered_map<std::string, std::shared_ptr<BuiltKernel>> kernels_;  // by source
  std::unordered_map<std::string, std::weak_ptr<const Program>> loaded_;
  std::vector<Fresh> fresh_;  // built, not yet handed to the thread
  Counts counts_;
  std::deque<Fresh> exports_;
  bool exporting_ = false;
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread exporter_;
};

}  // namespace oriel::backend::opencl
