// A counterexample in each of its forms.
#include "fuzz/report.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "faulty.hpp"

namespace describe_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

CampaignFailure known_failure() {
  CampaignFailure failure;
  failure.kind = Kind::Chain;
  failure.number = 26;
  failure.found = {{View::contiguous({4, 3})},
                   {{MovementKind::Pad, {}, {{2, 1}, {0, 0}}}, {MovementKind::Flip, {0}, {}}}};
  test::Faulty subject;
  failure.smallest = shrink(subject, Kind::Chain, failure.found, *subject.check_one(Kind::Chain, failure.found));
  return failure;
}

/// Does the program compile against the headers? It is not linked.
bool compiles(const std::string& program) {
  const auto folder = std::filesystem::temp_directory_path() / ("oriel_describe_" + std::to_string(std::rand()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "case.cpp") << program;
  const std::string headers = std::filesystem::path(ORIEL_TEST_DATA).parent_path().parent_path() / "include";
  const std::string command =
      "c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I" + headers + " " + (folder / "case.cpp").string();
  const bool fine = std::system(command.c_str()) == 0;
  std::filesystem::remove_all(folder);
  return fine;
}

}  // namespace

TEST_CASE("the smallest case is shown as a table, a program, JSON and C++") {
  CampaignOptions options;
  options.seed = 3;
  const std::string text = describe(known_failure(), options, "oriel fuzz reshape");
  CAPTURE(text);
  for (const char* part :
       {"soundness broken: every form of a case has the same position at every index\n  as planned\n",
        "found in chain case 26 of seed 3; smallest of ",
        "table (-1: invalid), which is the one view (2):(0)[0:1):\n   0 -1\n",
        "oriel view:\n  oriel view --table \"1 | pad 1,0 | flip 0\"\n",
        "  {\"base_shape\":[1],\"ops\":[[\"pad\",[[1,0]]],[\"flip\",[0]]]}\n",
        "  auto tracker = oriel::ShapeTracker(oriel::Shape{1});\n  tracker = tracker.pad({{1, 0}});\n",
        "again:\n  oriel fuzz reshape --kinds chain --seed 3 --sizes 60 --skip 26 --cases 1\n"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  options.external = true;
  CHECK(describe(known_failure(), options, "x").find("C++") == std::string::npos);
}

TEST_CASE("a case of no campaign is shown without how to find it again") {
  const std::string text = describe(Kind::Chain, known_failure().smallest, "by coverage");
  CAPTURE(text);
  CHECK(text.find("as planned\n\nfound by coverage; smallest of ") != std::string::npos);
  CHECK(text.find("C++:\n") != std::string::npos);
  CHECK(text.find("again") == std::string::npos);
}

TEST_CASE("the C++ compiles, whatever the case") {
  const Failure failure{Property::Soundness, "two\nlines"};
  const Case raw{{View::make({2, 3}, {3, -1}, 2, {{0, 2}, {1, 3}}), View::contiguous({6})},
                 {{MovementKind::Flip, {0}, {}}}};
  CHECK(compiles(cpp_program(raw, Kind::Raw, failure)));
  const CampaignFailure known = known_failure();
  CHECK(compiles(cpp_program(known.smallest.smallest, Kind::Chain, failure)));
  CHECK(compiles(cpp_program(known.smallest.smallest, Kind::Kernels, {Property::Kernels, "wrong"})));
}

TEST_CASE("tables have a row for each row of the last axis") {
  const std::vector<std::int64_t> positions{0, -1, 2, 10};
  CHECK(table_text(positions, {2, 2}) == "   0 -1\n   2 10\n");
  CHECK(table_text(positions, {2, 1, 2}) == "   0 -1\n\n   2 10\n");
  CHECK(table_text(std::vector<std::int64_t>{7}, {}) == "  7\n");
}

}  // namespace describe_test
