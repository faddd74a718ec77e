// Exchanges lines with another program.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace oriel::fuzz {

/// A command run by `/bin/sh -c`, with its standard input and output connected to this object; standard error is
/// inherited. It starts with the first exchange and ends with this object.
class Process {
 public:
  explicit Process(std::string command) : command_(std::move(command)) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  struct Exchange {
    std::vector<std::string> answers;  // in order; fewer than lines if something went wrong
    std::string trouble;               // what went wrong, or empty
  };
  /// Sends all lines (without newlines) and reads one answer for each. Reads and writes concurrently, so that full
  /// pipes cannot block both sides. If something goes wrong, or for so many seconds no answer is complete and no line
  /// is taken, the process is killed, and the next exchange starts it again. Throws IoError if the process cannot be
  /// started.
  Exchange exchange(std::span<const std::string> lines, double seconds_without_answer);

 private:
  void start();
  /// Waits so many seconds for the process to end, then kills it. Returns how it ended.
  std::string stop(double patience = 0);

  std::string command_;
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string unread_;
};

}  // namespace oriel::fuzz
