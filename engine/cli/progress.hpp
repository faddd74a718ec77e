// The line of a terminal that says what a command is doing.
#pragma once

#include <condition_variable>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace oriel::cli {

/// Is there somebody who looks? True if `err` is the standard error stream and that is a terminal.
bool is_terminal(const std::ostream& err);

/// "3 s", "2 min 5 s"
std::string span_text(double seconds);

/// Says what is done and for how long, from half a second on, in a line that overwrites itself. Nothing unless `shown`.
class Progress {
 public:
  /// `after`: seconds before a phase is told.
  Progress(std::ostream& err, bool shown, double after = 0.5);
  Progress(const Progress&) = delete;
  /// Clears the line.
  ~Progress();
  /// What comes next: "running 12 kernels". `seconds`: what it will take; 0: nobody knows.
  void phase(std::string what, double seconds = 0);
  /// Erases the line until the next phase, so that something else can be written.
  void clear();
  bool shown() const noexcept { return teller_.joinable(); }

 private:
  void tell(std::unique_lock<std::mutex>& lock);

  std::ostream& err_;
  const double after_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::string what_;
  double expected_ = 0;
  std::size_t phases_ = 0;
  bool over_ = false;
  bool written_ = false;
  std::thread teller_;  // the last member, since it uses the others
};

}  // namespace oriel::cli
