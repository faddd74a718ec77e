// Another program, run to its end: no shell, bounded in time and in what it may say.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace oriel::base {

struct SubprocessOptions {
  double seconds = 60;                        ///< wall clock, after which the program and what it started is killed
  double cpu_seconds = 0;                     ///< of each process of it; 0: as many as of the clock
  std::size_t most_output = 64 << 10;         ///< bytes kept of what it says; the rest is read and dropped
  int niceness = 0;                           ///< of the program, at least, where it is more than 0
  const std::atomic<bool>* cancel = nullptr;  ///< killed soon after this becomes true
  std::vector<std::string> variables = {};    ///< "NAME=value", put into its environment
};

struct SubprocessResult {
  int status = -1;      // exit status; -1 where there is none
  std::string output;   // standard output and error, as they came
  std::string trouble;  // why there is no exit status, or empty
  bool cancelled = false;
  double cpu_seconds = 0;  // of the program and those that it waited for; 0 where that is not known
  bool ok() const noexcept { return trouble.empty() && status == 0; }
};

/// Runs arguments[0], a path, with no standard input and in a process group of its own. When this returns, the program
/// has ended, was waited for, and so was killed what it had left in its group. Never throws for what a program does.
/// Thread safety: any thread.
SubprocessResult run_program(std::span<const std::string> arguments, const SubprocessOptions& options);

/// For the end of the process: programs that run are killed soon, and none is started any more.
void cancel_programs() noexcept;

}  // namespace oriel::base
