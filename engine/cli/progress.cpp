#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <utility>

namespace oriel::cli {

bool is_terminal(const std::ostream& err) { return &err == &std::cerr && isatty(STDERR_FILENO) != 0; }

std::string span_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9)));
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

Progress::Progress(std::ostream& err, bool shown, double after) : err_(err), after_(after) {
  if (!shown) return;
  teller_ = std::thread([this] {
    std::unique_lock lock(guard_);
    while (!over_) tell(lock);
    if (written_) err_ << "\r\x1b[K" << std::flush;
  });
}

Progress::~Progress() {
  if (!teller_.joinable()) return;
  {
    const std::lock_guard lock(guard_);
    over_ = true;
  }
  changed_.notify_all();
  teller_.join();
}

void Progress::phase(std::string what, double seconds) {
  {
    const std::lock_guard lock(guard_);
    what_ = std::move(what);
    expected_ = seconds;
    ++phases_;
  }
  changed_.notify_all();
}

void Progress::clear() {
  phase("");
  const std::lock_guard lock(guard_);
  if (std::exchange(written_, false)) err_ << "\r\x1b[K" << std::flush;
}

void Progress::tell(std::unique_lock<std::mutex>& lock) {
  using Clock = std::chrono::steady_clock;
  const std::size_t phase = phases_;
  const Clock::time_point start = Clock::now();
  const auto other = [&] { return over_ || phases_ != phase; };
  for (double wait = after_; !changed_.wait_for(lock, std::chrono::duration<double>(wait), other); wait = 0.2) {
    if (what_.empty()) continue;
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    std::string text = fmt::format("{}, {}", what_, span_text(spent));
    if (expected_ > spent) text += fmt::format(", about {} left", span_text(expected_ - spent));
    err_ << fmt::format("\r{}\x1b[K", text) << std::flush;
    written_ = true;
  }
}

}  // namespace oriel::cli
