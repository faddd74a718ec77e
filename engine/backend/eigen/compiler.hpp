// The system's C++ compiler: found, tried once, and asked to build units of rendered kernels.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

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
  /// builds a small unit that loads and runs. Each run may take `seconds`; 0: as long as it takes.
  Compiler(const std::vector<std::string>& candidates, double seconds);
  /// ORIEL_CXX, or else c++, g++, clang++; tried at the first call, and anew in a forked child. ORIEL_COMPILE_SECONDS
  /// bounds each run.
  static Compiler& system();

  bool usable() const noexcept { return !path_.empty(); }
  /// What was found, in a line; or why nothing will do.
  const std::string& description() const noexcept { return description_; }
  /// Path, size, time of change and version: what a library in the cache depends on. Read anew from the disk, so that a
  /// compiler that was replaced is another one.
  std::string identity() const;
  /// Flags for a level of instruction sets ("avx2").
  std::vector<std::string> flags(const std::string& level) const;

  /// Why the small unit of the trial is not built, loaded or right by now; empty where it is.
  std::string trial() const;

  /// Builds a unit into a library. Leaves nothing behind. `niceness` and `cancel` as in base/subprocess.hpp.
  Built build(const std::string& source, const std::string& level, int niceness = 0,
              const std::atomic<bool>* cancel = nullptr) const;

 private:
  std::string try_out(const std::string& path);

  double seconds_;
  std::string path_;
  std::string version_;
  std::string description_;
};

}  // namespace oriel::backend::eigen
