// The command line of `oriel fuzz`: its output and its exit statuses.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "support/command.hpp"

namespace fuzz_command_test {

namespace {

struct Outcome : oriel::test::Outcome {
  bool says(const std::string& part) const { return out.find(part) != std::string::npos; }
};

Outcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "fuzz");
  return {oriel::test::run_command(arguments)};
}

std::string data(const char* name) { return std::string(ORIEL_TEST_DATA) + "/" + name; }

}  // namespace

TEST_CASE("exit status 0 if every property holds") {
  const Outcome outcome = run({"reshape", "--cases", "4096", "--seed", "5"});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.says("seed 5\n"));
  CHECK(outcome.says("4,096 cases in "));
  CHECK(outcome.says("all properties hold\n"));
  for (const char* kind : {"\nmovement ", "\nraw ", "\naccident ", "\nstack ", "\nchain ", "\ndeep ", "\nhuge ",
                           "\nplanted ", "\nedge "}) {
    CHECK(outcome.says(kind));
  }
  CHECK_FALSE(outcome.says("\nkernels "));
}

TEST_CASE("exit status 1 if one is broken, with the smallest case") {
  const char* adapters = std::getenv("ORIEL_ADAPTERS");
  REQUIRE(adapters != nullptr);
  const Outcome outcome =
      run({"reshape", "--external", std::string("python3 ") + adapters + "/wrong_views.py", "--kinds", "chain",
           "--seed", "3", "--cases", "20000", "--threads", "2", "--properties", "soundness"});
  CHECK(outcome.status == 1);
  CHECK(outcome.says("soundness broken"));
  CHECK(outcome.says("oriel view --table \"1 | pad 0,1 | flip 0\""));
  CHECK(outcome.says("wrong_views.py' --kinds chain --seed 3 --sizes 60 --skip "));
}

TEST_CASE("exit status 2 if the command line is wrong") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"reshapes"},
                                             {"reshape", "--cases", "many"},
                                             {"reshape", "--bogus"},
                                             {"reshape", "stray"},
                                             {"reshape", "--quiet=yes"},
                                             {"reshape", "--cases"},
                                             {"reshape", "--sizes", "2"},
                                             {"reshape", "--threads", "0"},
                                             {"reshape", "--time", "-1"},
                                             {"reshape", "--kinds", "odd"},
                                             {"reshape", "--kinds", "raw,kernels"},
                                             {"reshape", "--properties", "soundness"},
                                             {"reshape", "--external", "cat", "--properties", "kernels"},
                                             {"reshape", "--external", "cat", "--kinds", "kernels"},
                                             {"reshape", "--external", "cat", "--kinds", "each"}}) {
    const Outcome outcome = run(arguments);
    CAPTURE(arguments);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_FALSE(outcome.err.empty());
  }
  CHECK(run({"reshape", "--kinds", "odd"}).err ==
        "oriel: fuzz: unknown kind 'odd'; there are movement, raw, accident, stack, chain, deep, huge, planted, edge, "
        "kernels, each\n");
}

TEST_CASE("a value may follow an equals sign, and the names of a list commas, blanks and its option again") {
  const Outcome outcome =
      run({"reshape", "--kinds", "raw,deep", "--cases=4096", "--kinds", "edge", "chain", "--seed=1"});
  CHECK(outcome.status == 0);
  CHECK(outcome.says("4,096 cases in "));
  for (const char* kind : {"\nraw ", "\ndeep ", "\nedge ", "\nchain "}) CHECK(outcome.says(kind));
}

TEST_CASE("help names the kinds and properties") {
  const Outcome outcome = run({"reshape", "--help"});
  CHECK(outcome.status == 0);
  for (const char* part : {"--external", "accident", "completeness", "Exit status"}) CHECK(outcome.says(part));
}

TEST_CASE("kernels are fuzzed on every device that computes") {
  const Outcome outcome = run({"reshape", "--kinds", "kernels", "--cases", "50", "--seed", "1"});
  CHECK(outcome.status == 0);
  CHECK(outcome.says("device eigen\n"));
  CHECK_FALSE(outcome.says("device null"));
  const Outcome adjoints = run({"reshape", "--properties", "adjoint", "--cases", "50", "--seed", "1"});
  CHECK(adjoints.status == 0);
  CHECK(adjoints.says("device eigen\n"));
}

TEST_CASE("the corpus of past failures and hard cases holds") {
  const Outcome outcome = run({"reshape", "--replay", data("reshape_corpus.jsonl")});
  CHECK_MESSAGE(outcome.status == 0, outcome.out);
  CHECK(outcome.says(" cases replayed, 0 broken\n"));
  CHECK_FALSE(outcome.says("\n0 cases"));
}

TEST_CASE("a report is written, or its failure told") {
  const auto file = std::filesystem::temp_directory_path() / ("oriel_report_" + std::to_string(std::rand()) + ".html");
  const Outcome outcome = run({"reshape", "--cases", "1000", "--report", file.string()});
  CHECK(outcome.status == 0);
  std::ostringstream page;
  page << std::ifstream(file).rdbuf();
  CHECK(page.str().rfind("<!doctype html>", 0) == 0);
  std::filesystem::remove(file);
}

}  // namespace fuzz_command_test
