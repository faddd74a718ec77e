// How many threads run a kernel: estimated from the kernel's structure.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/eigen/backend.hpp"
#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/run.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "runtime/compiled.hpp"
#include "runtime/key.hpp"
#include "runtime/plan.hpp"

namespace thread_count_test {

using namespace oriel;
using backend::eigen::EigenBackend;
using backend::eigen::Threads;
using backend::eigen::threads_that_pay;
using backend::eigen::TieredKernel;

namespace {

/// The number of threads of each kernel that computes `results` on a device with eight threads.
std::vector<int> threads_of(const std::vector<Tensor>& results) {
  setenv("ORIEL_THREADS", "8", 1);
  EigenBackend device;
  unsetenv("ORIEL_THREADS");
  std::vector<graph::NodePtr> roots;
  for (const Tensor& t : results) roots.push_back(detail::Access::node(t));
  const base::Activity work;
  runtime::Key key;
  runtime::make_key(work, roots, 0, key);
  const runtime::Plan plan = runtime::make_plan(roots, key, runtime::limits_of(device));
  std::vector<int> counts;
  for (const runtime::PlannedKernel& k : plan.kernels) {
    const auto kernel = device.compile(k.lowered.program);
    counts.push_back(device.threads_for(static_cast<const TieredKernel&>(*kernel).seconds));
  }
  return counts;
}

Tensor matrix(std::int64_t rows, std::int64_t columns) {
  return Tensor::from(std::vector<float>(static_cast<std::size_t>(rows * columns), 0.5F), {rows, columns});
}

}  // namespace

TEST_CASE("a step of a small network runs on one thread, kernel by kernel") {
  const Tensor x = matrix(32, 64);
  const Tensor y = matrix(32, 10);
  const Tensor w[] = {matrix(64, 64), matrix(64, 64), matrix(64, 10)};
  const Tensor h0 = relu(matmul(x, w[0]));
  const Tensor h1 = relu(matmul(h0, w[1]));
  const Tensor e = softmax(matmul(h1, w[2])) - y;
  const Tensor d1 = where(h1 > 0, matmul(e, w[2].transpose()), 0.0F);
  const Tensor d0 = where(h0 > 0, matmul(d1, w[1].transpose()), 0.0F);
  const std::vector<int> counts =
      threads_of({w[2] - matmul(h1.transpose(), e) * 0.1F, w[1] - matmul(h0.transpose(), d1) * 0.1F,
                  w[0] - matmul(x.transpose(), d0) * 0.1F});
  CHECK(counts.size() >= 6);
  CHECK(std::set<int>(counts.begin(), counts.end()) == std::set<int>{1});
}

TEST_CASE("large kernels of every kind run on all threads") {
  const Tensor big = matrix(1024, 1024);
  CHECK(threads_of({big + big}) == std::vector<int>{8});
  CHECK(threads_of({sum(big)}) == std::vector<int>{8});
  CHECK(threads_of({softmax(big)}) == std::vector<int>{8});
  CHECK(threads_of({sum(big, 0)}) == std::vector<int>{8});
  CHECK(threads_of({matmul(big, big)}) == std::vector<int>{8});
  CHECK(threads_of({max(unfold(unfold(big, 0, 3, 1), 1, 3, 1), {2, 3})}) == std::vector<int>{8});
  const Tensor q = matrix(512, 64);
  CHECK(threads_of({matmul(softmax(matmul(q, q.transpose())), q)}) == std::vector<int>{8});
}

TEST_CASE("work in between gets some of the threads, and no more than pay") {
  CHECK(threads_that_pay(0, 8) == 1);
  CHECK(threads_that_pay(19e-6, 8) == 1);
  CHECK(threads_that_pay(21e-6, 8) == 2);
  CHECK(threads_that_pay(55e-6, 8) == 5);
  CHECK(threads_that_pay(1, 8) == 8);
  CHECK(threads_that_pay(1, 1) == 1);
  int last = 1;
  for (const std::int64_t rows : {8, 64, 256, 512, 1024, 4096}) {
    const int count = threads_of({exp(matrix(rows, 256))}).at(0);
    CHECK(count >= last);
    last = count;
  }
  CHECK(last == 8);
}

TEST_CASE("so many threads as are asked for take the tasks, each once, and none is waited for that sleeps") {
  Threads threads(4);
  for (const int most : {1, 2, 4}) {
    CAPTURE(most);
    for (int round = 0; round < 300; ++round) {
      std::vector<std::atomic<int>> done(64);
      std::atomic<int> at_once{0};
      std::atomic<int> peak{0};
      threads.run(
          64,
          [&](std::int64_t task) {
            const int now = ++at_once;
            for (int seen = peak; seen < now && !peak.compare_exchange_weak(seen, now);) {
            }
            ++done[static_cast<std::size_t>(task)];
            if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
            --at_once;
          },
          most);
      for (const auto& d : done) REQUIRE(d == 1);
      REQUIRE(peak <= most);
      // Between some rounds the helper threads fall asleep.
      if (round % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

TEST_CASE("callers from several threads are served, and an exception of a task is the caller's") {
  Threads threads(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&, c] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> sum{0};
        threads.run(50, [&](std::int64_t task) { sum += task; });
        if (sum != 49 * 25) ++wrong;
        try {
          threads.run(50, [&](std::int64_t task) {
            if (task == 17) throw c;
          });
          ++wrong;
        } catch (const int thrown) {
          if (thrown != c) ++wrong;
        }
      }
    });
  }
  for (std::thread& t : callers) t.join();
  CHECK(wrong == 0);
}

}  // namespace thread_count_test
