// ORIEL_DEBUG, ORIEL_PROFILE and ORIEL_DUMP. Each case runs in a process of its own, in the environment that
// meson.build sets.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "programs.hpp"

namespace environment_test {

using namespace oriel;
using namespace oriel::test;

namespace {

std::vector<std::string>& heard() {
  static auto& lines = *new std::vector<std::string>();  // read while the process ends
  return lines;
}

void listen() {
  set_debug_sink([](std::string_view line) { heard().emplace_back(line); });
}

bool heard_line(const std::string& start) {
  return std::any_of(heard().begin(), heard().end(), [&](const std::string& line) { return line.starts_with(start); });
}

}  // namespace

TEST_CASE("environment: lines" * doctest::skip()) {
  const NullDevice null;
  listen();
  CHECK(debug_text() == "schedule=1,launch=1");
  moved_sum().realize();
  CHECK(heard_line("oriel schedule: k00 "));
  CHECK(heard_line("oriel schedule:   because its value was asked for"));
  CHECK(heard_line("oriel launch: sum_f32_"));
  CHECK_FALSE(heard_line("oriel merge: "));

  // Each category prints lines if it is switched on, and only then.
  heard().clear();
  set_debug("0,graph=2,merge=2,codegen=3,memory=2,cache");
  several_kernels().realize();
  several_kernels().realize();
  CHECK(heard_line("oriel graph: rules: "));
  CHECK(heard_line("oriel graph: %0 = Buffer: float32 (64, 96)"));
  CHECK(heard_line("oriel merge:   written    "));
  CHECK(heard_line("oriel codegen: loops "));
  CHECK(heard_line("oriel memory: memory: "));
  CHECK(heard_line("oriel memory: k00 puts %"));
  CHECK(heard_line("oriel cache: made a schedule of "));
  CHECK(heard_line("oriel cache: found a schedule of "));
  CHECK_FALSE(heard_line("oriel schedule: "));
  CHECK_FALSE(heard_line("oriel launch: "));
  heard().clear();
  set_debug("0");
  (several_kernels() * 3.5f).realize();
  CHECK(heard().empty());
}

TEST_CASE("environment: malformed lines" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK_THROWS_WITH_AS(
        y.realize(),
        "ORIEL_DEBUG: \"nonsense\" names no category; use a comma list of category, category=level or level, with "
        "categories graph, schedule, merge, codegen, memory, cache, compile, launch, dynamic and levels 0 to 9, as in "
        "\"schedule=2,launch\"",
        ParseError);
    CHECK_FALSE(y.realized());
  }
  set_debug("");  // the call takes precedence over the environment
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("environment: profile" * doctest::skip()) {
  const NullDevice null;
  CHECK(profile::recording());
  moved_sum().realize();
  CHECK(profile::take().launches.size() == 1);
  listen();
  moved_sum().realize();
  CHECK(heard().empty());  // nothing is printed while the program runs
}

TEST_CASE("environment: malformed profile" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  CHECK_THROWS_WITH_AS(y.realize(), "ORIEL_PROFILE: \"yes\" is neither 0 (off) nor 1 (on)", ParseError);
  CHECK_THROWS_AS(profile::recording(), ParseError);
  profile::stop();
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("environment: malformed rules" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  for (int attempt = 0; attempt < 2; ++attempt) {
    CHECK_THROWS_WITH_AS(
        y.realize(), "ORIEL_RULES_OFF: no rewrite rule is named 'nonsense'; names are as explain prints them, or 'all'",
        ArgumentError);
    CHECK_FALSE(y.realized());
  }
}

TEST_CASE("environment: malformed report" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  CHECK_THROWS_WITH_AS(y.realize(), "ORIEL_REPORT: \"report.txt\" is no name of a page; it ends in .html",
                       ArgumentError);
  set_report_file({});
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("environment: malformed dump" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  try {
    y.realize();
    FAIL("a dump directory below a file");
  } catch (const IoError& e) {
    CHECK(std::string(e.what()).starts_with("ORIEL_DUMP: cannot make the directory \"/dev/null/dumps\": "));
  }
  set_dump_directory({});
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("environment: malformed dump whole" * doctest::skip()) {
  const NullDevice null;
  const Tensor y = moved_sum();
  CHECK_THROWS_WITH_AS(y.realize(),
                       "ORIEL_DUMP_WHOLE: \"yes\" is neither 0 (helpers in a header beside the kernels) nor 1 (in each "
                       "file)",
                       ArgumentError);
  set_dump_directory({});
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("environment: help" * doctest::skip()) {
  listen();
  (Tensor::of<float>({1, 2}) * 2).realize();
  CHECK(heard_line("ORIEL_DEBUG is a comma list"));
  CHECK(heard_line("  schedule  "));
  CHECK_FALSE(heard_line("oriel "));
}

TEST_CASE("environment: check" * doctest::skip()) {
  CHECK(result_check() == ResultCheck::nan);
  CHECK_THROWS_AS(log(Tensor::of<float>({-1})).realize(), UserError);
}

TEST_CASE("environment: malformed check" * doctest::skip()) {
  const Tensor y = Tensor::of<float>({1}) * 2;
  CHECK_THROWS_WITH_AS(y.realize(),
                       doctest::Contains("ORIEL_CHECK: \"yes\" is neither off, nan (a NaN) nor infinite (a NaN or an "
                                         "infinity)"),
                       ArgumentError);
  set_result_check(ResultCheck::off);
  CHECK(y.to_vector<float>() == std::vector<float>{2});
}

TEST_CASE("environment: explanations" * doctest::skip()) {
  const Tensor y = (Tensor::of<float>({1, 2}) * 2).realize();
  CHECK(explain(y).ran);
}

TEST_CASE("environment: malformed explanations" * doctest::skip()) {
  const Tensor y = Tensor::of<float>({1}) * 2;
  CHECK_THROWS_WITH_AS(y.realize(), doctest::Contains("ORIEL_EXPLAIN: \"yes\" is neither 0 (off) nor 1 (on)"),
                       ArgumentError);
  keep_explanations(false);
  CHECK(y.to_vector<float>() == std::vector<float>{2});
}

}  // namespace environment_test
