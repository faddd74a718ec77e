// Campaigns give the same outcome on any number of threads, and find the smallest case of a known fault.
#include "fuzz/campaign.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>

#include "faulty.hpp"
#include "oriel/error.hpp"

namespace campaign_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

CampaignOptions options_of(std::uint64_t cases, unsigned threads) {
  CampaignOptions options;
  options.seed = 4;
  options.cases = cases;
  options.threads = threads;
  for (const KindInfo& kind : kinds()) {
    if (!kind.on_own) options.kinds.push_back(kind.kind);
  }
  return options;
}

}  // namespace

TEST_CASE("the engine holds, every kind has its share, and counts do not depend on threads") {
  std::uint64_t cases = 0;
  for (const KindInfo& kind : kinds()) cases += kind.on_own ? 0 : static_cast<std::uint64_t>(kind.weight) * 128 * 2;
  const CampaignResult one = run_campaign(options_of(cases, 1));
  const CampaignResult three = run_campaign(options_of(cases, 3));
  CHECK_FALSE(one.failure);
  CHECK_FALSE(three.failure);
  CHECK(one.cases == cases);
  CHECK(three.cases == cases);
  for (const KindInfo& kind : kinds()) {
    const KindTally& a = one.tallies[static_cast<std::size_t>(kind.kind)];
    const KindTally& b = three.tallies[static_cast<std::size_t>(kind.kind)];
    CHECK(a.cases == (kind.on_own ? 0 : static_cast<std::uint64_t>(kind.weight) * 128 * 2));
    CHECK(a.cases == b.cases);
    CHECK(a.one_view == b.one_view);
    CHECK(a.merged == b.merged);
    CHECK(a.refused == b.refused);
    CHECK(a.unknown == b.unknown);
    CHECK(a.searched == b.searched);
    CHECK(a.steps == b.steps);
    CHECK(a.merged + a.refused + a.unknown == a.merges);
  }
}

TEST_CASE("a known fault is found first at the same case on any number of threads, and shrunk to the least") {
  std::string found;
  for (const unsigned threads : {1U, 2U, 5U}) {
    CampaignOptions options = options_of(100'000, threads);
    options.kinds = {Kind::Movement, Kind::Chain, Kind::Deep};
    options.make_subject = [] { return std::make_unique<test::Faulty>(); };
    const CampaignResult result = run_campaign(options);
    REQUIRE(result.failure);
    CHECK(result.failure->smallest.failure.property == Property::Soundness);
    CHECK(program_text(result.failure->smallest.smallest) == "1 | pad 1,0 | flip 0");
    CHECK(json_text(campaign_case(options.seed, result.failure->kind, result.failure->number, options.most_elements)) ==
          json_text(result.failure->found));
    if (found.empty()) found = json_text(result.failure->found);
    CHECK(json_text(result.failure->found) == found);
  }
}

TEST_CASE("kernels agree with their tables") {
  CampaignOptions options = options_of(300, 2);
  options.kinds = {Kind::Kernels};
  options.make_subject = make_kernel_subject;
  const CampaignResult result = run_campaign(options);
  CHECK_FALSE(result.failure);
  CHECK(result.cases == 300);
}

TEST_CASE("the time ends a campaign") {
  CampaignOptions options = options_of(UINT64_MAX, 2);
  options.seconds = .2;
  const CampaignResult result = run_campaign(options);
  CHECK(result.cases > 0);
  CHECK(result.seconds < 20);
}

TEST_CASE("an error of a subject ends the campaign and comes out") {
  CampaignOptions options = options_of(100'000, 3);
  options.make_subject = []() -> std::unique_ptr<Subject> { throw IoError("fuzz", "nobody there"); };
  CHECK_THROWS_WITH_AS(run_campaign(options), "fuzz: nobody there", IoError);
}

TEST_CASE("a corpus is replayed line by line") {
  std::istringstream corpus(
      "{\"base_shape\":[2,3],\"ops\":[[\"flip\",[0]]],\"note\":\"fine\"}\n\n"
      "{\"base_shape\":[2],\"ops\":[[\"pad\",[[1,0]]],[\"flip\",[0]]]}\n");
  const ReplayResult result = replay(corpus, [] { return std::make_unique<test::Faulty>(); });
  CHECK(result.cases == 2);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0] == "line 3: soundness broken: as planned\n  2 | pad 1,0 | flip 0\n");
  std::istringstream wrong("{\"base_shape\":[2]}\n[]\n");
  CHECK_THROWS_WITH_AS(replay(wrong, make_engine_subject),
                       "fuzz: line 2 of the corpus: fuzz: a line must hold one JSON object, not array", ParseError);
}

TEST_CASE("times fall into buckets of half an octave") {
  CHECK(time_bucket(0) == 0);
  CHECK(time_bucket(1) == 0);
  CHECK(time_bucket(64) == 12);
  CHECK(time_bucket(90) == 12);
  CHECK(time_bucket(91) == 13);
  CHECK(time_bucket(UINT64_MAX) == kTimeBuckets - 1);
  KindTally tally;
  for (int k = 0; k < 999; ++k) ++tally.merge_time[time_bucket(100)];
  ++tally.merge_time[time_bucket(1'000'000)];
  tally.merges = 1000;
  CHECK(tally.time_quantile(.5) > 90);
  CHECK(tally.time_quantile(.5) < 128);
  CHECK(tally.time_quantile(.9999) > 700'000);
}

TEST_CASE("kernels are asked of plain tensors alone: a failure is not shrunk to a start that none has") {
  const std::unique_ptr<Subject> subject = make_kernel_subject();
  const View plain = View::contiguous(Shape{1});
  const ShapeTracker masked = ShapeTracker(plain).pad({{1, 0}}).shrink({{0, 1}});
  CHECK_FALSE(subject->check_one(Kind::Kernels, {{plain}, {}}));
  CHECK_FALSE(subject->check_one(Kind::Kernels, {{masked.views().begin(), masked.views().end()}, {}}));
}

}  // namespace campaign_test
