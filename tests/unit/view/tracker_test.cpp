// Stacks: movements on the outermost view, composition, tables and contiguity.
#include <doctest/doctest.h>

#include "generators.hpp"
#include "oracle.hpp"

namespace tracker_test {

using oriel::ShapeTracker;
using oriel::View;

TEST_CASE("a reshape that one view cannot say adds a view, and undoing it takes it away") {
  const ShapeTracker crossed = ShapeTracker({2, 3}).permute({1, 0});
  const ShapeTracker flat = crossed.reshape({6});
  CHECK(flat.str() == "(6):(1) over (3,2):(1,3)");
  CHECK(flat.reshape({2, 3}).str() == "(2,3):(3,1) over (3,2):(1,3)");
  CHECK(flat.reshape({3, 2}) == crossed);
  CHECK(crossed.reshape({3, 1, 2}).str() == "(3,1,2):(1,0,3)");
}

TEST_CASE("view reads a tracker through a raw view") {
  const ShapeTracker tracker = ShapeTracker({3, 4}).permute({1, 0});
  const View raw = View::make({2, 2}, {-6, 3}, 7);
  const ShapeTracker read = tracker.view(raw);
  for (const oracle::Index& i : oracle::indices({2, 2})) {
    CHECK(read.at(i) == tracker.at(oracle::unravel(*raw.at(i), tracker.shape())));
  }
  CHECK(ShapeTracker({12}).view(raw).single());
  CHECK(ShapeTracker({3, 4}).permute({1, 0}).view(View::contiguous({12})).views().size() == 2);
}

TEST_CASE("over puts a tracker on top of another") {
  generators::Generator generator(21, 40);
  for (int k = 0; k < 2'000; ++k) {
    const std::vector<View> stack = generator.movement_stack(4);
    const auto lower = ShapeTracker::from_views(std::span(stack).first(2));
    const auto upper = ShapeTracker::from_views(std::span(stack).last(2));
    CHECK(upper.over(lower) == ShapeTracker::from_views(stack));
    CHECK(ShapeTracker(stack[1]).over(stack[0]) == lower);
  }
}

TEST_CASE("table lists positions in row-major order") {
  const ShapeTracker tracker = ShapeTracker({2, 2}).permute({1, 0}).pad({{0, 0}, {1, 0}}).reshape({3, 2});
  CHECK(tracker.table() == std::vector<std::int64_t>{-1, 0, 2, -1, 1, 3});
  CHECK(ShapeTracker(oriel::Shape{}).table() == std::vector<std::int64_t>{0});
  CHECK(ShapeTracker({0, 2}).table().empty());
}

TEST_CASE("contiguity of a stack is that of its table") {
  generators::Generator generator(22, 24);
  int contiguous = 0;
  for (int k = 0; k < 5'000; ++k) {
    const auto tracker = ShapeTracker::from_views(generator.movement_stack(static_cast<std::size_t>(1 + k % 4)));
    const auto positions = oracle::table(tracker.views());
    bool identity = true;
    for (std::size_t n = 0; n < positions.size(); ++n)
      identity = identity && positions[n] == static_cast<std::int64_t>(n);
    if (tracker.is_contiguous() != identity) FAIL(tracker.str());
    contiguous += identity;
  }
  CHECK(contiguous > 50);
  const std::int64_t huge = std::int64_t{1} << 31;
  CHECK(ShapeTracker({huge, huge}).reshape({huge / 2, 2 * huge}).is_contiguous());
  CHECK_FALSE(ShapeTracker({huge, huge}).permute({1, 0}).reshape({huge / 2, 2 * huge}).is_contiguous());
}

TEST_CASE("equal trackers hash alike") {
  const ShapeTracker a = ShapeTracker({2, 3}).permute({1, 0}).reshape({6});
  const ShapeTracker b = ShapeTracker({2, 3}).flip({0}).flip({0}).permute({1, 0}).reshape({6});
  CHECK(a == b);
  CHECK(hash_value(a) == hash_value(b));
  CHECK(hash_value(a) != hash_value(ShapeTracker({6})));
}

}  // namespace tracker_test
