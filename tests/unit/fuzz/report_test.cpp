// The report is one self-contained page that shows the counts.
#include "fuzz/report.hpp"

#include <doctest/doctest.h>

#include "faulty.hpp"
#include "fuzz/drawing.hpp"

namespace report_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a page of a campaign that held") {
  CampaignOptions options;
  options.seed = 8;
  options.cases = 3000;
  options.kinds = {Kind::Raw, Kind::Accident, Kind::Chain};
  const CampaignResult result = run_campaign(options);
  const std::string page = report_page(options, result, "oriel fuzz reshape --external 'a <b> & c'");
  CHECK(page.find("all properties hold") != std::string::npos);
  CHECK(page.find("a &lt;b&gt; &amp; c") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  for (const char* heading : {"By kind of case", "By length", "Time of a merge", "The hardest cases"}) {
    CHECK(page.find(heading) != std::string::npos);
  }
  CHECK(count(page, "<svg") == 3);  // the lengths, and the two kinds whose merges are timed
  CHECK(count(page, "<svg") == count(page, "</svg>"));
  CHECK(count(page, "<table") == count(page, "</table>"));
  CHECK(count(page, "class=\"grid\"") > 3);
  const KindTally& raw = result.tallies[static_cast<std::size_t>(Kind::Raw)];
  CHECK(page.find("<td>" + grouped(raw.cases) + "</td>") != std::string::npos);
}

TEST_CASE("a page of a campaign that failed shows the counterexample") {
  CampaignOptions options;
  options.kinds = {Kind::Chain};
  options.make_subject = [] { return std::make_unique<test::Faulty>(); };
  const CampaignResult result = run_campaign(options);
  REQUIRE(result.failure);
  const std::string page = report_page(options, result, "oriel fuzz reshape");
  CHECK(page.find("soundness is broken") != std::string::npos);
  CHECK(page.find(escaped(program_text(result.failure->smallest.smallest))) != std::string::npos);
}

TEST_CASE("numbers for people") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(12345678) == "12,345,678");
  CHECK(duration_text(0) == "-");
  CHECK(duration_text(438.4) == "438 ns");
  CHECK(duration_text(10'840) == "10.8 us");
  CHECK(duration_text(2'500'000) == "2.5 ms");
  CHECK(index_grid({{2}, {kInvalid, 3}}).find("class=\"none\"") != std::string::npos);
  CHECK(index_grid({{5000}, std::vector<std::int64_t>(5000)}) == "<p>5,000 entries: too many to draw</p>");
}

}  // namespace report_test
