// The report is one self-contained page that shows the counts.
#include "fuzz/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "faulty.hpp"

namespace report_test {

using namespace oriel;
using namespace oriel::fuzz;
using Json = nlohmann::json;

namespace {

/// The data between the tags of the page.
Json data_of(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("a page of a campaign that held") {
  CampaignOptions options;
  options.seed = 8;
  options.cases = 3000;
  options.kinds = {Kind::Raw, Kind::Accident, Kind::Chain};
  const CampaignResult result = run_campaign(options);
  const std::string page = report_page(options, result, "oriel fuzz reshape --external 'a <b> & c'");
  const Json data = data_of(page);
  CHECK(data["title"] == "Fuzzing reshape: all properties hold");
  CHECK(data["text"].get<std::string>().find("a <b> & c") != std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  const auto titled = [&](const char* list, const std::string& begin) {
    return std::ranges::count_if(data[list],
                                 [&](const Json& part) { return part["title"].get<std::string>().starts_with(begin); });
  };
  CHECK(titled("tables", "The run") == 1);
  CHECK(titled("bars", "By length") == 1);
  CHECK(titled("bars", "Times of merges") == 2);  // of the two kinds whose merges are timed
  CHECK(titled("stacks", "Hard: ") + titled("tables", "Hard: ") > 3);
  const KindTally& raw = result.tallies[static_cast<std::size_t>(Kind::Raw)];
  CHECK(data["tables"][1]["rows"][0][0] == "raw");
  CHECK(data["tables"][1]["rows"][0][1] == grouped(raw.cases));
}

TEST_CASE("a page of a campaign that failed shows the counterexample") {
  CampaignOptions options;
  options.kinds = {Kind::Chain};
  options.make_subject = [] { return std::make_unique<test::Faulty>(); };
  const CampaignResult result = run_campaign(options);
  REQUIRE(result.failure);
  const std::string page = report_page(options, result, "oriel fuzz reshape");
  const Json data = data_of(page);
  CHECK(data["title"] == "Fuzzing reshape: soundness is broken");
  const std::string program = program_text(result.failure->smallest.smallest);
  CHECK(data["text"].get<std::string>().find(program) != std::string::npos);
  CHECK(data["stacks"][0]["title"] == "The counterexample");
  CHECK(data["stacks"][0]["program"] == program);
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
}

}  // namespace report_test
