#include "backend/items/queue.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>

#include "base/fork_lock.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::items {
namespace {

constexpr std::size_t kMostGrids = 1024;  // remembered functions; beyond this number all work is waited for
std::atomic<unsigned> process_forks{0};

}  // namespace

void ForkWatch::use() {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
  if (forks_at_first_use_ != kUnused) return;
  pthread_atfork(nullptr, nullptr, [] { ++process_forks; });
  forks_at_first_use_ = process_forks.load();
}

bool ForkWatch::lost() const noexcept {
  const unsigned first = forks_at_first_use_;
  return first != kUnused && first != process_forks;
}

std::string ForkWatch::message() const {
  return fmt::format(
      "{} was in use before this process was forked, which no driver survives; use it in one process, or start the "
      "other anew (exec)",
      library_);
}

void DeviceQueue::wait(const char* operation, bool timed) const {
  driver_.check(driver_.finish(timed), operation, "work on " + device_.str());
}

void DeviceQueue::check_process(const char* operation) const {
  if (driver_.forks().lost())
    throw DeviceError(operation, fmt::format("{}: {}", device_.str(), driver_.forks().message()));
}

std::uint64_t DeviceQueue::enqueue(const Object& function, const std::string& kernel, const std::string& name,
                                   const Extents& global, const Extents& local, std::uint64_t* nanoseconds) {
  check_process("launch");
  const bool timed = nanoseconds != nullptr;
  const std::lock_guard one(launching_);
  if (timed) {
    const int opened = driver_.open_timed_queue();
    if (opened != 0) driver_.check(opened, driver_.name(), "no timed queue on " + device_.str());
    wait("launch");
    grids_.clear();
  }
  if (driver_.table().one_grid) {
    const auto under_way = grids_.find(name);
    if ((under_way != grids_.end() && under_way->second != global) || grids_.size() >= kMostGrids) {
      wait("launch");
      grids_.clear();
    }
    grids_[name] = global;
  }
  Object event;
  const int status = driver_.launch(function, global, local, timed, event);
  if (status != 0) driver_.check(status, "launch", fmt::format("kernel {} on {}", kernel, device_.str()));
  if (timed) {
    wait("launch", true);
    *nanoseconds = driver_.nanoseconds(event);
    grids_.clear();
  }
  const std::lock_guard lock(guard_);
  last_ = std::move(event);
  last_kernel_ = kernel;
  return ++launches_;
}

void DeviceQueue::alone(const std::function<void()>& work) {
  const std::lock_guard one(launching_);
  wait("launch");
  grids_.clear();
  work();
}

void DeviceQueue::flush() {
  check_process("launch");
  driver_.check(driver_.flush(), "launch", "work on " + device_.str());
}

void DeviceQueue::finish(const char* operation) {
  check_process(operation);
  wait(operation);
  const std::lock_guard lock(guard_);
  if (!last_) return;
  int state = 0;
  const int status = driver_.outcome(last_, state);
  last_.reset();
  const std::uint64_t after = std::exchange(finished_, launches_);
  if (state < 0) failed_.emplace_back(after, launches_);
  driver_.check(status != 0 ? status : std::min(state, 0), operation,
                fmt::format("kernel {} on {}", last_kernel_, device_.str()));
}

bool DeviceQueue::failed(std::uint64_t launch) const {
  const std::lock_guard lock(guard_);
  return std::any_of(failed_.begin(), failed_.end(),
                     [&](const auto& range) { return launch > range.first && launch <= range.second; });
}

}  // namespace oriel::backend::items
