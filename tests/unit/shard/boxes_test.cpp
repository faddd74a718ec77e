// Joining, subtracting and thinning out strided boxes, against lists of their points.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "fuzz/choices.hpp"
#include "shard/boxes.hpp"

namespace boxes_test {

namespace {

using namespace oriel::shards;
using oriel::fuzz::Choices;

Box random_box(Choices& choices, Column payload, std::size_t loops, std::int64_t step) {
  Box box;
  box.start[kPosition] = choices.between(-10, 30);
  box.start[payload] = 1000 * choices.between(0, 9);
  for (std::size_t k = 0; k < loops; ++k) {
    Loop loop{choices.between(0, 20) == 0 ? 0 : choices.between(1, 7), {}};
    loop.step[kPosition] = choices.between(-step, step);
    loop.step[payload] = choices.between(-5, 5);
    box.loops.push_back(loop);
  }
  return box;
}

std::vector<Row> rows_of(const Boxes& boxes) {
  std::vector<Row> rows;
  for (const Box& box : boxes) for_each(box, [&](const Row& row) { rows.push_back(row); });
  std::sort(rows.begin(), rows.end());
  return rows;
}

}  // namespace

TEST_CASE("a join has each pair of points with equal keys once") {
  for (std::uint64_t number = 0; number < 4000; ++number) {
    CAPTURE(number);
    Choices choices(7, number);
    const std::int64_t step = choices.between(1, 40);
    const Boxes a{random_box(choices, kLocal, choices.below(4), step),
                  random_box(choices, kLocal, choices.below(3), step)};
    const Boxes b{random_box(choices, kOtherLocal, choices.below(4), step)};
    std::vector<Row> expected;
    for (const Row& one : rows_of(a)) {
      for (const Row& other : rows_of(b)) {
        if (one[kPosition] != other[kPosition]) continue;
        Row both = one;
        both[kOtherLocal] = other[kOtherLocal];
        expected.push_back(both);
      }
    }
    std::sort(expected.begin(), expected.end());
    REQUIRE(rows_of(join(a, b, kPosition)) == expected);
  }
}

TEST_CASE("a difference has the points whose key the others lack") {
  for (std::uint64_t number = 0; number < 4000; ++number) {
    CAPTURE(number);
    Choices choices(8, number);
    const std::int64_t step = choices.between(1, 40);
    const Boxes a{random_box(choices, kLocal, choices.below(4), step)};
    const Boxes b{random_box(choices, kLocal, choices.below(4), step),
                  random_box(choices, kLocal, choices.below(3), step)};
    std::set<std::int64_t> taken;
    for (const Row& row : rows_of(b)) taken.insert(row[kPosition]);
    std::vector<Row> expected;
    for (const Row& row : rows_of(a)) {
      if (taken.count(row[kPosition]) == 0) expected.push_back(row);
    }
    REQUIRE(rows_of(subtract(a, b, kPosition)) == expected);
  }
}

TEST_CASE("distinct keys are all keys, each with a point that has it") {
  for (std::uint64_t number = 0; number < 2000; ++number) {
    CAPTURE(number);
    Choices choices(9, number);
    const std::int64_t step = choices.between(1, 20);
    const Boxes a{random_box(choices, kLocal, choices.below(4), step),
                  random_box(choices, kLocal, choices.below(3), step)};
    const std::vector<Row> all = rows_of(a);
    std::set<std::int64_t> keys;
    for (const Row& row : all) keys.insert(row[kPosition]);
    const std::vector<Row> once = rows_of(distinct(a, kPosition));
    std::set<std::int64_t> found;
    for (const Row& row : once) {
      REQUIRE(std::binary_search(all.begin(), all.end(), row));
      REQUIRE(found.insert(row[kPosition]).second);
    }
    REQUIRE(found == keys);
  }
}

TEST_CASE("the number of boxes does not depend on extents where steps divide each other") {
  const auto boxes_for = [](std::int64_t n) {
    // Rows of (n, 8n) on n ranks, and columns of the same: one box from each to each.
    Box rows{{}, {}};
    rows.loops.push_back({n, {8 * n, 1, 0}});
    rows.loops.push_back({8 * n, {1, 0, 1}});
    Box columns{{}, {}};
    columns.loops.push_back({n, {8, 0, 0, 1}});
    columns.loops.push_back({n, {8 * n, 0, 0, 0, 8}});
    columns.loops.push_back({8, {1, 0, 0, 0, 1}});
    return join({rows}, {columns}, kPosition);
  };
  CHECK(boxes_for(4).size() == 1);
  CHECK(boxes_for(4).front().count() == 4 * 32);
  CHECK(boxes_for(1 << 20).size() == 1);
  CHECK(boxes_for(1 << 20).front().loops.size() == 3);
}

TEST_CASE("steps that do not divide each other repeat after their least common multiple") {
  Box sixes{{}, {}};
  sixes.loops.push_back({8'000'000, {6, 1, 0}});
  sixes.loops.push_back({6, {1, 0, 1}});
  Box eights{{}, {}};
  eights.loops.push_back({6'000'000, {8, 0, 0, 1, 0}});
  eights.loops.push_back({8, {1, 0, 0, 0, 1}});
  const Boxes both = join({sixes}, {eights}, kPosition);
  CHECK(count(both) == 48'000'000);
  CHECK(both.size() <= 6);  // 24 positions are cut at 6, 8, 12, 16 and 18
}

TEST_CASE("values of a column take no longer for loops that do not move it") {
  Box box{{}, {}};
  box.loops.push_back({3, {0, 2, 0}});
  box.loops.push_back({std::int64_t{1} << 40, {1, 0, 1}});
  CHECK(values({box}, kRank) == std::vector<std::int64_t>{0, 2, 4});
}

TEST_CASE("neighbouring boxes become one") {
  Box first{{5}, {}};
  first.loops.push_back({3, {2}});
  Box next{{11}, {}};
  next.loops.push_back({4, {2}});
  const Box last{{19}, {}};
  Boxes boxes{last, next, first};
  coalesce(boxes);
  REQUIRE(boxes.size() == 1);
  CHECK(str(boxes, kPosition) == "5+8x2");
  CHECK(str({}, kPosition) == "nothing");
}

}  // namespace boxes_test
