// Merging two views, compared with brute force: a merged view is the same map, and the answer "no" means that there is
// no such view.
#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "generators.hpp"
#include "oracle.hpp"
#include "view/merging/merge.hpp"

namespace merge_test {

using oriel::MergeResult;
using oriel::MergeVerdict;
using oriel::View;

namespace {

/// For longer campaigns, ORIEL_MERGE_CASES sets the number of cases of each kind.
int case_count() {
  const char* set = std::getenv("ORIEL_MERGE_CASES");
#ifdef __SANITIZE_ADDRESS__
  constexpr int usual = 10'000;  // instrumented code takes ten times as long
#else
  constexpr int usual = 70'000;
#endif
  return set != nullptr ? std::atoi(set) : usual;
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

TEST_CASE("large pairs that are not one view are refused, whatever the count of their points") {
  const generators::Pair pairs[] = {
      {View::make({4, 6, 1350}, {61708975, 25447, 1}, 61038724),
       View::make({97, 2544700}, {-2544698, -1}, 246835705, {{0, 97}, {0, 2544698}})},
      {View::make({5, 344, 1, 23}, {40595, 1, 0, 1765}, 2964240),
       View::make({115, 83661}, {83655, -1}, 8700122, {{0, 115}, {3, 83658}})},
      {View::make({4, 3808, 5, 1}, {1211530, 97, 1, 0}, 320532486),
       View::make({970, 488359}, {-488356, -1}, 473705321, {{0, 970}, {2, 488358}})},
      {View::make({60855, 9091831}, {-16188018, -1}, 1452338134098),
       View::make({6867644, 264, 952}, {12, 6, 1}, 54210275, {{0, 6867644}, {0, 2}, {25, 31}})},
      {View::make({2, 97, 637, 2328}, {1, 527316, 1064123688, 12}, 441412608),
       View::make({26234, 4, 6459621}, {4, 1, 104936}, 0, {{0, 26234}, {0, 4}, {0, 6459618}})},
      {View::make({71678, 1036, 3}, {8652, 1, 0}, -1061, {{1, 71675}, {3, 1036}, {2, 3}}),
       View::make({25838477, 3, 8}, {2, 1, 0}, -2, {{1, 25838473}, {0, 2}, {4, 8}})},
      {View::make({7038, 4, 201027}, {22, 1, 154836}, 18),
       View::make({30243, 759, 1356}, {-42, 3, 1}, 1350696, {{16, 29300}, {658, 672}, {1158, 1161}})},
      {View::make({12197954545, 292, 2}, {621, -1, 0}, 340),
       View::make({40078993505, 27, 7}, {22, 1, 0}, -68, {{3, 40078993503}, {2, 24}, {2, 3}})},
      {View::make({1329, 814047, 955}, {123526904, 152, 1}, -117084, {{0, 1329}, {765, 813442}, {920, 955}}),
       View::make({91918956, 1786}, {132, 1}, 101034866055, {{0, 91918512}, {767, 796}})},
      {View::make({2, 1, 41640, 15252}, {1, 0, -1239390, 2}, 51608135966),
       View::make({293, 4, 2201715, 4, 5}, {1, 0, -291, 0, 0}, 640697608,
                  {{2, 293}, {3, 4}, {5, 2201711}, {3, 4}, {0, 1}})},
      {View::make({56, 5028113819, 2}, {1, 542, 271}, 88),
       View::make({271, 10056227638}, {1, 78}, -69301, {{193, 271}, {886, 10056227638}})},
      {View::make({16554469561, 7, 2, 5}, {378, 54, 9, 1}, 8174458919119),
       View::make({7, 864, 2779361255}, {136188695370, 2779361130, 1}, -2084520847625,
                  {{0, 7}, {750, 799}, {125, 2779361255}})},
      {View::make({1, 21490118364, 2, 2}, {0, 28, 2, 1}, 16), View::make({2, 443095224, 679}, {0, 1, 443095224})},
      {View::make({107780059667}, {1}, 336996293773),
       View::make({29078222310, 6, 3}, {-3, -144101158344, -1}, 977620630895)},
  };
  for (const auto& [outer, inner] : pairs) {
    const std::string text = outer.str() + " over " + inner.str();
    CAPTURE(text);
    CHECK(merge(outer, inner).verdict == MergeVerdict::No);
    if (outer.numel() > 100'000) continue;
    const View stack[] = {inner, outer};
    CHECK(!oracle::fit(outer.shape, oracle::table(stack)));
  }
}

TEST_CASE("large pairs that are one view are merged, whatever the count of their points") {
  const generators::Pair pairs[] = {
      {View::make({1, 1, 7, 7641}, {0, 0, 3229809, 1}, 1311693384), View::make({33, 2, 21923552}, {21923552, 0, 1})},
      {View::make({262608, 1117}, {29040, 1}, 64786990298, {{1486, 261516}, {26, 403}}),
       View::make({7, 2, 7105579800}, {7105579800, 0, 1})},
      {View::make({16771500}, {1}, 2161744601), View::make({65, 3, 12919236}, {12919236, 0, 1})},
      {View::make({64, 1987564, 24, 7}, {66994980, 12, 5091618480, 1}, 34138189),
       View::make({52856, 3380, 684}, {6760, 2, 1}, -5435722, {{804, 52856}, {0, 3380}, {682, 684}})},
  };
  std::mt19937_64 random(8);
  for (const auto& [outer, inner] : pairs) {
    const std::string text = outer.str() + " over " + inner.str();
    CAPTURE(text);
    const MergeResult result = merge(outer, inner);
    REQUIRE(result.verdict == MergeVerdict::Merged);
    const View stack[] = {inner, outer};
    const View one[] = {result.view};
    for (int k = 0; k < 5'000; ++k) {
      const auto n = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(outer.numel().value()));
      const oracle::Index index = oracle::unravel(n, outer.shape);
      CHECK(oracle::evaluate(one, index) == oracle::evaluate(stack, index));
    }
  }
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

TEST_CASE("merges are counted by how they ended, for all threads and for each") {
  using oriel::detail::merge_statistics;
  using oriel::detail::MergeStatistics;
  using oriel::detail::thread_merge_statistics;
  const MergeStatistics own = thread_merge_statistics();
  const MergeStatistics all = merge_statistics();
  constexpr int kCount = 5'000;
  generators::Generator generator(4, 60);
  for (int k = 0; k < kCount; ++k) {
    const auto [outer, inner] = generator.accident_pair();
    merge(outer, inner);
  }
  const std::int64_t huge = std::int64_t{1} << 61;
  merge(View::make({5}, {1}), View::make({2, 4}, {huge, huge - 1}, -huge, {{0, 1}, {0, 3}}));
  const MergeStatistics here = thread_merge_statistics() - own;
  CHECK(here.merges == kCount + 1);
  CHECK(here.unknown == 1);
  CHECK(here.searches > 0);
  CHECK(here.searches < kCount / 20);
  CHECK(here.steps >= here.searches);
  std::thread([] { merge(View::contiguous({2}), View::contiguous({2})); }).join();
  CHECK((thread_merge_statistics() - own).merges == here.merges);
  const MergeStatistics everywhere = merge_statistics() - all;
  CHECK(everywhere.merges == here.merges + 1);
  CHECK(everywhere.searches == here.searches);
  CHECK(everywhere.steps == here.steps);
  CHECK(everywhere.unknown == 1);
}

}  // namespace merge_test
