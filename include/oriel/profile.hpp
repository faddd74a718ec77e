// A profile of running kernels: each launch with its time, bytes and operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// One launch of a kernel.
struct ProfiledLaunch {
  std::string kernel;      ///< its name
  double seconds = 0;      ///< wall time from launch to finish
  std::int64_t bytes = 0;  ///< distinct bytes read and written
  std::int64_t flops = 0;  ///< elementwise and reduction operations
};

/// All launches of one kernel name together.
struct KernelProfile {
  std::string kernel;         ///< its name
  std::int64_t launches = 0;  ///< how many there were
  double seconds = 0;         ///< of all launches together
  double fastest = 0;         ///< seconds of the shortest launch
  std::int64_t bytes = 0;     ///< distinct bytes read and written, of all launches
  std::int64_t flops = 0;     ///< operations of all launches
  std::string site;           ///< the lines that built what it stores: "a.cpp:3,a.cpp:5"; of many the first four, and
                              ///< dots
  std::int64_t repeated = 0;  ///< launches that computed what an earlier one had computed from the same operands:
                              ///< of values that the program makes anew, or that were too large to keep
  /// 10^9 bytes, or operations, per second; 0 if no time passed.
  /// @{
  double gigabytes_per_second() const { return seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0; }
  double gigaflops() const { return seconds > 0 ? static_cast<double>(flops) / seconds * 1e-9 : 0; }
  /// @}
};

/// The launches that were recorded, and totals per kernel.
struct Profile {
  static constexpr std::size_t kMostLaunches = 65536;  ///< launches that are kept one by one

  std::vector<ProfiledLaunch> launches;  ///< in the order in which they ran; the first kMostLaunches
  std::int64_t launches_left_out = 0;    ///< the number of further launches; `kernels` counts them
  std::vector<KernelProfile> kernels;    ///< in descending order of time

  /// Totals over all kernels.
  /// @{
  double seconds() const;
  std::int64_t bytes() const;
  std::int64_t flops() const;
  /// @}
  /// A table with one line per kernel.
  std::string str() const;
};

/// The profile of the thread's current context (context.hpp): launches of work that belongs to it, by any thread. While
/// recording is on, the engine waits for each launch to finish, so that its time is its own. Thread safety: any thread.
namespace profile {

/// Starts recording. What was recorded before is kept.
void start();
/// Stops recording. What was recorded is kept until take().
void stop();
/// True if recording is on. Before the first start or stop, ORIEL_PROFILE=1 turns it on; the launches that were not
/// taken are then written to the debug sink (debug.hpp) when the process or the context ends. Throws ParseError if
/// ORIEL_PROFILE is neither 0 nor 1, as does the first realize.
bool recording();
/// Returns the launches recorded since the last take() and clears the record.
Profile take();

}  // namespace profile

/// Records during its lifetime, in the context that was current when it was made. The constructor clears what was
/// recorded before.
///   oriel::ProfileScope scope;  y.realize();  std::puts(scope.take().str().c_str());
class ProfileScope {
 public:
  ProfileScope();
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  /// As profile::take(), of the scope's context. Throws DeviceError if the context has ended.
  Profile take();

 private:
  std::uint16_t context_;
  bool was_recording_;
};

}  // namespace oriel
