// The text that switches debug lines on, its errors, and the sink.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/debug.hpp"
#include "oriel/debug.hpp"
#include "oriel/error.hpp"
#include "oriel/oriel.hpp"

namespace debug_test {

using namespace oriel;

namespace {

std::string message(const std::string& text) {
  try {
    set_debug(text);
  } catch (const ParseError& e) {
    return e.what();
  }
  return "";
}

struct Quiet {
  Quiet() { set_debug("0"); }
  ~Quiet() {
    set_debug("0");
    set_debug_sink({});
  }
};

const std::string kAccepted =
    "; use a comma list of category, category=level or level, with categories graph, schedule, merge, codegen, memory, "
    "cache, compile, launch, dynamic and "
    "levels 0 to 9, as in \"schedule=2,launch\"";

}  // namespace

TEST_CASE("a comma list is read from the left") {
  const Quiet quiet;
  set_debug("schedule=2,launch");
  CHECK(debug_text() == "schedule=2,launch=1");
  CHECK(debug_level("schedule") == 2);
  CHECK(debug_level("launch") == 1);
  CHECK(debug_level("graph") == 0);
  set_debug(" 3 , memory=0,\tcache = 1 ");
  CHECK(debug_text() == "graph=3,schedule=3,merge=3,codegen=3,cache=1,compile=3,launch=3,dynamic=3");
  set_debug("memory=2");
  CHECK(debug_level("memory") == 2);
  CHECK(debug_level("graph") == 3);
  set_debug("launch=5,0,merge=9");
  CHECK(debug_text() == "merge=9");
  set_debug("");
  CHECK(debug_text().empty());
}

TEST_CASE("help prints the table of categories and changes nothing else") {
  const Quiet quiet;
  std::string said;
  set_debug_sink([&](std::string_view line) { (said += line) += '\n'; });
  set_debug("schedule=2,help");
  set_debug_sink({});
  CHECK(said == debug_help());
  CHECK(said.find("  schedule  ") != std::string::npos);
  CHECK(debug_text() == "schedule=2");
}

TEST_CASE("malformed text says what would do and changes nothing") {
  const Quiet quiet;
  set_debug("graph=2");
  CHECK(message("scheduel") == "set_debug: \"scheduel\" names no category" + kAccepted);
  CHECK(message("launch,foo=1") == "set_debug: \"foo=1\" names no category" + kAccepted);
  CHECK(message("=1") == "set_debug: \"=1\" names no category" + kAccepted);
  CHECK(message("12") == "set_debug: \"12\" is no level" + kAccepted);
  CHECK(message("-1") == "set_debug: \"-1\" is no level" + kAccepted);
  CHECK(message("launch=") == "set_debug: \"launch=\" has no level behind =" + kAccepted);
  CHECK(message("launch=high") == "set_debug: \"launch=high\" has no level behind =" + kAccepted);
  CHECK(message("launch=10") == "set_debug: \"launch=10\" has no level behind =" + kAccepted);
  CHECK(message("launch=1=2") == "set_debug: \"launch=1=2\" has no level behind =" + kAccepted);
  CHECK(message("launch,") == "set_debug: \"launch,\" has an empty item" + kAccepted);
  CHECK(message(",launch") == "set_debug: \",launch\" has an empty item" + kAccepted);
  CHECK(debug_text() == "graph=2");
}

TEST_CASE("an unknown category has no level") {
  CHECK_THROWS_WITH_AS(debug_level("time"),
                       "debug_level: \"time\" names no category; there are graph, schedule, merge, codegen, memory, "
                       "cache, compile, launch, dynamic",
                       ArgumentError);
}

TEST_CASE("the table has a line for every level of every category") {
  const auto categories = debug_categories();
  REQUIRE(categories.size() == static_cast<std::size_t>(base::kDebugCount));
  CHECK(categories[static_cast<std::size_t>(base::Debug::Graph)].name == "graph");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Schedule)].name == "schedule");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Merge)].name == "merge");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Codegen)].name == "codegen");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Memory)].name == "memory");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Cache)].name == "cache");
  CHECK(categories[static_cast<std::size_t>(base::Debug::Launch)].name == "launch");
  const std::string help = debug_help();
  for (const DebugCategory& c : categories) {
    INFO(c.name);
    CHECK(help.find("\n  " + std::string(c.name)) != std::string::npos);
    for (int level = 1; level <= c.levels; ++level)
      CHECK(c.doc.find(std::to_string(level) + ": ") != std::string_view::npos);
    CHECK(c.doc.find(std::to_string(c.levels + 1) + ": ") == std::string_view::npos);
  }
}

TEST_CASE("lines go to the sink one by one") {
  const Quiet quiet;
  std::vector<std::string> lines;
  set_debug_sink([&](std::string_view line) { lines.emplace_back(line); });
  base::debug_say(0, base::Debug::Memory, "first\nsecond\n");
  base::debug_say(7, base::Debug::Memory, "of another context");
  base::debug_print("third");
  CHECK(lines == std::vector<std::string>{"oriel memory: first", "oriel memory: second",
                                          "oriel memory of context 7: of another context", "third"});
  CHECK_FALSE(base::watch_of(0).debugging(base::Debug::Memory));
  set_debug("memory=2");
  const base::Watch watch = base::watch_of(0);
  CHECK(watch.debugging(base::Debug::Memory));
  CHECK(watch.debugging(base::Debug::Memory, 2));
  CHECK_FALSE(watch.debugging(base::Debug::Memory, 3));
  CHECK_FALSE(watch.debugging(base::Debug::Launch));
  CHECK_FALSE(base::watch_of(7).debugging(base::Debug::Memory));
}

TEST_CASE("starts and ends of kernels; what a sink throws undoes nothing") {
  const Quiet quiet;
  Tensor x = Tensor::from(std::vector<float>{1, 2, 3}).realize();
  x += 1;  // in place
  std::vector<std::string> lines;
  set_debug("launch=2");
  set_debug_sink([&](std::string_view line) {
    lines.emplace_back(line);
    if (lines.size() == 2) throw std::runtime_error("log full");
  });
  CHECK_THROWS_WITH_AS(x.realize(), "log full", std::runtime_error);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].ends_with(" starts"));
  CHECK(lines[1].ends_with(" operations"));
  CHECK(x.to_vector<float>() == std::vector<float>{2, 3, 4});
}

}  // namespace debug_test
