// What the scheduler asks of maps, and the maps it makes of others, compared with tables of all small views.
#include "view/stacks/questions.hpp"

#include <doctest/doctest.h>

#include <set>

#include "oracle.hpp"
#include "oriel/shape_env.hpp"
#include "small_views.hpp"
#include "view/stacks/index_maps.hpp"

namespace questions_test {

using namespace oriel;

namespace {

template <class Check>
void each_view(const Check& check) {
  for (const Shape& shape : small_views::shapes())
    for (const View& view : small_views::views(shape)) check(view, detail::trusted_stack({&view, 1}));
}

// The indices at which the other index, one further along the axis, exists as well.
template <class Differ>
bool some_neighbours(const View& view, std::size_t axis, const Differ& differ) {
  for (oracle::Index i : oracle::indices(view.shape)) {
    if (i[axis] + 1 == view.shape[axis].value()) continue;
    const oracle::Position here = oracle::evaluate(view, i);
    ++i[axis];
    if (differ(here, oracle::evaluate(view, i))) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("axes along which neighbours differ") {
  std::size_t constant = 0;
  each_view([&](const View& raw, const ShapeTracker&) {
    const View view = raw.canonical();
    const ShapeTracker map = detail::trusted_stack({&view, 1});
    CAPTURE(map.str());
    for (std::size_t d = 0; d < view.rank(); ++d) {
      const bool differ = some_neighbours(view, d, [](const auto& a, const auto& b) { return a != b; });
      const bool move = some_neighbours(view, d, [](const auto& a, const auto& b) { return a && b && *a != *b; });
      // A map that is valid nowhere may answer either way.
      if (differ) CHECK(detail::changes_along(map, d));
      if (detail::changes_along(map, d)) CHECK(detail::depends_on(map, d));
      if (move) CHECK(detail::moves_along(map, d));
      if (!detail::depends_on(map, d)) {
        CHECK_FALSE(differ);
        ++constant;
      }
    }
    CHECK_FALSE(detail::changes_along(map, view.rank()));
    CHECK(detail::masked(map) == view.masked());
  });
  CHECK(constant > 100);
}

TEST_CASE("steps that nest, and elements that are met") {
  std::size_t nested = 0;
  each_view([&](const View& view, const ShapeTracker& map) {
    CAPTURE(map.str());
    std::set<std::int64_t> met;
    std::size_t valid = 0;
    for (const oracle::Index& i : oracle::indices(view.shape)) {
      const oracle::Position at = oracle::evaluate(view, i);
      valid += at.has_value();
      if (at) met.insert(*at);
    }
    CHECK(static_cast<double>(met.size()) <= detail::distinct_elements(map) + (view.rank() == 0));
    if (!detail::steps_nest(map, std::vector<bool>(view.rank(), true))) return;
    CHECK(met.size() == valid);
    ++nested;
  });
  CHECK(nested > 100);
}

TEST_CASE("the longer steps, runs, and rows") {
  const auto map = [](Shape shape, Ints strides, SymInt offset = 0, Ranges mask = {}) {
    const View view{std::move(shape), std::move(strides), offset, std::move(mask)};
    return detail::trusted_stack({&view, 1});
  };
  const ShapeTracker rows = map({4, 3, 5}, {-15, 5, 1}, 45);
  CHECK(detail::longer_steps(rows, 0, 1) == 1);
  CHECK(detail::longer_steps(rows, 2, 1) == -1);
  CHECK(detail::longer_steps(map({4, 3}, {0, 2}), 0, 1) == 0);
  CHECK(detail::longer_steps(map({4, 3}, {-2, 2}, 6), 0, 1) == 0);
  CHECK(detail::estimated_step(rows, 0) == 15);
  CHECK(detail::walks_runs(rows));
  CHECK_FALSE(detail::walks_runs(map({4, 3}, {1, 4})));
  CHECK_FALSE(detail::walks_runs(map({4, 3}, {3, 1}, 0, {{0, 4}, {1, 3}})));
  CHECK(detail::repeats_or_follows(rows, 2));
  CHECK(detail::repeats_or_follows(map({4, 3}, {0, 2}), 0));
  CHECK_FALSE(detail::repeats_or_follows(rows, 1));
  CHECK(detail::moves_everywhere(rows));
  CHECK(detail::moves_everywhere(map({1, 3}, {0, 2})));
  CHECK_FALSE(detail::moves_everywhere(map({4, 3}, {0, 2})));

  using Rows = Ints;
  CHECK(detail::rows_per_step(map({4, 3, 5}, {30, 15, 1}), 2, 15) == Rows{2, 1});
  CHECK(detail::rows_per_step(map({4, 3, 5}, {15, 5, 1}), 2, 15) == Rows{1, 0});
  CHECK_FALSE(detail::rows_per_step(map({4, 5}, {16, 1}), 1, 15));       // a row and an element
  CHECK_FALSE(detail::rows_per_step(map({4, 5}, {15, 4}), 1, 15));       // leaves its row
  CHECK_FALSE(detail::rows_per_step(map({4, 5}, {15, 1}, 15), 1, 15));   // begins at the second row
  CHECK_FALSE(detail::rows_per_step(map({4, 5}, {-15, 1}, 45), 1, 15));  // and ends before it
}

TEST_CASE("windows that a map reads") {
  const ShapeTracker side_by_side = ShapeTracker({8, 6}).reshape({4, 2, 3, 2}).permute({0, 2, 1, 3});
  const auto pools = detail::window_walk(side_by_side, {false, false, true, true}, 1);
  REQUIRE(pools);
  CHECK(pools->across == 2);
  CHECK(pools->step == 2);
  CHECK(pools->points == 48);
  CHECK(pools->distinct == 48);
  const View sliding{{6, 3}, {1, 1}, 0, {}};
  const auto overlapping = detail::window_walk(ShapeTracker(sliding), {false, true}, 0);
  REQUIRE(overlapping);
  CHECK(overlapping->across == 1);
  CHECK(overlapping->step == 1);
  CHECK(overlapping->points == 18);
  CHECK(overlapping->distinct == 8);
  CHECK_FALSE(detail::window_walk(ShapeTracker(sliding), {false, false}, 0));
  CHECK_FALSE(detail::window_walk(ShapeTracker({3, 1}).expand({3, 4}), {true, false}, 1));
}

TEST_CASE("axes that are kept, joined and dropped") {
  std::size_t joins = 0;
  each_view([&](const View& raw, const ShapeTracker&) {
    const View view = raw.canonical();
    const ShapeTracker map = detail::trusted_stack({&view, 1});
    CAPTURE(map.str());
    std::vector<bool> keep;
    for (std::size_t d = 0; d < view.rank(); ++d) keep.push_back(detail::depends_on(map, d));
    const ShapeTracker kept = detail::kept_axes(map, keep);
    const ShapeTracker dropped = detail::drop_axes(map, 0, [&] {
      std::vector<bool> longer;
      for (const SymInt n : view.shape) longer.push_back(n != 1);
      return longer;
    }());
    for (const oracle::Index& i : oracle::indices(view.shape)) {
      oracle::Index of_kept, of_dropped;
      for (std::size_t d = 0; d < view.rank(); ++d) {
        if (keep[d]) of_kept.push_back(i[d]);
        if (view.shape[d] != 1) of_dropped.push_back(i[d]);
      }
      CHECK(oracle::evaluate(kept.views(), of_kept) == oracle::evaluate(view, i));
      CHECK(oracle::evaluate(dropped.views(), of_dropped) == oracle::evaluate(view, i));
    }
    for (std::size_t d = 0; d + 1 < view.rank(); ++d) {
      if (!detail::axes_join(map, d)) continue;
      ++joins;
      const ShapeTracker joined = detail::join_axes(map, d, view.shape[d] * view.shape[d + 1]);
      CHECK(joined.single());
      CHECK(joined.table() == map.table());
    }
  });
  CHECK(joins > 100);
}

TEST_CASE("the map of what a reduction reads") {
  // Results (2, 3) of a source (2, 4, 3) whose axis 1 is reduced, read backwards.
  const ShapeTracker results = ShapeTracker({2, 3}).flip({0, 1});
  const ShapeTracker source = detail::into_reduction(results, {2, 4, 3}, {1});
  CHECK(source.shape() == Shape{2, 3, 4});
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      for (std::int64_t r = 0; r < 4; ++r)
        CHECK(source.at(std::vector<std::int64_t>{i, j, r}) == (1 - i) * 12 + r * 3 + (2 - j));
  CHECK(detail::always_first({2, 2}).table() == std::vector<std::int64_t>{0, 0, 0, 0});
  CHECK(detail::in_memory(results, {2, 3}, {1, 2}).table() == std::vector<std::int64_t>{5, 3, 1, 4, 2, 0});
}

TEST_CASE("windows over a padded axis are one view under no split of their axes") {
  std::size_t never = 0, asked = 0;
  const auto check = [&](const View& below, const View& above) {
    const View stack[] = {below, above};
    const ShapeTracker map = detail::trusted_stack(stack);
    CAPTURE(map.str());
    ++asked;
    if (!detail::never_one_view(map)) return;
    ++never;
    CHECK_FALSE(map.simplify().single());
    CHECK_FALSE(map.refine());
  };
  for (std::int64_t n = 1; n < 6; ++n)
    for (std::int64_t before = 0; before < 4; ++before)
      for (std::int64_t after = 0; after < 4; ++after)
        for (std::int64_t size = 1; size < 5; ++size)
          for (std::int64_t step = 1; step < 4; ++step) {
            const std::int64_t all = before + n + after;
            if (size > all) continue;
            const std::int64_t windows = (all - size) / step + 1;
            check(View::contiguous({n}).pad({{before, after}}), View::make({windows, size}, {step, 1}));
            check(View::contiguous({2, n}).pad({{0, 0}, {before, after}}),
                  View::make({2, windows, size}, {all, step, 1}));
            check(View::contiguous({n, 3}).pad({{before, after}, {1, 0}}),
                  View::make({windows, 3, size, 2}, {4 * step, 1, 4, 1}));
          }
  CHECK(never > 300);
  CHECK(never < asked);
  // For all sizes, without a guard.
  ShapeEnv env;
  const SymInt n = env.symbol("n", 7, {2, {}}), m = env.symbol("m", 5, {2, {}});
  const View stack[] = {View::contiguous({n, m}).pad({{1, 1}, {1, 1}}), View::make({n, m, 3, 3}, {m + 2, 1, m + 2, 1})};
  CHECK(detail::never_one_view(detail::trusted_stack(stack)));
  CHECK(env.guards().empty());
}

}  // namespace questions_test
