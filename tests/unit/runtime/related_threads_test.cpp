// Threads that realise graphs with common nodes: leaves, pending values, memory that one of them overwrites, and roots.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/activity.hpp"
#include "formula/call.hpp"
#include "graph/build.hpp"
#include "graph/order.hpp"
#include "oriel/oriel.hpp"

namespace related_threads_test {

using namespace oriel;

namespace {

/// Calls f(0) .. f(count - 1) at the same time, each on a thread of its own.
void at_once(int count, const std::function<void(int)>& f) {
  std::atomic<int> ready{0};
  std::vector<std::jthread> threads;
  for (int k = 0; k < count; ++k) {
    threads.emplace_back([&, k] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      f(k);
    });
  }
}

/// The value of `t` if all its elements are equal, else NaN.
float all_of(const Tensor& t) {
  const std::vector<float> elements = t.to_vector<float>();
  for (const float e : elements)
    if (e != elements[0]) return std::numeric_limits<float>::quiet_NaN();
  return elements.empty() ? 0 : elements[0];
}

graph::NodePtr numbers(float value) { return detail::Access::node(full({4}, value).realize()); }

}  // namespace

TEST_CASE("two orders share leaves, numbers and pending values, and wait for roots alone") {
  const graph::NodePtr leaf = numbers(1);
  const graph::NodePtr shared = graph::unary(graph::Op::Exp, leaf);
  const graph::NodePtr a = graph::unary(graph::Op::Neg, shared), b = graph::binary(graph::Op::Mul, shared, leaf);
  const graph::NodePtr above = graph::unary(graph::Op::Neg, a);
  graph::Order first, second, third;
  const base::Activity one;
  REQUIRE(first.build({&a, 1}, one.number()) == 0);
  a->seal(true);
  {
    const base::Activity two;
    REQUIRE(second.build({&b, 1}, two.number()) == 0);
    CHECK(first.size() == 3);   // leaf, shared, a
    CHECK(second.size() == 3);  // leaf, shared, b
    CHECK(second.in_memory(0));
    CHECK_FALSE(second.in_memory(1));
    CHECK(&second[1] == shared.get());
    CHECK(std::vector(second.sources(2).begin(), second.sources(2).end()) == std::vector{1, 0});
    // A node that is a root of other work is waited for.
    const base::Activity three;
    CHECK(third.build({&above, 1}, three.number()) == one.number());
    CHECK(third.build({&b, 1}, three.number()) == two.number());
    second.clear();
  }
  // The claims end with the work.
  const base::Activity four;
  CHECK(second.build({&b, 1}, four.number()) == 0);
  a->seal(false);
}

TEST_CASE("numbers of work are never used again, and waiting for one ends with it") {
  std::uint64_t before = 0;
  for (int k = 0; k < 1000; ++k) {
    base::Activity work;
    CHECK(base::Activity::under_way(work.number()));
    CHECK_FALSE(base::Activity::under_way(before));
    before = work.number();
    work.renumber();
    CHECK_FALSE(base::Activity::under_way(before));
    CHECK(base::Activity::under_way(work.number()));
    before = work.number();
  }
  CHECK_FALSE(base::Activity::under_way(before));
  std::atomic<std::uint64_t> number{0};
  std::atomic<bool> ended{false};
  std::jthread other([&] {
    const base::Activity work;
    number = work.number();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ended = true;
  });
  while (number == 0) std::this_thread::yield();
  base::Activity::wait_for_end(number);
  CHECK(ended);
}

TEST_CASE("threads with graphs of their own over shared weights") {
  const Tensor w = iota({64, 64}).to(DType::float32).realize();
  const Tensor turned = w.transpose();  // pending; all threads read it
  const Tensor half = full({64, 64}, 0.5F);
  const std::vector<float> want = (w * 0.5F + w.transpose()).to_vector<float>();
  at_once(4, [&](int) {
    for (int round = 0; round < 50; ++round) {
      const Tensor y = w * half + turned;
      CHECK(y.to_vector<float>() == want);
    }
  });
}

TEST_CASE("threads realise the same pending values, in any order") {
  for (int round = 0; round < 40; ++round) {
    const Tensor x = full({500}, 1.0F).realize();
    const Tensor a = x + 1.0F, b = a * 3.0F, c = b - a, d = c + b;
    at_once(4, [&](int k) {
      if (k == 0) realize({a, d});
      if (k == 1) realize({d, b, a});
      if (k == 2) realize({c});
      CHECK(all_of(k % 2 == 0 ? d : b) == (k % 2 == 0 ? 10.0F : 6.0F));
      CHECK(all_of(a) == 2);
    });
    CHECK(all_of(c) == 4);
  }
}

TEST_CASE("a write in one thread leaves what others read as it was, realised or pending") {
  for (int round = 0; round < 40; ++round) {
    Tensor x = full({1000}, 1.0F).realize();
    const Tensor before = x + 0.0F, pending = x * 2.0F, view = (x * 4.0F).shrink({{10, 20}});
    at_once(4, [&, x](int k) mutable {
      if (k == 0) {
        for (int turn = 0; turn < 5; ++turn) {
          x += 1.0F;
          x.realize();
        }
        CHECK(all_of(x) == 6);
      }
      if (k == 1) CHECK(all_of(pending + before) == 3);
      if (k == 2) CHECK(all_of(pending) == 2);
      if (k == 3) CHECK(all_of(view + pending.shrink({{0, 10}})) == 6);
    });
    CHECK(all_of(before) == 1);
    CHECK(all_of(x) == 6);
  }
}

TEST_CASE("threads drop tensors while others compute with what they held") {
  std::atomic<int> freed{0};
  for (int round = 0; round < 40; ++round) {
    Tensor x = Tensor::adopt(new float[256](), {256}, [&](const float* p) {
      delete[] p;
      ++freed;
    });
    std::vector<Tensor> chain{x};
    for (int k = 0; k < 6; ++k) chain.push_back(chain.back() + 1.0F);
    x = Tensor();
    std::vector<Tensor> mine(4);
    for (std::size_t k = 0; k < 4; ++k) mine[k] = chain[k + 3];
    chain.clear();
    at_once(4, [&](int k) {
      Tensor own = std::exchange(mine[static_cast<std::size_t>(k)], Tensor());
      CHECK(all_of(own) == static_cast<float>(k + 3));
      own = Tensor();
    });
  }
  CHECK(freed == 40);
}

TEST_CASE("a deleter that realises, in the middle of other threads' work") {
  std::atomic<int> good{0};
  at_once(3, [&](int k) {
    for (int round = 0; round < 20; ++round) {
      Tensor x = Tensor::adopt(new float[64](), {64}, [&](const float* p) {
        delete[] p;
        if (all_of(full({32}, 1.0F) + exp(zeros({32}))) == 2) ++good;
      });
      Tensor y = x + static_cast<float>(k);
      x = Tensor();
      CHECK(all_of(y) == static_cast<float>(k));
    }
  });
  CHECK(good == 60);
}

TEST_CASE("explanations and exports of what other threads realise") {
  for (int round = 0; round < 15; ++round) {
    const Tensor x = full({300}, 2.0F).realize();
    const Tensor y = exp(x) * 0.0F + x;
    const Tensor z = y + x;
    at_once(3, [&](int k) {
      if (k == 0) CHECK(explain(z).kernels.size() <= 1);
      if (k == 1) CHECK(all_of(z) == 4);
      if (k == 2) CHECK(y.strides() == Ints{1});
    });
  }
}

TEST_CASE("layouts are asked for while another thread realises") {
  for (int round = 0; round < 40; ++round) {
    Tensor x = iota({4, 6}).to(DType::float32).realize();
    Tensor y = x.transpose() + 1.0F;
    for (int k = 0; k < 5; ++k) y = (y * 2.0F).transpose();
    at_once(3, [&](int k) {
      if (k == 0) y.realize();
      CHECK(y.strides().size() == 2);
      CHECK(y.to_vector<float>().size() == 24);
    });
  }
}

TEST_CASE("lines of several threads come one at a time") {
  int lines = 0;  // needs no lock: the sink gets one line at a time
  set_debug_sink([&](std::string_view) { ++lines; });
  set_debug("launch");
  at_once(4, [&](int k) {
    for (int round = 0; round < 50; ++round)
      static_cast<void>((full({100}, 1.0F).realize() + static_cast<float>(k)).to_vector<float>());
  });
  set_debug("");
  set_debug_sink(nullptr);
  CHECK(lines >= 200);
}

// The thread sanitizer does not support a fork in a process with several threads. With the address sanitizer, its
// allocator may be locked by a thread that the child does not have.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("children forked while threads share, write and wait for each other go on alone") {
  Tensor written = full({1000}, 0.0F).realize();
  const Tensor shared = exp(zeros({1000}).realize());
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      while (!stop) {
        if (k == 0) {
          written += 1.0F;
          written.realize();
        } else if (k == 1) {
          CHECK(all_of(shared + 1.0F) == 2);
        } else {
          const Tensor a = shared * 2.0F, b = a + shared;
          realize({a, b});
          CHECK(all_of(b) == 3);
        }
      }
    });
  }
  int good = 0;
  for (int k = 0; k < 50; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      bool fine = false;
      try {
        const float value = all_of(written);  // all of a write or none of it
        written += 1.0F;
        fine = value == value && all_of(written) == value + 1 && all_of(shared * 3.0F) == 3;
        std::thread other([&] { fine = fine && all_of(shared + written) == value + 2; });
        other.join();
      } catch (const std::exception&) {
        fine = false;
      }
      _exit(fine ? 0 : 1);
    }
    int status = -1;
    good += waitpid(child, &status, 0) == child && status == 0 ? 1 : 0;
  }
  stop = true;
  threads.clear();
  CHECK(good == 50);
}

TEST_CASE("a thread that forks in the middle of its work is not kept by one that waits for that work") {
  const Tensor root = full({100}, 1.0F).realize() + 1.0F;
  std::atomic<bool> begun{false};
  std::atomic<int> good{0};
  set_debug("launch=2");
  thread_local bool forks = false;
  set_debug_sink([&](std::string_view line) {
    if (!forks || line.find("starts") == std::string_view::npos) return;
    forks = false;
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // gives the other thread time to wait for the root
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child && status == 0) ++good;
  });
  at_once(2, [&](int k) {
    if (k == 0) {
      forks = true;
      root.realize();
    } else {
      while (!begun) std::this_thread::yield();
      CHECK(all_of(root * 2.0F) == 4);
    }
  });
  set_debug("");
  set_debug_sink(nullptr);
  CHECK(good == 1);
}

TEST_CASE("two threads that fork from inside of their work do not wait for each other") {
  std::atomic<int> good{0};
  std::atomic<int> inside{0};
  set_debug("launch=2");
  thread_local bool forks = false;
  set_debug_sink([&](std::string_view line) {
    if (!forks || line.find("starts") == std::string_view::npos) return;
    forks = false;
    ++inside;
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child && status == 0) ++good;
  });
  at_once(2, [&](int k) {
    for (int round = 0; round < 10; ++round) {
      forks = true;
      CHECK(all_of(full({100}, 1.0F).realize() + static_cast<float>(k)) == static_cast<float>(k + 1));
    }
  });
  set_debug("");
  set_debug_sink(nullptr);
  CHECK(inside == 20);
  CHECK(good == 20);
}
#endif

}  // namespace related_threads_test
