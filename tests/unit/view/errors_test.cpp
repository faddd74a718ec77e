// Every error of the view algebra names the operation, what was given, and what is accepted.
#include <doctest/doctest.h>

#include "oriel/error.hpp"
#include "oriel/view.hpp"

namespace errors_test {

using oriel::ArgumentError;
using oriel::OverflowError;
using oriel::ShapeError;
using oriel::ShapeTracker;
using oriel::View;

namespace {
const View kView = View::contiguous({2, 3});
constexpr std::int64_t kHuge = std::int64_t{1} << 62;
}  // namespace

TEST_CASE("contiguous and make") {
  CHECK_THROWS_WITH_AS(View::contiguous({2, -3}),
                       "contiguous: extent -3 in shape (2, -3) is negative; extents must be 0 or more", ShapeError);
  CHECK_THROWS_WITH_AS(View::contiguous({kHuge, 4}),
                       "contiguous: the element count of shape (4611686018427387904, 4) passes 2^63-1", OverflowError);
  CHECK_THROWS_WITH_AS(View::make({-1}, {1}), "view: extent -1 in shape (-1) is negative; extents must be 0 or more",
                       ShapeError);
  CHECK_THROWS_WITH_AS(View::make({2, 3}, {1}), "view: got 1 strides for shape (2, 3); give one for each of its 2 axes",
                       ShapeError);
  CHECK_THROWS_WITH_AS(View::make({2}, {1}, 0, {{0, 1}, {0, 1}}),
                       "view: got 2 mask ranges for shape (2); give one for each of its 1 axis", ShapeError);
  CHECK_THROWS_WITH_AS(View::make({2}, {1}, 0, {{0, 3}}),
                       "view: mask range 0:3 of axis 0 of shape (2) does not satisfy 0 <= lo <= hi <= 2", ShapeError);
  CHECK_THROWS_AS(View::make({2}, {1}, 0, {{-1, 1}}), ShapeError);
  CHECK_THROWS_AS(View::make({2}, {1}, 0, {{2, 1}}), ShapeError);
  CHECK_THROWS_WITH_AS(View::make({kHuge, 4}, {0, 0}),
                       "view: the element count of shape (4611686018427387904, 4) passes 2^63-1", OverflowError);
  CHECK_THROWS_WITH_AS(
      View::make({3}, {kHuge}),
      "view: size arithmetic on shape (3) overflows (view: positions of (3):(4611686018427387904) do not fit "
      "a signed 64-bit integer)",
      OverflowError);
}

TEST_CASE("permute") {
  CHECK_THROWS_WITH_AS(kView.permute({0}), "permute: got 1 axes for shape (2, 3); give one for each of its 2 axes",
                       ShapeError);
  const char* message = "permute: order (0, 0) for shape (2, 3) is not a permutation; name each axis from 0 to 1 once";
  CHECK_THROWS_WITH_AS(kView.permute({0, 0}), message, ShapeError);
  CHECK_THROWS_AS(kView.permute({0, 2}), ShapeError);
  CHECK_THROWS_AS(kView.permute({-1, 0}), ShapeError);
}

TEST_CASE("expand") {
  CHECK_THROWS_WITH_AS(kView.expand({2, 3, 4}),
                       "expand: got 3 extents for shape (2, 3); give one for each of its 2 axes", ShapeError);
  CHECK_THROWS_WITH_AS(kView.expand({2, 5}),
                       "expand: axis 1 of shape (2, 3) has extent 3 and cannot become 5; only axes of extent 1 grow",
                       ShapeError);
  CHECK_THROWS_WITH_AS(View::contiguous({1}).expand({-2}),
                       "expand: extent -2 in shape (-2) is negative; extents must be 0 or more", ShapeError);
  CHECK_THROWS_WITH_AS(View::contiguous({1, 1}).expand({kHuge, 2}),
                       "expand: the element count of shape (4611686018427387904, 2) passes 2^63-1", OverflowError);
}

TEST_CASE("shrink") {
  CHECK_THROWS_WITH_AS(kView.shrink({{0, 1}}), "shrink: got 1 ranges for shape (2, 3); give one for each of its 2 axes",
                       ShapeError);
  CHECK_THROWS_WITH_AS(kView.shrink({{0, 2}, {1, 4}}),
                       "shrink: range 1:4 of axis 1 of shape (2, 3) does not satisfy 0 <= lo <= hi <= 3", ShapeError);
  CHECK_THROWS_AS(kView.shrink({{0, 2}, {-1, 2}}), ShapeError);
  CHECK_THROWS_AS(kView.shrink({{0, 2}, {2, 1}}), ShapeError);
}

TEST_CASE("pad") {
  CHECK_THROWS_WITH_AS(kView.pad({{0, 1}}), "pad: got 1 pairs for shape (2, 3); give one for each of its 2 axes",
                       ShapeError);
  CHECK_THROWS_WITH_AS(
      kView.pad({{0, 0}, {-1, 0}}),
      "pad: amounts -1 before and 0 after axis 1 of shape (2, 3) must both be 0 or more; use shrink to cut",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      kView.pad({{0, INT64_MAX}, {0, 0}}),
      "pad: size arithmetic on shape (2, 3) overflows (add: the result for 2 and 9223372036854775807 does "
      "not fit a signed 64-bit integer)",
      OverflowError);
  CHECK_THROWS_WITH_AS(kView.pad({{0, kHuge}, {0, 0}}),
                       "pad: size arithmetic on shape (2, 3) overflows (pad: the element count of shape "
                       "(4611686018427387906, 3) passes 2^63-1)",
                       OverflowError);
}

TEST_CASE("flip") {
  const char* message = "flip: axes (2) for shape (2, 3) must each be named once and lie in 0 <= axis < 2";
  CHECK_THROWS_WITH_AS(kView.flip({2}), message, ShapeError);
  CHECK_THROWS_AS(kView.flip({-1}), ShapeError);
  CHECK_THROWS_AS(kView.flip({1, 1}), ShapeError);
  const View steep = View::make({kHuge}, {4}, 0, {{0, 2}});
  CHECK_THROWS_AS(steep.flip({0}), OverflowError);
}

TEST_CASE("reshape") {
  CHECK_THROWS_WITH_AS(kView.reshape({4, 2}),
                       "reshape: shape (2, 3) of 6 elements cannot become (4, 2) of 8; the element counts must agree",
                       ShapeError);
  CHECK_THROWS_WITH_AS(kView.reshape({-1, 2}),
                       "reshape: extent -1 in shape (-1, 2) is negative; extents must be 0 or more", ShapeError);
  CHECK_THROWS_WITH_AS(kView.reshape({kHuge, 2}),
                       "reshape: the element count of shape (4611686018427387904, 2) passes 2^63-1", OverflowError);
}

TEST_CASE("canonical") {
  const View steep = View::make({4}, {kHuge}, INT64_MIN, {{3, 4}});
  CHECK_THROWS_WITH_AS(
      steep.canonical(),
      "canonical: size arithmetic on shape (4) overflows (multiply: the result for 4611686018427387904 and 3 "
      "does not fit a signed 64-bit integer)",
      OverflowError);
}

TEST_CASE("stacks") {
  CHECK_THROWS_WITH_AS(ShapeTracker::from_views({}), "view: a stack of no views; give at least one, innermost first",
                       ShapeError);
  const View far[] = {View::contiguous({2, 3}), View::make({4}, {2})};
  const char* message =
      "view: view (4):(2) reads positions 0 to 6 of a view of shape (2, 3); they must lie in 0 <= position < 6";
  CHECK_THROWS_WITH_AS(ShapeTracker::from_views(far), message, ShapeError);
  CHECK_THROWS_WITH_AS(ShapeTracker({2, 3}).view(far[1]), message, ShapeError);
  CHECK_THROWS_WITH_AS(
      ShapeTracker({2, 3}).view(View::make({2}, {1}, -1)),
      "view: view (2):(1)-1 reads positions -1 to 0 of a view of shape (2, 3); they must lie in 0 <= position "
      "< 6",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      ShapeTracker({7}).over(View::contiguous({6})),
      "over: view (7):(1) reads positions 0 to 6 of a view of shape (6); they must lie in 0 <= position < 6",
      ShapeError);
  // Positions that a mask hides are never read.
  CHECK(ShapeTracker({2, 3}).view(View::make({4}, {2}, 0, {{0, 3}})).single());
  CHECK_THROWS_WITH_AS(ShapeTracker({100, 100}).table(9999),
                       "table: shape (100, 100) has 10000 entries; at most 9999 are listed", ArgumentError);
}

TEST_CASE("a refused movement leaves its view as it was") {
  const ShapeTracker tracker({2, 3});
  CHECK_THROWS_AS(tracker.reshape({5}), ShapeError);
  CHECK(tracker == ShapeTracker({2, 3}));
}

}  // namespace errors_test
