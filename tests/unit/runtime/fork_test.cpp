// A forked child has none of its parent's threads. It computes with threads of its own, whatever the parent's were
// doing.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "base/fork_lock.hpp"
#include "graph/node.hpp"
#include "memory/disk_cache.hpp"
#include "memory/host.hpp"
#include "oriel/oriel.hpp"

namespace fork_test {

using namespace oriel;

namespace {

// The first of the numbers that a SymInt keeps in memory.
constexpr std::int64_t kBoxed = std::numeric_limits<std::int64_t>::min() + 1;

// Large enough to use several threads.
std::int64_t work() { return sum(iota({2000, 1000}) * 2).item<std::int64_t>(); }

/// Does a child that calls `f` end normally and return true? The alarm kills a child that hangs.
bool child_says(const std::function<bool()>& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good = false;
    try {
      good = f();
    } catch (const std::exception&) {
      good = false;
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

/// While it lives, each of `turns` is called in a loop on a thread of its own.
class Busy {
 public:
  explicit Busy(const std::vector<std::function<void()>>& turns) {
    for (const auto& turn : turns) {
      threads_.emplace_back([this, turn] {
        while (!stop_) turn();
      });
    }
  }
  Busy(const Busy&) = delete;
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("parent and child go on after a fork") {
  const Tensor before = (iota({2000, 1000}) * 3).realize();
  const std::int64_t want = work();
  CHECK(child_says([&] { return work() == want && sum(before).item<std::int64_t>() * 2 == want * 3; }));
  CHECK(work() == want);
}

// The thread sanitizer does not support a fork in a process with several threads.
#if !defined(__SANITIZE_THREAD__)
// In g++ 12 the address sanitizer's allocator keeps its locks as they are at a fork: a child may wait for one forever.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("children that are forked while other threads realise, write, compile and cache go on alone") {
  const std::int64_t want = work();
  Tensor written = full({1000}, 0.0F).realize();  // written by one thread, all elements at once
  Tensor pending = full({1000}, 1.0F) + 1.0F;
  const Busy busy({
      [&] { work(); },
      [&] {
        written += 1;
        written.realize();
      },
      [&] {
        Tensor x = full({100, 7}, 2.0F).realize();
        x.select(0, 3).assign(5);
        static_cast<void>(x.to_vector<float>());
      },
      [&] {
        static int turn = 0;
        const std::string text = "def f(float(N) A) -> (C) { C(i) = A(i) * " + std::to_string(++turn) + " }";
        static_cast<void>(comprehension(text)(full({10}, 1.0F)));
      },
      [&] {
        mem::DiskCache::shared().put("fork test", std::string(1000, 'x'));
        static_cast<void>(mem::DiskCache::shared().find("fork test"));
        static_cast<void>(memory().live);
      },
  });
  int good = 0;
  for (int k = 0; k < 50; ++k) {
    good += child_says([&] {
      // The child sees all of a write or none of it, whatever the other thread was doing.
      const std::vector<float> elements = written.to_vector<float>();
      const bool whole = std::all_of(elements.begin(), elements.end(), [&](float e) { return e == elements[0]; });
      written += 1;
      const bool added = written.to_vector<float>()[7] == elements[0] + 1;
      const Tensor d = comprehension("def f(float(N) A) -> (C) { C(i) = A(i) + 1 }")(pending);
      mem::DiskCache::shared().put("fork test", "child");
      return whole && added && work() == want && d.to_vector<float>()[999] == 3;
    });
  }
  CHECK(good == 50);
  CHECK(work() == want);
}
#endif

TEST_CASE("a child reads and sets what its parent's other threads were setting") {
  const Tensor x = full({2}, 0.5F).realize();
  const Context context;
  const Busy busy({
      [&] {
        PrintOptions options;
        options.nan = std::string(1 << 20, 'n');  // a long time under the lock
        set_print_options(options);
      },
      [&] {
        const ContextScope scope(context);
        set_debug("memory=2");
        set_dump_directory({});
        profile::stop();
        static_cast<void>(profile::take());
        static_cast<void>(debug_text());
      },
      [&] { set_debug_sink([](std::string_view) {}); },
      [&] {
        const std::shared_ptr<int> slow(new int(0), [](const int* p) {
          delete p;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        set_comprehension_warning_sink([slow](const ComprehensionWarning&) {});
      },
      [&] {
        static std::int64_t size = kBoxed;
        static_cast<void>(SymInt(++size));
      },
  });
  int good = 0;
  for (int k = 0; k < 50; ++k) {
    good += child_says([&] {
      set_print_options({});
      const bool printed = to_string(x) == "[0.5 0.5]";
      const ContextScope scope(context);
      set_dump_directory({});
      set_debug("");
      set_debug_sink({});
      set_comprehension_warning_sink({});
      const bool counted = SymInt(kBoxed + 7).value() == kBoxed + 7;
      return printed && counted && debug_text().empty() && profile::take().launches.empty() && !profile::recording();
    });
  }
  CHECK(good == 50);
  set_comprehension_warning_sink({});
  set_debug_sink({});
  set_print_options({});
}

TEST_CASE("a fork from inside of a realize leaves both processes with their locks") {
  int forks = 0;
  bool good = true;
  {
    auto* const data = new float[4]{1, 2, 3, 4};
    Tensor x = Tensor::adopt(data, {4}, [&](const float* p) {
      delete[] p;
      // On the thread that has just realised, while its work is still under way.
      CHECK(base::Activity::in_this_thread());
      ++forks;
      good = child_says([] { return work() == 3999998000000; });
    });
    Tensor y = x + 1;
    x = Tensor();
    CHECK(y.to_vector<float>() == std::vector<float>{2, 3, 4, 5});
  }
  CHECK(forks == 1);
  CHECK(good);
  CHECK_FALSE(base::Activity::in_this_thread());
}

TEST_CASE("a child finds no lock held that the library has") {
  const Busy busy({[] {
                     for (int k = 0; k < static_cast<int>(base::ForkLock::count); ++k) {
                       const std::lock_guard lock(base::fork_mutex(static_cast<base::ForkLock>(k)));
                     }
                   },
                   [] {
                     static const int objects[1000] = {};
                     for (const int& object : objects) {
                       const base::SpinGuard cell(base::SpinSet::cells, &object);
                     }
                     for (const int& object : objects) {
                       const base::SpinGuard node(base::SpinSet::nodes, &object);
                     }
                   }});
  int good = 0;
  for (int k = 0; k < 50; ++k) {
    good += child_says([] {
      for (int lock = 0; lock < static_cast<int>(base::ForkLock::count); ++lock) {
        base::ForkMutex& mutex = base::fork_mutex(static_cast<base::ForkLock>(lock));
        const std::lock_guard one(mutex);
        const std::lock_guard again(mutex);
      }
      static const int objects[1000] = {};
      for (const int& object : objects) {
        const base::SpinGuard cell(base::SpinSet::cells, &object);
      }
      for (const int& object : objects) {
        const base::SpinGuard node(base::SpinSet::nodes, &object);
      }
      return true;
    });
  }
  CHECK(good == 50);
}
#endif

}  // namespace fork_test
