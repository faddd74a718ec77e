// Remembers on disk which way to distribute a kernel's points was fastest on a device.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>

#include "codegen/loop_program.hpp"
#include "memory/disk_cache.hpp"

namespace oriel::backend::items {

/// The value of ORIEL_TUNE: 0 (the default) or 1. Throws ArgumentError for anything else.
bool tuning_wanted();

/// Thread safety: any thread.
class Choices {
 public:
  /// `context` identifies device, driver and build options. `cache` must outlive the object. If `on` is false, nothing
  /// is found.
  Choices(mem::DiskCache& cache, std::string context, bool on) : cache_(cache), context_(std::move(context)), on_(on) {}

  bool on() const noexcept { return on_; }
  /// The remembered way for the program, which has `shapes` ways. Returns -1 if none was remembered or the entry is
  /// unusable.
  int find(const codegen::LoopProgram& program, int shapes);
  void remember(const codegen::LoopProgram& program, int shapes, int shape);
  /// The number of kernels whose ways this process timed.
  int timed() const noexcept { return timed_; }

 private:
  std::string key(const codegen::LoopProgram& program) const;

  mem::DiskCache& cache_;
  const std::string context_;
  const bool on_;
  std::mutex guard_;
  std::unordered_map<std::string, int> known_;  // by key
  std::atomic<int> timed_{0};
};

}  // namespace oriel::backend::items
