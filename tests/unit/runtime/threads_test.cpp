// Threads build, share and realise tensors at the same time.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

namespace threads_test {

using namespace oriel;

TEST_CASE("eight threads build and run graphs over shared tensors") {
  const Tensor shared = exp(full({2000}, 0.5F));  // pending: the first thread realises it
  std::vector<double> results(8);
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 8; ++k) {
      threads.emplace_back([&, k] {
        Tensor t = shared;
        for (int round = 0; round < 20; ++round) {
          t = t * 0.5F + static_cast<float>(k);
          if (round % 5 == 0) t.realize();
        }
        results[static_cast<std::size_t>(k)] = static_cast<double>(sum(t).item<float>());
      });
    }
  }
  for (int k = 0; k < 8; ++k)
    CHECK(results[static_cast<std::size_t>(k)] == doctest::Approx(2000.0 * 2 * k).epsilon(1e-2));
}

TEST_CASE("large kernels on the pool, from several threads") {
  const Tensor x = full({1 << 18}, 1.0F).realize();
  std::vector<float> results(4);
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k)
      threads.emplace_back(
          [&, k] { results[static_cast<std::size_t>(k)] = sum(x * static_cast<float>(k + 2) + 0.75F).item<float>(); });
  }
  for (int k = 0; k < 4; ++k) CHECK(results[static_cast<std::size_t>(k)] == doctest::Approx((1 << 18) * (k + 2.75)));
}

TEST_CASE("each thread writes its part of one storage, and its own tensors") {
  Tensor shared = full({8, 100}, 0.0F).realize();
  const Tensor source = exp(full({100}, 0.0F));  // pending; all threads read it
  {
    std::vector<std::jthread> threads;
    for (int k = 0; k < 8; ++k) {
      threads.emplace_back([&, k] {
        Tensor row = shared.select(0, k);
        Tensor mine = +source;
        for (int round = 0; round < 30; ++round) {
          row += 1;
          mine += source;
          if (round % 7 == k % 7) row.realize();
          if (round % 5 == 0) mine.realize();
        }
        CHECK(mine.to_vector<float>()[99] == 31);
      });
    }
  }
  // An addition reads and writes. All additions to one row are made by one thread, and no other thread's write is lost.
  CHECK(source.to_vector<float>()[0] == 1);
  CHECK(shared.to_vector<float>() == std::vector<float>(800, 30.0F));
}

}  // namespace threads_test
