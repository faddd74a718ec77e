// Merging two views against brute force: a merged view is the same map, and "no" means that no view is.
#include <doctest/doctest.h>

#include <cstdlib>

#include "generators.hpp"
#include "oracle.hpp"

using oriel::MergeResult;
using oriel::MergeVerdict;
using oriel::View;

namespace {

/// ORIEL_MERGE_CASES sets the count of each kind for longer campaigns.
int case_count() {
  const char* set = std::getenv("ORIEL_MERGE_CASES");
  return set != nullptr ? std::atoi(set) : 70'000;
}

void check_pairs(std::uint64_t seed, generators::Pair (generators::Generator::*make)()) {
  generators::Generator generator(seed, 60);
  int merged = 0;
  int refused = 0;
  const int count = case_count();
  for (int k = 0; k < count; ++k) {
    const auto [outer, inner] = (generator.*make)();
    const MergeResult result = merge(outer, inner);
    const View stack[] = {inner, outer};
    const std::optional<View> expected = oracle::fit(outer.shape, oracle::table(stack));
    const std::string text = outer.str() + " over " + inner.str();
    if (result.verdict == MergeVerdict::Merged) {
      ++merged;
      if (!expected) FAIL(text << " became " << result.view.str() << ", but no view says it");
      if (!(result.view == *expected)) FAIL(text << " became " << result.view.str() << ", not " << expected->str());
    } else {
      ++refused;
      if (result.verdict == MergeVerdict::Unknown) FAIL(text << " was not decided");
      if (expected) FAIL(text << " was refused, but is " << expected->str());
    }
  }
  CHECK(merged > count / 2);
  CHECK(refused > count / 20);
}

}  // namespace

TEST_CASE("merge of movement pairs is sound and complete") { check_pairs(1, &generators::Generator::movement_pair); }
TEST_CASE("merge of raw pairs is sound and complete") { check_pairs(2, &generators::Generator::raw_pair); }
TEST_CASE("merge of accident-prone pairs is sound and complete") {
  check_pairs(3, &generators::Generator::accident_pair);
}

TEST_CASE("merge decides large pairs without enumerating") {
  const std::int64_t k = std::int64_t{1} << 20;
  const View crossed = View::make({k, k}, {1, k});
  CHECK(merge(View::contiguous({k / 1024, k * 1024}), crossed).verdict == MergeVerdict::No);
  CHECK(merge(View::contiguous({k / 1024, 1024, k}), crossed).verdict == MergeVerdict::Merged);
}

TEST_CASE("carry terms that pass 64 bits where their sum does not are added up") {
  const std::int64_t large = std::int64_t{1} << 61;
  const MergeResult column = merge(View::make({2}, {1}, 4), View::make({3, 2}, {0, large}));
  REQUIRE(column.verdict == MergeVerdict::Merged);
  CHECK(column.view == View::make({2}, {large}));
  const View outer = View::make({11, 25789319, 32}, {1, 495, 11}, 1046475769823);
  const MergeResult wide = merge(outer, View::make({1, 98686813995, 11}, {0, 1, 98686813995}));
  REQUIRE(wide.verdict == MergeVerdict::Merged);
  CHECK(wide.view == View::make({11, 25789319, 32}, {98686813995, 45, 1}, 95134160893));
}

TEST_CASE("an overflow leaves a merge undecided") {
  const std::int64_t huge = std::int64_t{1} << 61;
  const View inner = View::make({2, 2}, {huge, huge}, -huge);
  const View outer = View::make({3}, {1});
  CHECK(merge(outer, inner).verdict == MergeVerdict::No);
  const View wide = View::make({2, 4}, {huge, huge - 1}, -huge, {{0, 1}, {0, 3}});
  CHECK(merge(View::make({5}, {1}), wide).verdict == MergeVerdict::Unknown);
}
