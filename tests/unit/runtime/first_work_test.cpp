// The first work of a process is done by several threads at once, and not by its first thread. Each case is a test of
// its own, so that it is the first of its process.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

namespace first_work_test {

using namespace oriel;

namespace {

/// What goes wrong in `work` on four threads that start together; empty if nothing does.
template <class Work>
std::string together(Work work) {
  constexpr int kThreads = 4;
  std::atomic<int> ready{0};
  std::vector<std::string> faults(kThreads);
  {
    std::vector<std::jthread> threads;
    for (std::string& fault : faults) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        try {
          if (!work()) fault = "other elements";
        } catch (const Error& error) {
          fault = error.what();
        }
      });
    }
  }
  for (const std::string& fault : faults)
    if (!fault.empty()) return fault;
  return {};
}

}  // namespace

TEST_CASE("threads share pending tensors") {
  const Tensor data = Tensor::of<float>({1, 2, 3});
  for (int round = 0; round < 50; ++round) {
    const auto k = static_cast<float>(round);
    const Tensor a = data * k + 1;
    const Tensor b = a * a;
    const std::vector<float> wanted{(k + 1) * (k + 1), (2 * k + 1) * (2 * k + 1), (3 * k + 1) * (3 * k + 1)};
    CHECK(together([&] { return b.to_vector<float>() == wanted; }) == "");
  }
}

TEST_CASE("threads trace one function of a count") {
  const Tensor data = Tensor::of<float>({1, -2, 3});
  const auto f = oriel::function([](Tensor x) { return masked_select(x, x > 0) * 2; }, {.dynamic = Dynamic::yes});
  CHECK(together([&] { return f(data).to_vector<float>() == std::vector<float>{2, 6}; }) == "");
}

}  // namespace first_work_test
