// Builds sources: all new kernels of a schedule in one program. Keeps binaries on disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/items/memory.hpp"
#include "memory/disk_cache.hpp"
#include "source/items/render.hpp"

namespace oriel::backend::items {

using source::items::Rendered;
using source::items::RenderOptions;

/// How a program was made.
struct BuildNote {
  bool from_disk = false;
  double seconds = 0;
  std::size_t kernels = 0;
  std::string log = {};  // the compiler's output, also of a successful build
};

/// The built functions of a kernel. Kernels that differ only in sizes share them.
struct BuiltKernel {
  Object program;
  std::shared_ptr<const BuildNote> note;
  std::vector<Object> functions;
  std::mutex guard;  // only one thread at a time sets arguments and enqueues
};

/// Thread safety: any thread.
class ProgramStore {
 public:
  /// The arguments must outlive the object.
  ProgramStore(DeviceMemory& memory, const source::Dialect& dialect, mem::DiskCache& cache);
  ~ProgramStore() { stop(); }

  /// Returns the functions of each kernel. Those found neither in memory nor on disk are built together. Throws
  /// DeviceError with the build log.
  std::vector<std::shared_ptr<BuiltKernel>> build(std::span<const Rendered* const> kernels);
  /// Are there built programs that were not yet handed to export_new?
  bool has_new() const {
    const std::lock_guard lock(guard_);
    return !fresh_.empty();
  }
  /// Hands all programs built since the last call to a thread, which exports them to the disk cache. Call it after they
  /// have run.
  void export_new();
  /// Allows no more exports and waits for the current one.
  void stop();
  /// Waits until nothing is left to export, for tests.
  void wait_for_exports();
  /// Device, driver and options: the first part of every key on disk.
  const std::string& context() const noexcept { return context_; }
  /// The numbers of programs built from source, loaded from disk, and exported.
  struct Counts {
    std::uint64_t built = 0;
    std::uint64_t loaded = 0;
    std::uint64_t exported = 0;
  };
  Counts counts() const;

 private:
  std::string together(std::span<const Rendered* const> kernels) const;
  Object build_source(const std::string& source, const std::string& names, BuildNote& note);
  Object load(const std::string& key);
  std::shared_ptr<BuiltKernel> adopt(const Object& program, const Rendered& kernel,
                                     std::shared_ptr<const BuildNote> note);
  std::shared_ptr<BuiltKernel> find_on_disk(const Rendered& kernel, const std::string& key);
  void run_exports();

  /// A program that was built from source.
  struct FreshProgram {
    Object program;
    std::string source;
    std::vector<std::string> kernels;  // the kernels' keys on disk
  };
  DeviceMemory& memory_;
  Driver& driver_;
  const source::Dialect& dialect_;
  mem::DiskCache& cache_;
  const std::string context_;
  mutable std::mutex guard_;
  std::unordered_map<std::string, std::shared_ptr<BuiltKernel>> kernels_;  // by source
  std::unordered_map<std::string, std::weak_ptr<void>> loaded_;
  std::vector<FreshProgram> fresh_;  // built, not yet handed to the export thread
  Counts counts_;
  std::atomic<std::uint64_t> exported_{0};
  std::mutex export_guard_;  // guards the members below, which the thread of exports uses
  std::deque<FreshProgram> exports_;
  bool exporting_ = false;
  bool stop_ = false;
  std::condition_variable wake_;
  std::thread exporter_;
};

}  // namespace oriel::backend::items
