// Captured functions called by several threads at the same time, and in several contexts.
#include <doctest/doctest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

namespace function_threads_test {

using namespace oriel;

TEST_CASE("eight threads trace and hit the same function") {
  const auto f =
      oriel::function([](Tensor x, Tensor w, auto k) { return sum(matmul(x, w) * k, -1); }, {.dynamic = Dynamic::no});
  const Tensor w = full({4, 4}, 0.5F) * 2;  // pending: the first thread realises it
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 200; ++round) {
          const int n = 1 + (t + round) % 5;
          const auto k = static_cast<float>(round % 7);
          const Tensor x = full({n, 4}, static_cast<float>(t));
          for (const float v : f(x, w, k).to_vector<float>()) wrong += v != static_cast<float>(t) * 16 * k;
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(f.entries().size() == 5);
  const FunctionCounts counts = f.counts();
  CHECK(counts.plain == 0);
  CHECK(counts.traces >= 5);
  CHECK(counts.traces <= 40);
}

TEST_CASE("eight threads meet the same new sizes of one entry") {
  const auto f =
      oriel::function([](Tensor x, Tensor w) { return sum(matmul(x, w), -1) + mean(x); }, {.dynamic = Dynamic::yes});
  const Tensor w = full({4, 4}, 0.5F).realize();
  f(full({9, 4}, 1.0F), w);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < 100; ++round) {
          const Tensor x = full({5 + (t * 3 + round) % 40, 4}, static_cast<float>(t));
          for (const float v : f(x, w).to_vector<float>()) wrong += v != static_cast<float>(t) * 9;
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(f.counts().traces == 1);
  CHECK(f.counts().hits == 800);
  CHECK(f.entries()[0].sizes == 40);
}

TEST_CASE("four threads pack and read the panels of one weight") {
  const auto layer = [](Tensor x, Tensor w) { return matmul(x, w.permute({1, 0})); };
  const auto f = oriel::function(layer, {.dynamic = Dynamic::yes});
  const Tensor w = Tensor::generate({64, 96}, [k = 0](auto) mutable { return static_cast<float>(++k % 13); });
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const Tensor own = (w + static_cast<float>(t)).realize();
        for (int round = 0; round < 40; ++round) {
          const Tensor x = full({16 + (t + round) % 3, 96}, static_cast<float>(t + round % 5));
          const Tensor& weight = round % 4 == 3 ? own : w;
          wrong += f(x, weight).to_vector<float>() != layer(x, weight).to_vector<float>() ? 1 : 0;
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(f.entries()[0].packed >= 1);  // those of the threads' own weights are forgotten with them
}

TEST_CASE("threads that write storages of their own through one function") {
  const auto step = oriel::function([](Tensor w, Tensor g) { w.select(0, 1) += g; });
  const Tensor g = full({3}, 1.0F).realize();
  std::vector<float> results(6);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 6; ++t) {
      threads.emplace_back([&, t] {
        Tensor w = full({2, 3}, static_cast<float>(t)).realize();
        for (int round = 0; round < 100; ++round) step(w, g);
        results[t] = sum(w).item<float>();
      });
    }
  }
  for (std::size_t t = 0; t < 6; ++t) CHECK(results[t] == static_cast<float>(6 * t + 300));
}

TEST_CASE("each context has entries of its own, and an ended one serves no call") {
  const auto f = oriel::function([](Tensor x) { return x * 2 + ones({2}); });
  std::optional<Tensor> kept;
  {
    Context context({.threads = 1});
    const ContextScope scope(context);
    const Tensor x = Tensor::of<float>({1, 2});
    CHECK(f(x).device().context == context.number());
    CHECK(f(x).to_vector<float>() == std::vector<float>{3, 5});
    kept = x;
  }
  CHECK_THROWS_AS(f(*kept), DeviceError);
  CHECK(f(Tensor::of<float>({1, 2})).to_vector<float>() == std::vector<float>{3, 5});
  CHECK(f.entries().size() == 2);
}

TEST_CASE("entries of ended contexts make room for others") {
  const auto f = oriel::function([](Tensor x) { return x * 2; }, {.limit = 2, .strict = true});
  const Tensor own = Tensor::of<float>({1, 2});
  CHECK(f(own).to_vector<float>() == std::vector<float>{2, 4});
  for (int round = 0; round < 10; ++round) {
    const Context context({.threads = 1});
    const ContextScope scope(context);
    CHECK(f(Tensor::of<float>({3, 4})).to_vector<float>() == std::vector<float>{6, 8});
    CHECK(f(Tensor::of<float>({4, 4})).to_vector<float>() == std::vector<float>{8, 8});
  }
  CHECK(f(own).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(f.counts().traces == 11);
  CHECK(f.counts().hits == 11);
  CHECK(f.entries().size() == 2);
}

}  // namespace function_threads_test
