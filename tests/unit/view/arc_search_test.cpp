// Searches over a box for residues, compared with a search over every point.
#include "view/merging/arc_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "view/merging/merge.hpp"

namespace arc_search_test {

using namespace oriel::detail;

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int between(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine_); }

  Walk walk(int most_step, int most_extent) {
    Walk result;
    result.base = between(0, 60);
    for (int d = between(1, 4); d > 0; --d) {
      result.step.push_back(between(1, most_step));
      result.extent.push_back(between(1, most_extent));
    }
    return result;
  }

  /// Periods that divide one another, as a view's cuts have, or arbitrary ones.
  Constraints constraints() {
    Constraints result;
    const bool nested = between(0, 1) == 0;
    int period = 1;
    for (int c = between(1, 3); c > 0; --c) {
      period = nested ? period * between(2, 5) : between(2, 40);
      const int lo = between(0, period - 1);
      const int hi = between(lo + 1, period);
      if (hi - lo < period) result.push_back({period, lo, hi});
    }
    return result;
  }

 private:
  std::mt19937 engine_;
};

Arcs arcs_of(const Constraints& constraints) {
  Arcs arcs;
  for (const Constraint& c : constraints) arcs.push_back({c.period, c.lo, c.hi - c.lo - 1});
  return arcs;
}

bool all_hold(const Constraints& constraints, Int n) {
  for (const Constraint& c : constraints) {
    if (!c.holds(n)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("find_point finds a point or shows that there is none") {
  Random random(5);
  int found_count = 0;
  int short_count = 0;
  for (int k = 0; k < 60'000; ++k) {
    const Walk walk = random.walk(40, 7);
    const Constraints constraints = random.constraints();
    bool exists = false;
    for_each_point(walk.extent, [&](const IntList& x) {
      exists = exists || all_hold(constraints, walk.value(x));
      return !exists;
    });
    const bool hurried = random.between(0, 3) == 0;
    Int steps = hurried ? random.between(1, 60) : 100'000;
    IntList x;
    const Found found = find_point(walk, arcs_of(constraints), x, steps);
    CHECK(steps >= 0);
    if (found == Found::Unknown) {
      CHECK(hurried);
      ++short_count;
      continue;
    }
    CHECK((found == Found::Yes) == exists);
    if (found == Found::No) continue;
    ++found_count;
    CHECK(all_hold(constraints, walk.value(x)));
    for (std::size_t d = 0; d < walk.rank(); ++d) {
      CHECK(x[d] >= 0);
      CHECK(x[d] < walk.extent[d]);
    }
  }
  CHECK(found_count > 10'000);
  CHECK(short_count > 100);
}

TEST_CASE("find_point takes few steps where arcs contradict each other on long lines") {
  // Every value is a multiple of 11. If it is even, it is 0 modulo 22, so the first two arcs never meet, however long
  // the line is.
  const Walk walk{11, {11, 132}, {1'000'000'007, 1'000'003}};
  IntList x;
  Int steps = 2'000;
  CHECK(find_point(walk, {{2, 0, 0}, {22, 10, 3}, {1'000'000'000'000, 5, 999'999'999'990}}, x, steps) == Found::No);
}

TEST_CASE("find_valid_box is exact") {
  Random random(6);
  int boxes = 0;
  int refused = 0;
  for (int k = 0; k < 60'000; ++k) {
    const Walk walk = random.walk(random.between(0, 1) == 0 ? 40 : 6, 7);
    const Constraints constraints = random.constraints();
    IntList least;
    IntList greatest;
    Int count = 0;
    for_each_point(walk.extent, [&](const IntList& x) {
      if (!all_hold(constraints, walk.value(x))) return true;
      if (count == 0) least = greatest = x;
      for (std::size_t d = 0; d < x.size(); ++d) {
        least[d] = std::min(least[d], x[d]);
        greatest[d] = std::max(greatest[d], x[d]);
      }
      count += 1;
      return true;
    });
    Int volume = 1;
    for (std::size_t d = 0; d < least.size(); ++d) volume *= greatest[d] - least[d] + 1;
    Walk cut = walk;
    IntList start;
    const BoxVerdict verdict = find_valid_box(cut, start, constraints);
    if (count == 0) {
      CHECK(verdict == BoxVerdict::Nothing);
    } else if (volume != count) {
      CHECK(verdict == BoxVerdict::No);
      ++refused;
    } else {
      CHECK(verdict == BoxVerdict::Box);
      CHECK(start == least);
      CHECK(cut.base == walk.value(least));
      for (std::size_t d = 0; d < least.size(); ++d) CHECK(cut.extent[d] == greatest[d] - least[d] + 1);
      ++boxes;
    }
  }
  CHECK(boxes > 5'000);
  CHECK(refused > 20'000);
}

}  // namespace arc_search_test
