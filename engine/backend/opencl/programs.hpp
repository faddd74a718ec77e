// Builds OpenCL sources: all new kernels of a schedule in one program. Keeps binaries on disk.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/opencl/binary_exporter.hpp"
#include "backend/opencl/device_table.hpp"
#include "backend/opencl/memory.hpp"
#include "memory/disk_cache.hpp"
#include "source/items/render.hpp"

namespace oriel::backend::opencl {

using source::items::Rendered;
using source::items::RenderOptions;

/// How a program was made.
struct BuildNote {
  bool from_disk = false;
  double seconds = 0;
  std::size_t kernels = 0;
  std::string log;  // the compiler's output, also of a successful build
};

/// The built functions of a kernel. Kernels that differ only in sizes share them.
struct BuiltKernel {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const BuildNote> note;
  std::vector<KernelHandle> functions;
  std::mutex guard;  // only one thread at a time sets arguments and enqueues
};

/// Thread safety: any thread.
class ProgramStore {
 public:
  /// `memory` and `cache` must outlive the object.
  ProgramStore(DeviceMemory& memory, const DeviceTable& table, mem::DiskCache& cache);

  /// Returns the functions of each kernel. Those found neither in memory nor on disk are built together. Throws
  /// DeviceError with the build log.
  std::vector<std::shared_ptr<BuiltKernel>> build(std::span<const Rendered* const> kernels);
  /// Are there built programs that were not yet handed to export_new?
  bool has_new() const;
  /// Hands all programs built since the last call to a thread, which exports them to the disk cache. Call it after they
  /// have run.
  void export_new();
  /// Allows no more exports and waits for the current one.
  void stop() { exporter_.stop(); }
  /// Waits until nothing is left to export, for tests.
  void wait_for_exports() { exporter_.wait(); }
  void clear();
  const std::string& options() const noexcept { return options_; }
  /// Device, driver and options: the first part of every key on disk.
  const std::string& context() const noexcept { return context_; }
  /// The numbers of programs built from source, loaded from disk, and exported.
  struct Counts {
    std::uint64_t built = 0;
    std::uint64_t loaded = 0;
    std::uint64_t exported = 0;
    std::uint64_t undeclared = 0;  // built only with the driver's own declarations of built-in functions
  };
  Counts counts() const;

 private:
  std::shared_ptr<const Program> build_source(const std::string& source, const std::string& names, BuildNote& note);
  std::string build_log(cl_program program) const;
  std::shared_ptr<const Program> load(const std::string& key);
  std::shared_ptr<BuiltKernel> adopt(std::shared_ptr<const Program> program, const Rendered& kernel);
  std::shared_ptr<BuiltKernel> find_on_disk(const Rendered& kernel, const std::string& key);

  DeviceMemory& memory_;
  const Api& api_;
  cl_device_id device_;
  mem::DiskCache& cache_;
  std::string options_;
  bool declares_builtins_;  // are programs built with builtin_declarations? Small kernels take PoCL a third of the time
  std::string context_;     // the first part of keys on disk
  mutable std::mutex guard_;
  std::unordered_map<std::string, std::shared_ptr<BuiltKernel>> kernels_;  // by source
  std::unordered_map<std::string, std::weak_ptr<const Program>> loaded_;
  std::vector<FreshProgram> fresh_;  // built, not yet handed to the export thread
  Counts counts_;
  BinaryExporter exporter_;
};

}  // namespace oriel::backend::opencl
