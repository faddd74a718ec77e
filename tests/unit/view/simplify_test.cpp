// simplify keeps the map of a stack, and a stack that equals a single view becomes that view.
#include <doctest/doctest.h>

#include <chrono>

#include "generators.hpp"
#include "oracle.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace simplify_test {

using oriel::ShapeTracker;
using oriel::View;

TEST_CASE("stacks of three and four views keep their map and miss no single view") {
  generators::Generator generator(5, 48);
  int single = 0;
  constexpr int kCount = 15'000;
  for (int k = 0; k < kCount; ++k) {
    const std::vector<View> stack = generator.movement_stack(k % 2 == 0 ? 3 : 4);
    const ShapeTracker tracker = ShapeTracker::from_views(stack);
    const ShapeTracker simple = tracker.simplify();
    const auto positions = oracle::table(stack);
    if (oracle::table(simple.views()) != positions) FAIL(tracker.str() << " became " << simple.str());
    const std::optional<View> expected = oracle::fit(stack.back().shape, positions);
    if (expected && !simple.single()) FAIL(tracker.str() << " is " << expected->str() << ", not " << simple.str());
    if (simple.single()) CHECK(simple.views()[0] == expected);
    for (const View& view : simple.views()) CHECK(view == view.canonical());
    if (!(simple.simplify() == simple)) FAIL(simple.str() << " became " << simple.simplify().str());
    single += simple.single();
  }
  CHECK(single > kCount / 2);
  CHECK(single < kCount);
}

TEST_CASE("a scalar stack is one view, or two where it is invalid") {
  const ShapeTracker padded = ShapeTracker({2, 3}).pad({{1, 1}, {0, 0}}).reshape({12});
  CHECK(padded.shrink({{4, 5}}).reshape({}).simplify().str() == "():()+1");
  const ShapeTracker invalid = padded.shrink({{0, 1}}).reshape({}).simplify();
  CHECK(invalid.str() == "():() over (1):(0)[0:0)");
  CHECK_FALSE(invalid.at({}).has_value());
  CHECK(invalid.table() == std::vector<std::int64_t>{-1});
  CHECK(invalid.simplify() == invalid);
}

TEST_CASE("narrowing lets a stuck stack merge, and masks that are never met are dropped") {
  const View stack[] = {View::contiguous({4, 4}).permute({1, 0}).pad({{0, 1}, {0, 0}}), View::contiguous({20}),
                        View::make({4}, {1}, 4)};
  CHECK(ShapeTracker::from_views(stack).simplify().str() == "(4):(4)+1");
  const View two[] = {View::contiguous({4, 4}).permute({1, 0}).pad({{0, 1}, {0, 0}}), View::make({16}, {1})};
  CHECK(ShapeTracker::from_views(two).simplify().str() == "(16):(1) over (5,4):(1,4)");
}

TEST_CASE("no adjacent pair merges, but the whole does") {
  const ShapeTracker tracker = ShapeTracker({2}).pad({{1, 1}}).reshape({2, 2}).permute({1, 0}).reshape({4});
  CHECK(tracker.views().size() == 3);
  CHECK(tracker.simplify().str() == "(4):(-1)+2[1:3)");
}

TEST_CASE("from_views accepts the stacks that simplify returns") {
  // The middle view's mask keeps its positions inside the view below, but the outer view never reaches beyond it
  // anyway.
  const View views[] = {View::make({3, 5}, {0, 1}), View::make({7, 3}, {2, 1}, -3, {{1, 7}, {1, 3}}),
                        View::make({5}, {1}, 7)};
  const auto stack = oriel::ShapeTracker::from_views(views);
  const auto simple = stack.simplify();
  REQUIRE_FALSE(simple.single());
  CHECK(oriel::ShapeTracker::from_views(simple.views()).table() == stack.table());
  CHECK(oriel::ShapeTracker::from_views(stack.canonical().views()).table() == stack.table());
}

TEST_CASE("a tall stack of views that do not merge is left alone soon") {
  // Trying all runs of views would take a minute.
  std::vector<View> views{View::contiguous({240})};
  for (int k = 0; k < 1200; ++k) views.push_back(View::make({15, 16}, {7, 8}, 5 + k % 3, {{1, 14}, {0, 16}}));
  const auto start = std::chrono::steady_clock::now();
  const ShapeTracker simple = ShapeTracker::from_views(views).simplify();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  CHECK(simple.views().size() > 100);
}

TEST_CASE("a view that is cut to a range keeps every position in it, and tells whether one is left outside") {
  View image = View::make({3, 30, 8}, {1, 24, 3}, -6, {{0, 3}, {0, 30}, {2, 8}});
  CHECK(oriel::detail::cut_to(image, 29 * 24 - 6));
  CHECK(image.str() == "(3,30,8):(1,24,3)-6[0:3,0:29,2:8)");
  // Neither digit of (2,2):(3,-2) goes outside for both values of the other digit.
  View crossed = View::make({2, 2}, {3, -2});
  CHECK_FALSE(oriel::detail::cut_to(crossed, 2));

  generators::Generator generator(7, 24);
  int inside = 0;
  int cut = 0;
  for (int k = 0; k < 5000; ++k) {
    const View whole = generator.movement_stack(2).front();
    for (const std::int64_t count : {0, 1, 3, 7, 12, 100}) {
      View view = whole;
      const bool fits = oriel::detail::cut_to(view, count);
      if (!fits) CHECK(view == whole);
      if (fits) CHECK(oriel::detail::lies_inside(view, View::contiguous({count})));
      inside += fits;
      cut += fits && !(view == whole);
      for (const oracle::Index& i : oracle::indices(whole.shape)) {
        const oracle::Position before = oracle::evaluate(whole, i);
        if (before && *before >= 0 && *before < count && oracle::evaluate(view, i) != before) FAIL(whole.str());
      }
    }
  }
  CHECK(inside > 10'000);
  CHECK(cut > 1000);
}

}  // namespace simplify_test
