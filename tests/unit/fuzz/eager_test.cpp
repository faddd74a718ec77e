// The oracle, compared with cases worked out by hand.
#include "fuzz/eager.hpp"

#include <doctest/doctest.h>

namespace eager_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

constexpr std::int64_t x = kInvalid;
using Positions = std::vector<std::int64_t>;

Table run(const Case& c) {
  Eager eager;
  Table table;
  eager.run(c, table);
  return table;
}

}  // namespace

TEST_CASE("each movement by hand") {
  const auto moved = [](Movement movement) { return run({{View::contiguous({2, 3})}, {std::move(movement)}}); };
  CHECK(moved({MovementKind::Reshape, {3, 2}, {}}).at == Positions{0, 1, 2, 3, 4, 5});
  CHECK(moved({MovementKind::Reshape, {3, 2}, {}}).shape == Extents{3, 2});
  CHECK(moved({MovementKind::Permute, {1, 0}, {}}).at == Positions{0, 3, 1, 4, 2, 5});
  CHECK(moved({MovementKind::Shrink, {}, {{1, 2}, {0, 2}}}).at == Positions{3, 4});
  CHECK(moved({MovementKind::Pad, {}, {{1, 0}, {0, 1}}}).at == Positions{x, x, x, x, 0, 1, 2, x, 3, 4, 5, x});
  CHECK(moved({MovementKind::Flip, {0, 1}, {}}).at == Positions{5, 4, 3, 2, 1, 0});
  CHECK(moved({MovementKind::Flip, {1}, {}}).at == Positions{2, 1, 0, 5, 4, 3});
  const Case expanded{{View::contiguous({2, 1})}, {{MovementKind::Expand, {2, 3}, {}}}};
  CHECK(run(expanded).at == Positions{0, 0, 0, 1, 1, 1});
}

TEST_CASE("a stack by hand, from inside out") {
  // Reads 4 of 6 positions backwards; every second one is invalid in the inner view.
  const View inner = View::make({3, 2}, {2, 1}, 0, {{0, 3}, {1, 2}});
  const View outer = View::make({4}, {-1}, 4);
  CHECK(run({{inner, outer}, {}}).at == Positions{x, 3, x, 1});
  CHECK(run({{View::make({2}, {5}, 1), View::make({3}, {0}, 1)}, {}}).at == Positions{6, 6, 6});
}

TEST_CASE("scalars and extents of 0") {
  CHECK(run({{View::contiguous({})}, {}}).at == Positions{0});
  CHECK(run({{View::contiguous({})}, {{MovementKind::Reshape, {1, 1}, {}}}}).at == Positions{0});
  CHECK(run({{View::contiguous({2, 0})}, {}}).at.empty());
  CHECK(run({{View::contiguous({2, 0})}, {{MovementKind::Pad, {}, {{0, 0}, {1, 0}}}}}).at == Positions{x, x});
}

TEST_CASE("fit finds the one view of a table, in canonical form, or none") {
  Eager eager;
  const auto fit = [&eager](Extents shape, Positions at) { return eager.fit({std::move(shape), std::move(at)}); };
  CHECK(*fit({2, 3}, {0, 1, 2, 3, 4, 5}) == View::contiguous({2, 3}));
  CHECK(*fit({4}, {x, 1, 0, x}) == View::make({4}, {-1}, 2, {{1, 3}}));
  CHECK(*fit({2, 2}, {x, x, x, 7}) == View::make({2, 2}, {0, 0}, 7, {{1, 2}, {1, 2}}));
  CHECK(*fit({2}, {x, x}) == View::make({2}, {0}, 0, {{0, 0}}));
  CHECK(*fit({}, {9}) == View::make({}, {}, 9));
  CHECK(*fit({0}, {}) == View::make({0}, {0}));
  CHECK_FALSE(fit({}, {x}));
  CHECK_FALSE(fit({3}, {0, 1, 3}));
  CHECK_FALSE(fit({3}, {0, x, 2}));
  CHECK_FALSE(fit({2, 2}, {0, 1, 1, 3}));
  CHECK_FALSE(fit({2, 2}, {x, 1, 2, x}));
}

TEST_CASE("one index of a huge stack") {
  const std::int64_t k = std::int64_t{1} << 31;
  const View inner = View::make({k, k}, {1, k});
  const View outer = View::make({k * k - 5}, {1}, 5);
  const View stack[] = {inner, outer};
  CHECK(position(stack, {k}) == 5 * k + 1);
  CHECK(position(stack, {k * k - 6}) == k * k - 1);
  const View masked[] = {View::make({k, k}, {1, k}, 0, {{0, k}, {0, 5}}), outer};
  CHECK(position(masked, {k}) == kInvalid);
}

}  // namespace eager_test
