// Which of several ways to deal out a kernel's points was fastest on this device: remembered on disk.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "codegen/loop_program.hpp"
#include "memory/disk_cache.hpp"

namespace oriel::backend::opencl {

/// What ORIEL_TUNE says: 0 (the default) or 1. Throws ArgumentError for anything else.
bool tuning_wanted();

/// Thread safety: any thread.
class Choices {
 public:
  /// `context`: device, driver, build options. `cache` must outlive it. Switched off it knows nothing.
  Choices(mem::DiskCache& cache, std::string context, bool on) : cache_(cache), context_(std::move(context)), on_(on) {}

  bool on() const noexcept { return on_; }
  /// The way that was remembered for the program, of `shapes`; -1 where none was, or what was is of no use.
  int find(const codegen::LoopProgram& program, int shapes);
  void remember(const codegen::LoopProgram& program, int shapes, int shape);
  /// Kernels whose ways were timed by this process.
  int timed() const;

 private:
  std::string key(const codegen::LoopProgram& program) const;

  mem::DiskCache& cache_;
  const std::string context_;
  const bool on_;
  mutable std::mutex guard_;
  std::unordered_map<std::string, int> known_;  // by key
  int timed_ = 0;
};

}  // namespace oriel::backend::opencl
