// Random cases are legal, the same for the same seed, and of the requested kind.
#include "fuzz/generate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "fuzz/campaign.hpp"
#include "fuzz/eager.hpp"

namespace generate_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

constexpr std::uint64_t kCases = 1500;

}  // namespace

TEST_CASE("cases are legal and small enough to list") {
  Eager eager;
  Table table;
  for (const KindInfo& kind : kinds()) {
    std::size_t views = 0;
    std::size_t movements = 0;
    std::size_t masked = 0;
    std::set<MovementKind> seen;
    for (std::uint64_t n = 0; n < kCases; ++n) {
      const Case c = campaign_case(3, kind.kind, n, 60);
      CAPTURE(program_text(c));
      ShapeTracker tracker = start_of(c);  // throws if a position lies outside
      for (const Movement& movement : c.movements) {
        tracker = apply(tracker, movement);
        seen.insert(movement.kind);
      }
      views = std::max(views, c.start.size());
      movements = std::max(movements, c.movements.size());
      for (const View& view : c.start) masked += view.masked() ? 1 : 0;
      if (!kind.table) continue;
      REQUIRE(numel(tracker.shape()) <= 6 * 60);
      eager.run(c, table);
      for (const std::int64_t position : table.at) REQUIRE((position >= 0 || position == kInvalid));
    }
    CAPTURE(kind.name);
    const bool each = kind.kind == Kind::Each || kind.kind == Kind::Kernels;
    const bool chain = kind.kind == Kind::Chain || kind.kind == Kind::Deep || each;
    CHECK(views == (chain ? 1 : kind.kind == Kind::Stack ? 4 : 2));
    CHECK(seen.size() == (each ? kMovementKinds : chain ? 6 : 0));  // the protocol has six
    CHECK((chain || masked > kCases / 20));
    if (kind.kind == Kind::Deep) CHECK(movements > 25);
  }
}

TEST_CASE("a case follows from its seed, kind and number alone") {
  for (const KindInfo& kind : kinds()) {
    CHECK(json_text(campaign_case(5, kind.kind, 77, 60)) == json_text(campaign_case(5, kind.kind, 77, 60)));
    std::set<std::string> texts;
    for (std::uint64_t n = 0; n < 50; ++n) texts.insert(json_text(campaign_case(5, kind.kind, n, 60)));
    CHECK(texts.size() > 40);
  }
  CHECK(json_text(campaign_case(5, Kind::Raw, 1, 60)) != json_text(campaign_case(6, Kind::Raw, 1, 60)));
}

TEST_CASE("any bytes make a case, and no bytes end") {
  for (const KindInfo& kind : kinds()) {
    for (std::size_t length = 0; length < 200; length += 7) {
      std::vector<std::uint8_t> bytes(length);
      for (std::size_t k = 0; k < length; ++k) bytes[k] = static_cast<std::uint8_t>(k * 151 + length * 37);
      Choices choices{std::span<const std::uint8_t>(bytes)};
      const Case c = generate(kind.kind, choices, 60);
      CHECK_NOTHROW(start_of(c));
    }
  }
}

TEST_CASE("planted cases are one view, and most are huge") {
  int huge = 0;
  for (std::uint64_t n = 0; n < 300; ++n) {
    const Case c = campaign_case(9, Kind::Planted, n, 60);
    CAPTURE(program_text(c));
    CHECK(merge(c.start[1], c.start[0]).verdict != MergeVerdict::No);
    if (c.start[0].numel() > 1'000'000) ++huge;
  }
  CHECK(huge > 150);
}

TEST_CASE("uniform choices stay inside their ends and reach them") {
  Choices choices(1, 2);
  std::set<std::int64_t> seen;
  for (int k = 0; k < 1000; ++k) seen.insert(choices.between(-2, 3));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2, 3});
  CHECK(choices.between(INT64_MAX, INT64_MAX) == INT64_MAX);
  for (int k = 0; k < 100; ++k) CHECK(choices.between(INT64_MAX - 5, INT64_MAX) >= INT64_MAX - 5);
}

}  // namespace generate_test
