// A captured function that is called in a forked child.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

namespace function_fork_test {

using namespace oriel;

TEST_CASE("a forked child calls what its parent's threads are calling") {
  const auto f = oriel::function([](Tensor x, auto k) { return sum(x * k, -1); }, {.limit = 64});
  std::atomic<bool> stop{false};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; !stop; ++round) f(full({1 + (round + t) % 40, 4}, 1.0F), 2.0F).realize();
    });
  }
  for (int child = 0; child < 8; ++child) {
    const pid_t id = fork();
    if (id == 0) {
      alarm(60);
      bool good = true;
      for (const int n : {1, 7, 45}) good = good && f(full({n, 4}, 1.0F), 3.0F).to_vector<float>()[0] == 12;
      _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(id, &status, 0) == id);
    CHECK(status == 0);
  }
  stop = true;
}

}  // namespace function_fork_test
