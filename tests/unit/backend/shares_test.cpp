// How a kernel's points are divided into tasks, up to the largest counts.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "backend/eigen/tile/threads.hpp"

namespace shares_test {

using namespace oriel::backend::eigen;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("shares follow each other and are equal but for one") {
  for (const std::int64_t total :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{1000}, kMost / 3, kMost}) {
    for (const std::int64_t tasks : {1, 2, 3, 7, 64, 16384}) {
      CAPTURE(total);
      CAPTURE(tasks);
      CHECK(share_begin(total, 0, tasks) == 0);
      CHECK(share_begin(total, tasks, tasks) == total);
      for (std::int64_t task = 0; task < tasks; ++task) {
        const std::int64_t count = share_begin(total, task + 1, tasks) - share_begin(total, task, tasks);
        REQUIRE(count >= total / tasks);
        REQUIRE(count - total / tasks <= 1);
      }
    }
  }
}

TEST_CASE("tasks by work, which no integer may hold") {
  CHECK(tasks_for(0, 100, 8) == 1);
  CHECK(tasks_for(250, 100, 8) == 3);
  CHECK(tasks_for(1e30, 100, 8) == 8);
  CHECK(tasks_for(1e30, 100, 0) == 0);
}

}  // namespace shares_test
