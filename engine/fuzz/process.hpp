// Another program, spoken to line by line.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace oriel::fuzz {

/// A command that `/bin/sh -c` runs, with its standard input and output here and its error stream left alone. It runs
/// from the first exchange on and ends with this object.
class Process {
 public:
  explicit Process(std::string command) : command_(std::move(command)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  struct Exchange {
    std::vector<std::string> answers;  // in order; fewer than there were lines where something went wrong
    std::string trouble;               // what went wrong, or empty
  };
  /// Sends all lines (none has a newline) and reads one answer each. Reading and writing go on together, so that no
  /// pipe can fill up on both sides. After trouble the process is ended; the next exchange starts it again. Throws
  /// IoError where no process can be started.
  Exchange exchange(std::span<const std::string> lines, double seconds_without_answer);

 private:
  void start();
  /// Ends the process and returns how it ended.
  std::string stop(bool kill);

  std::string command_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string unread_;
};

}  // namespace oriel::fuzz
