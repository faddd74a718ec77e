#include "backend/eigen/threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <unsupported/Eigen/CXX11/ThreadPool>

namespace oriel::backend::eigen {

namespace {

/// A thread that runs, and waits for what it is to do.
class ReadyThread {
 public:
  ReadyThread() : thread_([given = work_.get_future()]() mutable { run(given); }) {}
  ReadyThread(const ReadyThread&) = delete;
  ~ReadyThread() {
    if (!begun_) work_.set_value({});
    thread_.join();
  }
  void begin(std::function<void()> work) {
    begun_ = true;
    work_.set_value(std::move(work));
  }
  void OnCancel() {}  // Eigen's name

 private:
  static void run(std::future<std::function<void()>>& given) {
    if (const std::function<void()> work = given.get()) work();
  }
  std::promise<std::function<void()>> work_;
  bool begun_ = false;
  std::thread thread_;
};

using ReadyThreads = std::vector<std::unique_ptr<ReadyThread>>;

/// As many as the system gives of those wanted. Where it refuses one, half go back: what it has left over is needed for
/// memory, and by others.
ReadyThreads ready_threads(int wanted) {
  ReadyThreads ready;
  try {
    ready.reserve(static_cast<std::size_t>(wanted));
    while (static_cast<int>(ready.size()) < wanted) ready.push_back(std::make_unique<ReadyThread>());
  } catch (const std::exception&) {
    ready.resize(ready.size() / 2);
  }
  return ready;
}

/// Eigen's pool waits for ever for a thread that could not be started: it is given threads that run already.
struct ReadyEnvironment {
  struct Task {
    std::function<void()> f;
  };
  using EnvThread = ReadyThread;
  ReadyThread* CreateThread(std::function<void()> f) const {
    ReadyThread* thread = ready->back().release();
    ready->pop_back();
    thread->begin(std::move(f));
    return thread;
  }
  Task CreateTask(std::function<void()> f) const { return {std::move(f)}; }
  void ExecuteTask(const Task& task) const { task.f(); }

  std::shared_ptr<ReadyThreads> ready;
};

using Workers = Eigen::ThreadPoolTempl<ReadyEnvironment>;

/// Null where there is not one thread to be had.
std::unique_ptr<Workers> make_workers(int wanted) {
  try {
    const auto ready = std::make_shared<ReadyThreads>(ready_threads(wanted));
    if (ready->empty()) return nullptr;
    return std::make_unique<Workers>(static_cast<int>(ready->size()), ReadyEnvironment{ready});
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

struct Threads::Pool {
  std::mutex guard;
  std::unique_ptr<Workers> workers;  // fewer than wanted, or none, where the system gave no more
  pid_t process = 0;
};

Threads::Threads(int count) : count_(std::max(1, count)), pool_(std::make_unique<Pool>()) {}
Threads::~Threads() = default;

Threads::Pool& Threads::pool() {
  const std::lock_guard lock(pool_->guard);
  if (pool_->process != getpid()) {
    // A forked child has its parent's pool without the threads, and nobody to end it: it is left as it is.
    static_cast<void>(pool_->workers.release());
    pool_->workers = make_workers(count_ - 1);
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
  Workers* const workers = count_ > 1 && tasks > 1 ? pool().workers.get() : nullptr;
  if (workers == nullptr) {
    work();
  } else {
    const auto helpers = static_cast<unsigned>(std::min<std::int64_t>(tasks - 1, workers->NumThreads()));
    Eigen::Barrier done(helpers);
    for (unsigned h = 0; h < helpers; ++h) {
      workers->Schedule([&] {
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
