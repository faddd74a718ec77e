// The iteration domain: loops are split for stacks of views if the split pays for all operands together.
#include "schedule/domain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

namespace domain_test {

using namespace oriel;
using schedule::Domain;
using schedule::kOuterOnly;
using schedule::Operand;

namespace {

using Points = std::vector<std::vector<std::int64_t>>;

/// For each point of outer ++ inner[group], the operands' positions, unordered. A split must not change these.
Points points(const Domain& domain, int group) {
  Points all;
  for (const Operand& o : domain.operands) {
    if (o.group != group) continue;
    const std::vector<std::int64_t> table = o.tracker.table();
    all.resize(table.size());
    for (std::size_t n = 0; n < table.size(); ++n) all[n].push_back(table[n]);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::size_t> view_counts(const Domain& domain) {
  std::vector<std::size_t> counts;
  for (const Operand& o : domain.operands) counts.push_back(o.tracker.views().size());
  return counts;
}

/// x in blocks of `shape`: each pair of neighbouring axes is swapped and then joined. The result has two axes.
ShapeTracker blocks_turned(const Shape& shape) {
  return ShapeTracker(shape).permute({1, 0, 3, 2}).reshape({shape[0] * shape[1], shape[2] * shape[3]}).simplify();
}

Operand load(ShapeTracker tracker, int group = kOuterOnly) { return {group, std::move(tracker), false, 4}; }
Operand store(const Shape& shape) { return {kOuterOnly, ShapeTracker(shape), true, 4}; }

}  // namespace

TEST_CASE("all axes that a stack needs are split at once") {
  Domain domain{{6, 20}, {}, {load(blocks_turned({2, 3, 4, 5})), store({6, 20})}};
  REQUIRE(domain.operands[0].tracker.views().size() == 2);
  const Points before = points(domain, kOuterOnly);
  CHECK(normalise(domain).refined);
  CHECK(view_counts(domain) == std::vector<std::size_t>{1, 1});
  CHECK(numel(domain.outer) == 120);
  CHECK(domain.outer.size() == 4);
  CHECK(points(domain, kOuterOnly) == before);
}

TEST_CASE("a split that another operand pays for is left undone") {
  // The mask [1, 5) is not a box of the pieces (3, 2).
  const ShapeTracker masked = ShapeTracker({4, 20}).pad({{1, 1}, {0, 0}});
  Domain domain{{6, 20}, {}, {load(blocks_turned({2, 3, 4, 5})), load(masked), store({6, 20})}};
  const Points before = points(domain, kOuterOnly);
  CHECK_FALSE(normalise(domain).refined);
  CHECK(view_counts(domain) == std::vector<std::size_t>{2, 1, 1});
  CHECK(points(domain, kOuterOnly) == before);

  // Two stacks that need it outweigh the mask.
  Domain more{{6, 20},
              {},
              {load(blocks_turned({2, 3, 4, 5})), load(blocks_turned({2, 3, 4, 5})), load(masked), store({6, 20})}};
  CHECK(normalise(more).refined);
  CHECK(view_counts(more) == std::vector<std::size_t>{1, 1, 2, 1});
}

TEST_CASE("inner loops are split for their own stage only") {
  const ShapeTracker other = ShapeTracker({6, 7});
  Domain domain{{6}, {{20}, {7}}, {load(blocks_turned({2, 3, 4, 5}), 0), load(other, 1), store({6})}};
  const std::array<Points, 3> before{points(domain, 0), points(domain, 1), points(domain, kOuterOnly)};
  CHECK(normalise(domain).refined);
  CHECK(view_counts(domain) == std::vector<std::size_t>{1, 1, 1});
  CHECK(domain.outer.size() == 2);
  CHECK(domain.inner[0] == Ints{20});  // read in the order of memory, and therefore joined again
  CHECK(domain.inner[1] == Ints{7});
  CHECK(std::array<Points, 3>{points(domain, 0), points(domain, 1), points(domain, kOuterOnly)} == before);
}

TEST_CASE("a stack that no split makes one view may lose some of its views") {
  const View views[] = {View::make({8}, {1}, -1, {{1, 7}}), View::make({4, 2}, {1, 4}), View::contiguous({8})};
  const ShapeTracker tracker = ShapeTracker::from_views(views).simplify();
  REQUIRE(tracker.views().size() == 3);
  CHECK_FALSE(tracker.refine().has_value());
  Domain domain{{8}, {}, {load(tracker), store({8})}};
  const Points before = points(domain, kOuterOnly);
  CHECK(normalise(domain).refined);
  CHECK(view_counts(domain) == std::vector<std::size_t>{2, 1});
  CHECK(points(domain, kOuterOnly) == before);
}

}  // namespace domain_test
