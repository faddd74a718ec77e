// The system's C++ compiler: found, tried once, and asked to build units of rendered kernels.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory/disk_cache.hpp"

namespace oriel::backend::eigen {

/// A library that is loaded, until the last holder lets go. Its file is gone already.
class LoadedUnit {
 public:
  explicit LoadedUnit(void* handle) : handle_(handle) {}
  LoadedUnit(const LoadedUnit&) = delete;
  ~LoadedUnit();
  /// Null where there is none of that name.
  void* symbol(const std::string& name) const;

 private:
  void* handle_;
};

/// Loads a library from its bytes. Null, and why in `trouble`, where the system will not.
std::shared_ptr<const LoadedUnit> load_unit(const std::string& library, std::string& trouble);

struct Built {
  std::string library;     // the bytes; empty where it failed
  std::string trouble;     // with what the compiler said, shortened
  bool refused = false;    // it failed because the compiler ended by itself and said no
  double seconds = 0;      // by the clock
  double cpu_seconds = 0;  // of the compiler
};

/// Thread safety: any thread.
class Compiler {
 public:
  /// Tries `candidates` in turn: names that PATH is searched for, or paths. One will do if it says its version, and
  /// builds a small unit that loads and runs. Each run may take `seconds`; 0: as long as it takes. With `records`, one
  /// that has passed before, and whose file is unchanged, is taken as it is; if none is known nothing runs yet, but
  /// when somebody asks for `usable` or `description`. (Behind a script that starts another compiler a change of that
  /// one goes unnoticed: `records` is the disk cache, which can be emptied.)
  Compiler(std::vector<std::string> candidates, double seconds, mem::DiskCache* records = nullptr);
  /// ORIEL_CXX, or else c++, g++, clang++, with the shared disk cache; another one in a forked child.
  /// ORIEL_COMPILE_SECONDS bounds each run.
  static Compiler& system();

  /// Is it settled, without running anything, that there is a compiler?
  bool known() const noexcept { return settled_.load(std::memory_order_acquire) && !path_.empty(); }
  bool usable() const;
  /// What was found, in a line; or why nothing will do.
  const std::string& description() const;
  /// Path, size, time of change and version of a known compiler: what a library in the cache depends on. Read anew from
  /// the disk, so that a compiler that was replaced is another one.
  std::string identity() const;
  /// Flags for a level of instruction sets ("avx2").
  std::vector<std::string> flags(const std::string& level) const;

  /// Why the small unit of the trial is not built, loaded or right by now; empty where it is.
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
  mutable std::atomic<bool> settled_{false};  // then the rest does not change
  mutable std::string path_;
  mutable std::string version_;
  mutable std::string description_;
};

}  // namespace oriel::backend::eigen
