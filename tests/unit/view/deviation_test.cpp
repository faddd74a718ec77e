// Sums of carries that deviate from the affine map at the origin, compared with a search over every point.
#include "view/merging/deviation.hpp"

#include <doctest/doctest.h>

#include <random>

#include "view/merging/merge.hpp"

namespace deviation_test {

using namespace oriel::detail;

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int between(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(engine_); }

 private:
  std::mt19937 engine_;
};

/// Few distinct widths and steps, so that carries often cancel each other.
CarryGroups random_groups(Random& random, std::size_t rank) {
  CarryGroups groups;
  const int width = random.between(2, 12);
  for (int k = random.between(1, 3); k > 0; --k) {
    CarryGroup group{random.between(0, 1) == 0 ? width : random.between(2, 12), 0, {}, random.between(0, 1) * 2 - 1};
    group.first = random.between(0, static_cast<int>(group.width.value()) - 1);
    for (std::size_t d = 0; d < rank; ++d) {
      group.step.push_back(random.between(0, static_cast<int>(group.width.value()) - 1));
    }
    if (!groups.empty() && random.between(0, 2) > 0) {
      group = groups.back();
      group.coefficient = -group.coefficient;
      if (random.between(0, 1) == 0) group.first = (group.first + 1) % group.width;
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

TEST_CASE("find_deviation says whether a sum of carries leaves its affine map") {
  Random random(7);
  int affine_count = 0;
  int short_count = 0;
  int short_yes = 0;
  for (int k = 0; k < 60'000; ++k) {
    IntList extent;
    for (int d = random.between(1, 3); d > 0; --d) extent.push_back(random.between(1, d == 1 ? 30 : 6));
    const CarryGroups groups = random_groups(random, extent.size());
    const bool zero = for_each_point(extent, [&](const IntList& x) {
      // Computed from the definition, without the functions that the search uses.
      Int sum = 0;
      for (const CarryGroup& group : groups) {
        Int n = group.first;
        for (std::size_t d = 0; d < x.size(); ++d) n += group.step[d] * x[d];
        Int term = n / group.width;
        for (std::size_t d = 0; d < x.size(); ++d) term -= (group.first + group.step[d]) / group.width * x[d];
        sum += group.coefficient * term;
      }
      CHECK(deviation(groups, x) == sum.value());
      return sum == 0;
    });
    const bool hurried = random.between(0, 3) == 0;
    Int steps = hurried ? random.between(1, 70) : 100'000;
    const Found found = find_deviation(extent, groups, steps);
    if (found == Found::Unknown) {
      CHECK(hurried);
      ++short_count;
      continue;
    }
    short_yes += hurried && found == Found::Yes;
    CHECK((found == Found::No) == zero);
    affine_count += zero;
  }
  CHECK(affine_count > 5'000);
  CHECK(affine_count < 50'000);
  CHECK(short_count > 100);
  CHECK(short_yes > 1'000);
}

TEST_CASE("find_deviation takes few steps on long lines with few events") {
  const Int width = 7'105'579'800;
  const CarryGroup carry{width, 14'400, {29'040, 1}, 5};
  CarryGroup opposite = carry;
  opposite.coefficient = -5;
  Int steps = 2'000;
  CHECK(find_deviation({260'031, 377}, {carry, opposite}, steps) == Found::No);
  // Now one group carries a step earlier. Only the point (244682, 119) shows it: 244682 * 29040 + 119 + 14400 is width
  // - 1.
  opposite.first += 1;
  steps = 2'000;
  CHECK(find_deviation({260'031, 377}, {carry, opposite}, steps) == Found::Yes);
}

TEST_CASE("find_deviation looks at lines far apart where there are too many") {
  // Deviates on most lines, but on none of the first few thousand, where the carries equal those at the origin.
  const CarryGroup carry{1'000'003, 0, {1, 1, 331}, 1};
  Int steps = 2'000;
  CHECK(find_deviation({3'000, 300'000, 3'000}, {carry}, steps) == Found::Yes);
}

}  // namespace deviation_test
