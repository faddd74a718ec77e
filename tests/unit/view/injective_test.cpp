// Whether a map may be written through, and whether two maps are disjoint, compared with their tables.
#include "view/stacks/injective.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "generators.hpp"
#include "oracle.hpp"
#include "small_views.hpp"

namespace injective_test {

using namespace oriel;
using detail::Distinctness;
using detail::distinctness;
using Kind = Distinctness::Kind;

namespace {

// Compares a verdict with the table. Returns whether it was decided.
bool right(std::span<const View> stack) {
  const ShapeTracker map = detail::trusted_stack(stack);
  const Distinctness got = distinctness(map);
  std::map<std::int64_t, oracle::Index> seen;
  Kind want = Kind::Distinct;
  bool invalid = false;
  for (const oracle::Index& i : oracle::indices(stack.back().shape)) {
    const oracle::Position at = oracle::evaluate(stack, i);
    invalid = invalid || !at;
    if (at && !seen.emplace(*at, i).second) want = Kind::Repeats;
  }
  CAPTURE(map.str());
  if (got.kind == Kind::Unknown) return false;
  CHECK((got.kind == Kind::Distinct) == (want == Kind::Distinct && !invalid));
  if (got.kind == Kind::Invalid) CHECK_FALSE(oracle::evaluate(stack, got.first));
  if (got.kind == Kind::Repeats) {
    CHECK(got.first != got.second);
    CHECK(oracle::evaluate(stack, got.first).value() == oracle::evaluate(stack, got.second).value());
  }
  return true;
}

}  // namespace

TEST_CASE("all small views are decided") {
  int decided = 0, all = 0;
  for (const Shape& shape : small_views::shapes()) {
    for (View view : small_views::views(shape)) {
      // Positions lie in a buffer, so none is negative.
      view.offset = 40;
      ++all;
      decided += right({&view, 1});
    }
  }
  CHECK(decided == all);
#ifdef __SANITIZE_ADDRESS__
  CHECK(all > 4'000);  // small_views.hpp has fewer strides when instrumented
#else
  CHECK(all > 10'000);
#endif
}

TEST_CASE("random views of any strides are decided") {
  generators::Generator random(7, 200);
  int repeats = 0;
  for (int k = 0; k < 20'000; ++k) {
    View view;
    view.offset = 1000;
    const std::int64_t rank = random.between(1, 4);
    for (std::int64_t d = 0; d < rank; ++d) {
      view.shape.push_back(random.between(1, 5));
      view.strides.push_back(random.between(-30, 30));
    }
    REQUIRE(right({&view, 1}));
    repeats += distinctness(ShapeTracker(view)).kind == Kind::Repeats;
  }
  CHECK(repeats > 2'000);
  CHECK(repeats < 18'000);
}

TEST_CASE("random stacks are decided") {
  generators::Generator random(11, 60);
  for (int k = 0; k < 3'000; ++k) REQUIRE(right(random.movement_stack(static_cast<std::size_t>(1 + k % 3))));
}

TEST_CASE("large views are decided by their numbers") {
  const auto kind = [](const Shape& shape, const Ints& strides) {
    return distinctness(ShapeTracker(View::make(shape, strides))).kind;
  };
  const std::int64_t n = 1 << 20;
  CHECK(kind({n, n}, {n, 1}) == Kind::Distinct);
  CHECK(kind({n, n}, {n - 1, 1}) == Kind::Repeats);
  CHECK(kind({n, n + 1}, {n + 1, n}) ==
        Kind::Distinct);  // with coprime steps the first common position is at (n, n + 1)
  CHECK(kind({n + 1, n + 2}, {n + 1, n}) == Kind::Repeats);
  CHECK(kind({n, n}, {0, 1}) == Kind::Repeats);
  CHECK(kind({1000, 1000, 1000}, {3, 3000, 3'000'000}) == Kind::Distinct);
  CHECK(kind({1000, 1000, 1000}, {3, 3000, 2'999'000}) == Kind::Distinct);
  CHECK(kind({1000, 1000, 1000}, {3, 3000, 2'998'998}) == Kind::Repeats);
  CHECK(kind({1000, 1000, 1000, 1000}, {1009, 1013, 1019, 1021}) == Kind::Repeats);  // fewer positions than indices
}

TEST_CASE("a large stack is distinct where its views are, and else not decided") {
  const ShapeTracker turned = ShapeTracker({1000, 1001}).permute({1, 0}).reshape({1001000});
  CHECK_FALSE(turned.single());
  CHECK(distinctness(turned).kind == Kind::Distinct);
  const ShapeTracker half =
      ShapeTracker({1000, 1}).expand({1000, 1001}).permute({1, 0}).reshape({1001000}).shrink({{0, 100'000}});
  CHECK(distinctness(half).kind != Kind::Distinct);
  CHECK(Distinctness{}.str() == "its indices could not be shown to stand for distinct elements");
}

TEST_CASE("verdicts in words") {
  CHECK(distinctness(ShapeTracker({1, 3}).expand({2, 3})).str() == "indices (0, 0) and (1, 0) stand for one element");
  CHECK(distinctness(ShapeTracker({3}).pad({{1, 0}})).str() == "index (0) stands for no element");
  CHECK(distinctness(ShapeTracker({3})).str().empty());
}

TEST_CASE("disjoint maps") {
  generators::Generator random(5, 60);
  int apart = 0;
  for (int k = 0; k < 10'000; ++k) {
    std::vector<ShapeTracker> maps;
    std::vector<std::set<std::int64_t>> met(2);
    for (std::size_t m = 0; m < 2; ++m) {
      View view;
      view.offset = random.between(100, 140);
      for (std::int64_t d = 0; d < 2; ++d) {
        view.shape.push_back(random.between(1, 4));
        view.strides.push_back(2 * random.between(-6, 6));
      }
      maps.emplace_back(view);
      for (const std::int64_t at : maps.back().table()) met[m].insert(at);
    }
    bool shared = false;
    for (const std::int64_t at : met[0]) shared = shared || met[1].contains(at);
    apart += !shared;
    REQUIRE(detail::disjoint(maps[0], maps[1]) == !shared);
  }
  CHECK(apart > 1'000);
  // Maps that are too large to enumerate are still told apart by ranges and residues.
  const std::int64_t n = 1 << 20;
  const auto line = [&](std::int64_t offset, std::int64_t step) {
    return ShapeTracker(View::make({n}, {step}, offset));
  };
  CHECK(detail::disjoint(line(0, 2), line(1, 2)));
  CHECK(detail::disjoint(line(0, 1), line(n, 1)));
  CHECK_FALSE(detail::disjoint(line(0, 2), line(2, 2)));
}

}  // namespace injective_test
