// A forked child has none of its parent's threads: it computes with threads of its own.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "oriel/oriel.hpp"

using namespace oriel;

namespace {

// Large enough to be shared among threads.
std::int64_t work() { return sum(iota({2000, 1000}) * 2).item<std::int64_t>(); }

}  // namespace

TEST_CASE("parent and child go on after a fork") {
  const Tensor before = (iota({2000, 1000}) * 3).realize();
  const std::int64_t want = work();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(60);  // a child that hangs dies of it
    _exit(work() == want && sum(before).item<std::int64_t>() * 2 == want * 3 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(work() == want);
}
