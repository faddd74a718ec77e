// The system's C++ compiler: found, tried once, and asked to build units of rendered kernels.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/disk_cache.hpp"

namespace oriel::backend::eigen {

/// A loaded library. It is unloaded with its last holder. Its file has already been removed.
class LoadedUnit {
 public:
  explicit LoadedUnit(void* handle) : handle_(handle) {}
  LoadedUnit(const LoadedUnit&) = delete;
  ~LoadedUnit();
  /// Null if the library has no function of that name.
  void* symbol(const std::string& name) const;

 private:
  void* handle_;
};

/// Loads a library from its bytes. Null if the system refuses it, with the reason in `trouble`.
std::shared_ptr<const LoadedUnit> load_unit(const std::string& library, std::string& trouble);

struct Built {
  std::string library;     // the bytes; empty if the build failed
  std::string trouble;     // why it failed, with the shortened output of the compiler
  bool refused = false;    // the compiler itself ended with an error
  double seconds = 0;      // by the clock
  double cpu_seconds = 0;  // of the compiler
};

/// Thread safety: any thread.
class Compiler {
 public:
  /// Tries `candidates`, paths or names to search in PATH, in turn. A candidate passes if it prints its version and
  /// builds a small unit that loads and runs. Each run may take `seconds`; 0 sets no limit. With `records`, a candidate
  /// that passed before and whose file is unchanged is accepted without a trial. If `records` knows none, the trial
  /// waits until somebody calls `usable` or `description`. (If the candidate is a script that starts another compiler,
  /// a change of that compiler is not noticed. `records` is the disk cache, which can be emptied.)
  Compiler(std::vector<std::string> candidates, double seconds, mem::DiskCache* records = nullptr);
  /// The compiler ORIEL_CXX, or else c++, g++ or clang++, with the shared disk cache. A forked child has its own
  /// object. ORIEL_COMPILE_SECONDS bounds each run.
  static Compiler& system();

  /// Is a compiler known without running anything?
  bool known() const noexcept { return settled_.load(std::memory_order_acquire) && !path_.empty(); }
  bool usable() const;
  /// The compiler that was found, or why there is none, in one line.
  const std::string& description() const;
  /// Path, size, time of change and version of a known compiler. A library in the cache depends on them. They are read
  /// from the disk at each call, so a replaced compiler is a different one.
  std::string identity() const;
  /// Flags for a level of instruction sets ("avx2").
  std::vector<std::string> flags(const std::string& level) const;

  /// Repeats the trial. Returns why the small unit is not built, not loaded or wrong; empty if it passes.
  std::string trial() const;

  /// Builds a unit into a library. Leaves nothing behind. `niceness` and `cancel` as in base/subprocess.hpp.
  Built build(const std::string& source, const std::string& level, int niceness = 0,
              const std::atomic<bool>* cancel = nullptr) const;

 private:
  void settle() const;
  void take(const std::string& path, const std::string& version) const;
  std::string try_out(const std::string& path) const;

  std::vector<std::string> candidates_;
  double seconds_;
  mem::DiskCache* records_;
  mutable std::mutex settling_;
  mutable std::atomic<bool> settled_{false};  // once true, the other members do not change
  mutable std::string path_;
  mutable std::string version_;
  mutable std::string description_;
};

/// The compiler and the disk cache in one line. Null: those of the system.
std::string describe_compiler(const Compiler* compiler, const mem::DiskCache* cache);

}  // namespace oriel::backend::eigen
