// Contexts: devices, caches and settings of their own, for parts of a program that must not get in each other's way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/device.hpp"
#include "oriel/memory.hpp"
#include "oriel/print_options.hpp"
#include "oriel/settings.hpp"

namespace ORIEL_API oriel {

/// What a new context is given. What is left out is read from the environment: the devices' threads and memory when
/// they are first used, the rest when the context is made.
struct ContextOptions {
  /// Where new tensors live: ORIEL_DEVICE, else eigen.
  std::optional<Device> device = std::nullopt;
  /// Threads of the CPU device, 1 to 1024: ORIEL_THREADS, else as many as the machine has.
  std::optional<int> threads = std::nullopt;
  /// ORIEL_LAZY_NODES, ORIEL_LAZY_BYTES.
  std::optional<LazyLimits> lazy_limits = std::nullopt;
  /// ORIEL_BOUNDS.
  std::optional<Bounds> bounds = std::nullopt;
  /// ORIEL_EIGEN.
  std::optional<EigenTier> tier = std::nullopt;
  /// ORIEL_POOL_BYTES, ORIEL_POOL_SECONDS, ORIEL_HUGE_PAGES.
  std::optional<MemoryOptions> memory = std::nullopt;
  /// Levels of the debug lines, in the syntax of set_debug (debug.hpp): ORIEL_DEBUG. Categories that are not named are
  /// off; "" switches all off.
  std::optional<std::string> debug = std::nullopt;
  /// Directory for dumps, as set_dump_directory takes it: ORIEL_DUMP. "": no dumps.
  std::optional<std::string> dump_directory = std::nullopt;
  /// Does each dumped kernel's file contain the helpers that it calls? ORIEL_DUMP_WHOLE.
  std::optional<bool> dump_whole_files = std::nullopt;
  /// Record a profile (profile.hpp) from the start: ORIEL_PROFILE. If true, launches that were not taken are written to
  /// the debug sink when the context ends.
  std::optional<bool> profile = std::nullopt;
  /// Names of rewrite rules to switch off, as explain() prints them, or "all": ORIEL_RULES_OFF. Empty: all rules are
  /// on.
  std::optional<std::vector<std::string>> rules_off = std::nullopt;
  /// How tensors are printed (print.hpp). No variable sets it.
  std::optional<PrintOptions> print = std::nullopt;
};

/// Devices with threads and memory pools of their own, the schedules and kernels that were made for them, and settings.
///
/// Programs need none: all functions work in a default context, in which any number of threads may compute at the same
/// time. Another context is for a part of a program that wants limits, threads or a device of its own: a server's
/// request, a rank, a library beside its host.
///
/// A tensor belongs to the context in which it was made, and what is computed from it belongs there too. Operands of
/// two contexts in one operation are a DeviceError; `x.to(other.device())` copies x across, pending like all other
/// work. (Numbers, and pending tensors of one number or of positions such as ones() and iota(), go where they are read,
/// as they do between devices.)
///
///   oriel::Context context({.threads = 1, .lazy_limits = oriel::LazyLimits{.nodes = 100}});
///   const oriel::ContextScope scope(context);       // this thread makes its tensors there
///   auto y = oriel::matmul(a.to(context.device()), oriel::ones({4, 4}));
///   y.to(oriel::Context::standard().device());      // and back
///
/// Work belongs to the context of its first root: the context's settings say which rules rewrite it, and whether debug
/// lines, dumps and a profile report it, whichever thread runs it. Printing uses the options of the thread's current
/// context.
///
/// The sink of debug lines is the process's: a line from a context other than the default one says which. The
/// instruction set, the compiler and the cache on disk are the machine's, and are shared safely.
///
/// Thread safety: any thread may work in any context, and several may at the same time.
class Context {
 public:
  /// Throws as the settings' own functions do, for options and for the environment: ArgumentError or ParseError for a
  /// setting that has no meaning, IoError for a dump directory that cannot be written, DeviceError for a device that is
  /// not available, or if the process has made 65535 contexts already.
  explicit Context(const ContextOptions& options = {});
  /// Waits for work that other threads have under way, and ends the context's threads. Its tensors that are in memory
  /// can still be read; what would run work in it is a DeviceError. No thread may have it as its current context.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The default context, which all threads start in and which never ends.
  static const Context& standard();

  /// 0 for the default context; of the others each has its own, from 1 on.
  int number() const noexcept { return number_; }
  /// The device that its new tensors use.
  Device device() const;
  /// A device by that name in this context.
  ///   context.device(oriel::Device::opencl(1));
  Device device(Device name) const noexcept;

 private:
  struct Standard {};
  explicit Context(Standard) noexcept : number_(0) {}
  std::uint16_t number_;
};

/// While it lives, this thread's current context is another one: tensors are made there, and settings read and set.
/// Scopes end in the opposite order to that in which they began, in the thread that made them.
class ContextScope {
 public:
  /// Makes `context` this thread's current one. It must live as long.
  explicit ContextScope(const Context& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  std::uint16_t before_;
};

/// The number of this thread's current context.
int current_context() noexcept;

}  // namespace oriel
