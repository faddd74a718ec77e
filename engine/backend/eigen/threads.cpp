#include "backend/eigen/threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include <unsupported/Eigen/CXX11/ThreadPool>

namespace oriel::backend::eigen {

struct Threads::Pool {
  std::mutex guard;
  std::unique_ptr<Eigen::ThreadPool> workers;
  pid_t process = 0;
};

Threads::Threads(int count) : count_(std::max(1, count)), pool_(std::make_unique<Pool>()) {}
Threads::~Threads() = default;

Threads::Pool& Threads::pool() {
  const std::lock_guard lock(pool_->guard);
  if (pool_->process != getpid()) {
    // A forked child has its parent's pool without the threads, and nobody to end it: it is left as it is.
    static_cast<void>(pool_->workers.release());
    pool_->workers = std::make_unique<Eigen::ThreadPool>(count_ - 1);
    pool_->process = getpid();
  }
  return *pool_;
}

void Threads::run(std::int64_t tasks, const std::function<void(std::int64_t)>& task) {
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  const auto work = [&] {
    for (std::int64_t i = next++; i < tasks; i = next++) {
      try {
        task(i);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
        next = tasks;
      }
    }
  };
  const auto helpers = static_cast<unsigned>(std::clamp<std::int64_t>(tasks - 1, 0, count_ - 1));
  if (helpers == 0) {
    work();
  } else {
    Eigen::ThreadPool& workers = *pool().workers;
    Eigen::Barrier done(helpers);
    for (unsigned h = 0; h < helpers; ++h) {
      workers.Schedule([&] {
        work();
        done.Notify();
      });
    }
    work();
    done.Wait();
  }
  if (failed) std::rethrow_exception(error);
}

}  // namespace oriel::backend::eigen
