// Refinement, compared with every split of small shapes; and one form for equal maps.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "generators.hpp"
#include "oracle.hpp"

namespace refine_test {

using oriel::Ints;
using oriel::Refinement;
using oriel::Shape;
using oriel::ShapeTracker;
using oriel::View;

namespace {

using Positions = std::vector<oracle::Position>;
using Split = std::vector<Ints>;

/// All ways to write `extent` as an ordered product of factors of at least 2; {1} for 1.
std::vector<Ints> factorisations(std::int64_t extent) {
  std::vector<Ints> all{{extent}};
  for (std::int64_t f = 2; f < extent; ++f) {
    if (extent % f != 0) continue;
    for (const Ints& rest : factorisations(extent / f)) {
      Ints whole{f};
      whole.insert(whole.end(), rest.begin(), rest.end());
      all.push_back(whole);
    }
  }
  return all;
}

std::vector<Split> all_splits(const Shape& shape) {
  std::vector<Split> splits{{}};
  for (const oriel::SymInt extent : shape) {
    std::vector<Split> longer;
    for (const Split& split : splits) {
      for (const Ints& pieces : factorisations(extent.value())) {
        longer.push_back(split);
        longer.back().push_back(pieces);
      }
    }
    splits = std::move(longer);
  }
  return splits;
}

Shape joined(const Split& split) {
  Shape shape;
  for (const Ints& pieces : split) shape.insert(shape.end(), pieces.begin(), pieces.end());
  return shape;
}

/// Is every cut between pieces of `coarse` also a cut of `fine`?
bool cuts_further(const Ints& fine, const Ints& coarse) {
  std::size_t k = fine.size();
  for (std::size_t c = coarse.size(); c-- > 0;) {
    std::int64_t product = 1;
    while (product < coarse[c].value() && k > 0) product *= fine[--k].value();
    if (product != coarse[c].value()) return false;
  }
  return true;
}

std::string text(const Split& split) {
  std::string all;
  for (const Ints& pieces : split) all += to_string(pieces) + " ";
  return all;
}

/// Is there a view of the same element count with this map of flat indices?
bool flat_map_is_view(const Shape& shape, const Positions& positions) {
  const std::vector<Ints> flat = factorisations(numel(shape).value());
  return std::any_of(flat.begin(), flat.end(),
                     [&](const Ints& split) { return oracle::fit(split, positions).has_value(); });
}

struct Counts {
  int several = 0;  // stacks that are not a single view
  int refined = 0;
};

/// Compares refine() with every split. Stacks that are a single view are only compared with that view.
void check_refinement(const std::vector<View>& stack, Counts& counts) {
  const ShapeTracker tracker = oriel::detail::trusted_stack(stack);
  const std::optional<Refinement> found = tracker.refine();
  const Shape& shape = tracker.shape();
  const Positions positions = oracle::table(stack);
  if (std::optional<View> itself = oracle::fit(shape, positions)) {
    REQUIRE(found.has_value());
    CHECK(found->view == *itself);
    CHECK(joined(found->pieces) == shape);
    return;
  }
  ++counts.several;
  std::optional<std::size_t> fewest;
  for (const Split& split : all_splits(shape)) {
    const Shape fine = joined(split);
    const std::optional<View> expected = oracle::fit(fine, positions);
    if (!expected) continue;
    if (!found) FAIL(tracker.str() << " is one view under " << text(split));
    fewest = std::min(fewest.value_or(fine.size()), fine.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!cuts_further(split[d], found->pieces[d]))
        FAIL(tracker.str() << ": " << text(split) << " does not cut " << text(found->pieces));
    }
    if (found->view.shape == fine && !(found->view == *expected))
      FAIL(tracker.str() << " is " << expected->str() << ", not " << found->view.str());
  }
  if (!found) return;
  ++counts.refined;
  if (!fewest) FAIL(tracker.str() << " has no refinement, not " << found->view.str());
  CHECK(*fewest == joined(found->pieces).size());
  CHECK(found->view.shape == joined(found->pieces));
  CHECK(found->pieces.size() == shape.size());
}

}  // namespace

TEST_CASE("a refinement is found exactly if some split makes one view, and has the fewest pieces") {
#ifdef __SANITIZE_ADDRESS__
  constexpr int share = 4;  // instrumented code takes ten times as long
#else
  constexpr int share = 1;
#endif
  Counts counts;
  generators::Generator generator(11, 48);
  for (int k = 0; k < 12'000 / share; ++k)
    check_refinement(generator.movement_stack(2 + static_cast<std::size_t>(k) % 3), counts);
  for (int k = 0; k < 8'000 / share; ++k) {
    const generators::Pair pair = k % 2 == 0 ? generator.raw_pair() : generator.accident_pair();
    check_refinement({pair.inner, pair.outer}, counts);
  }
  MESSAGE(counts.several << " stacks of several views, " << counts.refined << " refine");
  CHECK(counts.several > 4'000 / share);
  CHECK(counts.refined > 1'000 / share);
}

TEST_CASE("huge axes are split without being walked") {
  constexpr std::int64_t k = 1 << 20;
  const auto refined = [](const ShapeTracker& tracker) {
    const auto start = std::chrono::steady_clock::now();
    const std::optional<Refinement> found = tracker.refine();
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
    return found ? text(found->pieces) + found->view.str() : "none";
  };
  const ShapeTracker turned = ShapeTracker({k, k}).permute({1, 0});
  CHECK(refined(turned.reshape({k * k})) == "(1048576, 1048576) (1048576,1048576):(1,1048576)");
  CHECK(refined(turned.pad({{k, 0}, {0, 0}}).reshape({2 * k * k})) ==
        "(2097152, 1048576) (2097152,1048576):(1,1048576)-1048576[1048576:2097152,0:1048576)");
  CHECK(refined(ShapeTracker({999'983, 1'000'003}).permute({1, 0}).flip({0}).reshape({999'985'999'949})) ==
        "(1000003, 999983) (1000003,999983):(-1,1000003)+1000002");
  // With one index less, no block size divides the axis.
  CHECK(refined(turned.reshape({k * k}).shrink({{1, k * k}})) == "none");
  CHECK(refined(turned.reshape({4, k * k / 4}).expand({4, k * k / 4}).shrink({{0, 4}, {0, k}})) ==
        "(4) (1048576) (4,1048576):(262144,1048576)");
}

TEST_CASE("three views whose flat map is one view become two") {
  int shortened = 0;
  generators::Generator generator(23, 24);
  for (int k = 0; k < 12'000; ++k) {
    const std::vector<View> stack = generator.movement_stack(3 + static_cast<std::size_t>(k) % 2);
    const ShapeTracker simple = ShapeTracker::from_views(stack).simplify();
    const ShapeTracker again = simple.simplify();
    if (!(again == simple)) FAIL(simple.str() << " became " << again.str());
    if (simple.single()) continue;
    const Positions positions = oracle::table(stack);
    CHECK(oracle::table(simple.views()) == positions);
    if (!flat_map_is_view(simple.shape(), positions)) continue;
    ++shortened;
    if (simple.views().size() > 2) FAIL(simple.str() << " is two views");
  }
  CHECK(shortened > 200);
}

TEST_CASE("equal maps have equal forms where the flat map is one view, and mostly elsewhere") {
  struct Forms {
    std::map<std::string, double> count;
    bool complete = false;
  };
  using Map = std::pair<std::string, Positions>;  // of raw views a position may be -1, as table() writes invalid
  double pairs = 0;
  double apart = 0;
  int complete = 0;
  for (const int most : {3, 4, 8}) {
    std::map<Map, Forms> maps;
    generators::Generator generator(17, most);
    for (int k = 0; k < 45'000; ++k) {
      std::vector<View> stack = generator.movement_stack(2 + static_cast<std::size_t>(k) % 3);
      if (k % 6 == 0) {
        const generators::Pair raw = generator.raw_pair();
        stack = {raw.inner, raw.outer};
      }
      const ShapeTracker tracker = ShapeTracker::from_views(stack);
      const ShapeTracker form = tracker.canonical();
      const Positions positions = oracle::table(stack);
      if (oracle::table(form.views()) != positions) FAIL(tracker.str() << " became " << form.str());
      if (!(form.canonical() == form)) FAIL(form.str() << " became " << form.canonical().str());
      if (form.single()) continue;
      Forms& forms = maps[{to_string(tracker.shape()), positions}];
      if (forms.count.empty()) forms.complete = flat_map_is_view(tracker.shape(), positions);
      ++forms.count[form.str()];
      if (forms.complete && forms.count.size() > 1)
        FAIL(form.str() << " and " << forms.count.begin()->first << " are one map");
    }
    for (const auto& [map, forms] : maps) {
      double all = 0;
      double same = 0;
      for (const auto& [form, count] : forms.count) {
        all += count;
        same += count * (count - 1) / 2;
      }
      if (forms.complete && all > 1) ++complete;
      if (forms.complete) continue;
      pairs += all * (all - 1) / 2;
      apart += all * (all - 1) / 2 - same;
    }
  }
  MESSAGE("other maps: " << apart << " of " << pairs << " pairs of stacks with one map have two forms");
  CHECK(complete > 200);
  CHECK(pairs > 15);
  CHECK(apart < 0.2 * pairs);
}

TEST_CASE("stacks whose flat map is no view have one form where steps, masks or blocks are only written differently") {
  const auto form = [](const View& outer, const View& inner) {
    const View stack[] = {inner, outer};
    const ShapeTracker tracker = ShapeTracker::from_views(stack);
    const ShapeTracker canonical = tracker.canonical();
    CHECK(canonical.table() == tracker.table());
    CHECK(canonical.views().size() == 2);
    return canonical.str();
  };
  const std::string steps = form(View::make({5}, {1}, 1), View::make({4, 2}, {1, 6}));
  CHECK(form(View::make({5}, {2}, 2), View::make({4, 4}, {1, 3})) == steps);        // residues that no step meets
  CHECK(form(View::make({5}, {1}, 5), View::make({6, 2}, {1, 6}, -2)) == steps);    // rows that no index reaches
  CHECK(form(View::make({5}, {-1}, 6), View::make({4, 2}, {-1, -6}, 9)) == steps);  // read from the end
  CHECK(form(View::make({5}, {1}, 1), View::make({2, 2, 2}, {2, 1, 6})) == steps);  // blocks in two pieces
  const std::string masks = form(View::make({7}, {1}, 1), View::make({3, 3}, {1, 0}, 0, {{0, 3}, {1, 2}}));
  CHECK(form(View::make({7}, {1}, 2), View::make({3, 3}, {1, 0}, 0, {{0, 3}, {2, 3}})) == masks);
}

}  // namespace refine_test
