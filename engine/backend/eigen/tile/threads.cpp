#include "backend/eigen/tile/threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace oriel::backend::eigen {

namespace {

using Clock = std::chrono::steady_clock;

// A thread that sleeps costs its waker some 5 microseconds and begins after 50; one that is awake costs next to
// nothing and begins after one. Kernels of one schedule follow each other within a few microseconds.
constexpr auto kAwake = std::chrono::microseconds(30);
// The least that a thread's share of a kernel has to take.
constexpr double kShareSeconds = 10e-6;

/// Tells the processor that this thread waits.
void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits awake until `ready()`; false where that takes longer than kAwake.
template <class Ready>
bool wait_awake(const Ready& ready) {
  constexpr int kLooks = 32;  // for each look at the clock
  const auto end = Clock::now() + kAwake;
  do {
    for (int k = 0; k < kLooks; ++k) {
      if (ready()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace

/// Helper threads, and one job at a time for them. A job has seats. A helper takes a seat to begin. The thread that
/// gave the job takes back the seats that are left when it finds no more work itself.
class Threads::Pool {
 public:
  /// Starts as many of the wanted helpers as the system grants. If it refuses one, half of them end again: memory and
  /// other programs need what the system has left.
  explicit Pool(int wanted) {
    try {
      helpers_.reserve(static_cast<std::size_t>(wanted));
      while (static_cast<int>(helpers_.size()) < wanted) {
        helpers_.emplace_back([this, index = static_cast<int>(helpers_.size())] { serve(index); });
      }
    } catch (const std::system_error&) {
      const std::size_t kept = helpers_.size() / 2;
      most_.store(static_cast<int>(kept));
      wake_all();
      for (std::size_t k = kept; k < helpers_.size(); ++k) helpers_[k].join();
      helpers_.resize(kept);
    } catch (const std::bad_alloc&) {
      // Ends all helpers.
    }
  }
  Pool(const Pool&) = delete;
  ~Pool() {
    most_.store(0);
    wake_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  bool of_this_process() const noexcept { return process_ == getpid(); }
  int size() const noexcept { return static_cast<int>(helpers_.size()); }

  /// Calls `work` on this thread and on up to `helpers` others at once; false where another job is under way.
  bool run(unsigned helpers, const std::function<void()>& work) {
    const std::unique_lock lock(one_, std::try_to_lock);
    if (!lock) return false;
    work_ = &work;
    finished_.store(0, std::memory_order_relaxed);
    number_ = (number_ + 1) & 0xffffffffU;
    job_.store(number_ << 32 | helpers);
    if (asleep_.load() > 0) wake(helpers);
    work();
    const std::uint64_t left = job_.fetch_and(~kSeats) & kSeats;
    const auto begun = static_cast<std::uint32_t>(helpers - left);
    const auto done = [&] { return finished_.load(std::memory_order_acquire) == begun; };
    if (begun == 0 || wait_awake(done)) return true;
    waits_.store(true);
    for (std::uint32_t seen = finished_.load(); seen != begun; seen = finished_.load()) finished_.wait(seen);
    waits_.store(false, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr std::uint64_t kSeats = 0xffffffffU;

  void wake(unsigned helpers) {
    calls_.fetch_add(1);
    if (static_cast<int>(helpers) >= size()) return calls_.notify_all();
    for (unsigned k = 0; k < helpers; ++k) calls_.notify_one();
  }
  void wake_all() {
    calls_.fetch_add(1);
    calls_.notify_all();
  }

  void serve(int index) {
    std::uint64_t last = 0;  // a job has one seat for each helper
    const auto offered = [&](std::uint64_t job) { return (job & kSeats) != 0 && job >> 32 != last; };
    const auto retired = [&] { return index >= most_.load(); };
    while (!retired()) {
      std::uint64_t job = job_.load(std::memory_order_relaxed);
      const auto ready = [&] { return offered(job = job_.load(std::memory_order_relaxed)) || retired(); };
      if (!offered(job) && !wait_awake(ready)) {
        // A thread that gives a job after this count sees a sleeper. A job that was given before is seen here.
        asleep_.fetch_add(1);
        const std::uint32_t seen = calls_.load();
        if (!offered(job_.load()) && !retired()) calls_.wait(seen);
        asleep_.fetch_sub(1);
        continue;
      }
      if (!offered(job) || !job_.compare_exchange_strong(job, job - 1, std::memory_order_acq_rel)) continue;
      last = job >> 32;
      (*work_)();
      finished_.fetch_add(1);
      if (waits_.load()) finished_.notify_one();
    }
  }

  const pid_t process_ = getpid();
  std::mutex one_;  // for whoever gives a job
  std::uint64_t number_ = 0;
  const std::function<void()>* work_ = nullptr;         // of the job
  alignas(64) std::atomic<std::uint64_t> job_{0};       // its number above its free seats
  alignas(64) std::atomic<std::uint32_t> finished_{0};  // helpers that took a seat and are done
  std::atomic<bool> waits_{false};                      // asleep, for `finished_`
  alignas(64) std::atomic<std::uint32_t> calls_{0};     // what helpers that sleep wait for
  std::atomic<int> asleep_{0};
  std::atomic<int> most_{1 << 20};  // helpers from this one on end
  std::vector<std::thread> helpers_;
};

struct Threads::SharedPool {
  std::mutex guard;
  std::unique_ptr<Pool> pool;
};

Threads::Threads(int count) : count_(std::max(1, count)), place_(std::make_unique<SharedPool>()) {}

// A forked child has its parent's pool without the threads. Nobody can end it, so it is left as it is.
Threads::~Threads() {
  if (place_->pool != nullptr && !place_->pool->of_this_process()) static_cast<void>(place_->pool.release());
}

Threads::Pool* Threads::pool() {
  const std::lock_guard lock(place_->guard);
  if (place_->pool == nullptr || !place_->pool->of_this_process()) {
    static_cast<void>(place_->pool.release());
    try {
      place_->pool = std::make_unique<Pool>(count_ - 1);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  return place_->pool->size() > 0 ? place_->pool.get() : nullptr;
}

void Threads::run(std::int64_t tasks, const std::function<void(std::int64_t)>& task, int most) {
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
  Pool* const pool = most > 1 && count_ > 1 && tasks > 1 ? this->pool() : nullptr;
  const auto helpers = pool == nullptr ? 0 : std::min<std::int64_t>({tasks - 1, pool->size(), most - 1});
  if (helpers == 0 || !pool->run(static_cast<unsigned>(helpers), work)) work();
  if (failed) std::rethrow_exception(error);
}

int threads_that_pay(double seconds, int most) {
  const double shares = seconds / kShareSeconds;
  return shares >= most ? most : std::max(1, static_cast<int>(shares));
}

}  // namespace oriel::backend::eigen
