// Starts other programs, without a shell, or runs them to their end with limits on time and output.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace oriel::base {

struct SubprocessOptions {
  double seconds = 60;                 ///< wall-clock limit, after which the program and its process group are killed
  double cpu_seconds = 0;              ///< CPU limit of each of its processes; 0: the same as `seconds`
  std::size_t most_output = 64 << 10;  ///< bytes of output to keep; the rest is read and dropped
  int niceness = 0;                    ///< minimum niceness of the program, if > 0
  const std::atomic<bool>* cancel = nullptr;  ///< if this becomes true, the program is killed soon after
  std::vector<std::string> variables = {};    ///< "NAME=value", put into its environment
};

struct SubprocessResult {
  int status = -1;      // exit status; -1 if there is none
  std::string output;   // standard output and error, interleaved
  std::string trouble;  // why there is no exit status, or empty
  bool cancelled = false;
  double cpu_seconds = 0;  // of the program and the children it waited for; 0 if unknown
  bool ok() const noexcept { return trouble.empty() && status == 0; }
};

/// The descriptors of a program's streams; in = -1: nothing to read.
struct SubprocessStreams {
  int in, out, err;
};

/// Starts arguments[0], which is sought in PATH if it holds no slash. With streams it has a process group of its own,
/// no signal blocked or ignored, and no other descriptors; without, it has this process's. `variables`: "NAME=value",
/// put into its environment. Returns 0 and its id, or the system's error.
int start_program(pid_t& pid, std::span<const std::string> arguments, std::span<const std::string> variables,
                  const std::optional<SubprocessStreams>& streams);

/// Runs arguments[0], a path, without standard input and in a process group of its own. When this returns, the program
/// has ended and was waited for, and all processes left in its group were killed. Never throws because of what a
/// program does. Thread safety: any thread.
SubprocessResult run_program(std::span<const std::string> arguments, const SubprocessOptions& options);

/// Runs a program, which is sought in PATH, with this process's streams, signals and group, as a shell does: its status
/// is 128 + the signal that ended it. `variables`: "NAME=value", put into its environment.
SubprocessResult run_in_place(std::span<const std::string> arguments, std::span<const std::string> variables);

/// Call this when the process ends: kills running programs soon after, and prevents new ones from starting.
void cancel_programs() noexcept;

}  // namespace oriel::base
