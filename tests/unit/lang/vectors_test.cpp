// Every recorded program of tests/data/tc_ranges.json and tc_ranges_more.jsonl through `oriel ranges --jsonl`.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "cli/lines.hpp"

namespace oriel::cli::vectors_test {
namespace {

using Json = nlohmann::json;

Json vectors() {
  std::ifstream file(ORIEL_TEST_DATA "/tc_ranges.json");
  REQUIRE(file.good());
  return Json::parse(file);
}

Json answer(const Json& one, const ComprehensionOptions& options = {.only_results = true}) {
  const Json line{{"def", one["def"]}, {"inputs", one["inputs"]}, {"scalars", one.value("scalars", Json::object())}};
  return Json::parse(answer_ranges(line.dump(), options));
}

using Preconditions = std::set<std::tuple<std::string, int, std::string>>;
Preconditions preconditions(const Json& list) {
  Preconditions out;
  for (const Json& one : list) out.emplace(one["tensor"], one["dim"], one["status"]);
  return out;
}

void compare(const Json& got, const Json& expected) {
  if (expected.contains("error")) {
    CHECK(got.value("error", "none") == expected["error"]);
    return;
  }
  REQUIRE_MESSAGE(!got.contains("error"), got.dump());
  if (expected.contains("ranges_by_stmt")) CHECK(got["ranges_by_stmt"] == expected["ranges_by_stmt"]);
  if (expected.contains("ranges")) CHECK(got["ranges_by_stmt"].back() == expected["ranges"]);
  CHECK(got["outputs"] == expected["outputs"]);
  CHECK(got["origin"] == expected.value("origin", Json::object()));
  CHECK(got["warnings"] == expected.value("warnings", Json::array()));
  CHECK(preconditions(got["preconditions"]) == preconditions(expected.value("preconditions", Json::array())));
}

}  // namespace

TEST_CASE("ranges, shapes, origins, preconditions and error kinds are the recorded ones") {
  const Json all = vectors();
  REQUIRE(all["cases"].size() == 73);
  for (const Json& one : all["cases"]) {
    CAPTURE(one["name"].get<std::string>());
    compare(answer(one), one["expect"]);
  }
}

TEST_CASE("ranges, shapes and errors are those worked out by hand for each rule of the notation") {
  std::ifstream file(ORIEL_TEST_DATA "/tc_ranges_more.jsonl");
  REQUIRE(file.good());
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const Json one = Json::parse(line);
    CAPTURE(one["name"].get<std::string>());
    compare(answer(one), one["expect"]);
  }
  CHECK(count >= 100);
}

TEST_CASE("a temporary is taken where it is allowed") {
  const Json all = vectors();
  for (const Json& one : all["cases"]) {
    if (one["name"] == "temporary") compare(answer(one, {}), one["alt_expect"]);
  }
}

TEST_CASE("affine accesses are the recorded views") {
  const Json all = vectors();
  for (const Json& one : all["views"]) {
    CAPTURE(one["name"].get<std::string>());
    const Json got = answer(one);
    REQUIRE_MESSAGE(got.contains("views"), got.dump());
    Json expected = Json::array();
    for (std::size_t s = 0; s < one["statements"].size(); ++s) {
      for (const Json& access : one["statements"][s]["accesses"]) {
        expected.push_back({{"statement", s},
                            {"access", access["access"]},
                            {"operand", access["operand"]},
                            {"shape", access["shape"]},
                            {"strides", access["strides"]},
                            {"offset", access["offset"]}});
      }
    }
    CHECK(got["views"] == expected);
  }
}

}  // namespace oriel::cli::vectors_test
