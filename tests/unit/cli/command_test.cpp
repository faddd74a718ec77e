// Errors and answers that all commands share. `oriel view` has a test of its own.
#include "cli/command.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/settings.hpp"
#include "support/command.hpp"

namespace command_test {

namespace {

using oriel::test::Outcome;

Outcome run(const std::vector<std::string>& arguments) { return oriel::test::run_command(arguments); }

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

}  // namespace

TEST_CASE("an unknown command is refused with the usage") {
  const Outcome outcome = run({"veiw", "2,3"});
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(starts_with(outcome.err, "oriel: unknown command 'veiw'\n\nusage: oriel COMMAND"));
}

TEST_CASE("no command is refused with the usage") {
  const Outcome outcome = run({});
  CHECK(outcome.status == 2);
  CHECK(starts_with(outcome.err, "oriel: which command?\n\nusage: oriel COMMAND"));
}

TEST_CASE("help names every command") {
  for (const char* spelling : {"help", "--help", "-h"}) {
    const Outcome outcome = run({spelling});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    for (const char* command : {"  view ", "  iterate ", "  devices ", "  version ", "  help "}) {
      CHECK(outcome.out.find(command) != std::string::npos);
    }
  }
}

TEST_CASE("version is one line") {
  for (const char* spelling : {"version", "--version"}) {
    const Outcome outcome = run({spelling});
    CHECK(outcome.status == 0);
    CHECK(starts_with(outcome.out, "oriel "));
    CHECK(outcome.out.find('\n') == outcome.out.size() - 1);
  }
}

TEST_CASE("commands without arguments refuse arguments") {
  for (const char* command : {"version", "devices"}) {
    const Outcome outcome = run({command, "more"});
    CHECK(outcome.status == 2);
    CHECK(starts_with(outcome.err,
                      std::string("oriel ") + command + ": unexpected argument 'more'; this command takes none\n"));
  }
  const Outcome outcome = run({"help", "more"});
  CHECK(outcome.status == 2);
  CHECK(starts_with(outcome.err, "oriel: unknown command 'more'\n"));
}

TEST_CASE("every command says on standard output how it is called") {
  for (const std::string command :
       {"eval", "view", "fuzz", "iterate", "ranges", "grad", "devices", "version", "help"}) {
    CAPTURE(command);
    const Outcome asked = run({command, "--help"});
    CHECK(asked.status == 0);
    CHECK(asked.err.empty());
    CHECK(asked.out.find(command == "help" ? "oriel COMMAND" : "oriel " + command) != std::string::npos);
    CHECK(run({command, "-h"}).out == asked.out);
    CHECK(run({"help", command}).out == asked.out);
  }
  CHECK(run({"help", "fuzz", "reshape"}).out == run({"fuzz", "reshape", "--help"}).out);
  CHECK(run({"eval", "a.tc", "--help"}).status == 0);
}

TEST_CASE("numbers out of their range are wrong usage") {
  const std::vector<std::vector<std::string>> calls{{"--cases", "-1"},   {"--cases", "18446744073709551616"},
                                                    {"--cases", "1e3"},  {"--cases", "x"},
                                                    {"--seed", "-1"},    {"--skip", "-1"},
                                                    {"--time", "-1"},    {"--time", "nan"},
                                                    {"--time", "1e999"}, {"--time", "inf"},
                                                    {"--sizes", "-1"},   {"--sizes", "99999999999999999999"},
                                                    {"--threads", "-1"}, {"--threads", "4294967297"},
                                                    {"--timeout", "-1"}, {"--timeout", "nan"}};
  for (const std::vector<std::string>& call : calls) {
    CAPTURE(call[0] + call[1]);
    const Outcome outcome = run({"fuzz", "reshape", call[0], call[1]});
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.find(call[0]) != std::string::npos);
  }
  for (const char* shape : {"X=-1", "X=3,", "X=,", "X=9223372036854775808", "X=2x", "X=1.5"}) {
    CAPTURE(std::string(shape));
    CHECK(run({"ranges", "-e", "def f(float(N) X) -> (Y) { Y(i) = X(i) }", shape}).status == 2);
  }
  for (const char* value : {"k=-3000000000", "k=99999999999999999999", "k=1e999", "k=x", "k=1.5", "k=nan"}) {
    CAPTURE(std::string(value));
    CHECK(run({"eval", "-e", "def f(int32 k) -> (Y) { Y = k }", "--set", value}).status == 1);
  }
}

TEST_CASE("words of the command line do not reach the terminal as control characters") {
  const std::string bad = "\x1b[31m\xc2\x9b\xff\x7f";
  const std::string shown = "\\x1b[31m\\xc2\\x9b\\xff\\x7f";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {bad},
           {"help", bad},
           {"devices", bad},
           {"view", "-" + bad},
           {"view", bad},
           {"iterate", bad},
           {"ranges", bad},
           {"ranges", "-e", "def f() -> (Y) { Y = 1 }", "--def", bad},
           {"eval", bad},
           {"eval", "-e", "def f(float(N) X) -> (Y) { Y(i) = X(i) }", "--in", "X=" + bad + ".npy"},
           {"fuzz", "reshape", "--" + bad},
           {"fuzz", "reshape", "--kinds", bad}}) {
    const Outcome outcome = run(arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.status != 0);
    CHECK(outcome.err.find(shown) != std::string::npos);
    CHECK(outcome.err.find_first_of("\x1b\xff\x7f") == std::string::npos);
  }
}

TEST_CASE("devices lists the CPU and marks the default, and says how kernels are run") {
  using namespace oriel;
  set_eigen_tier(EigenTier::tile);
  const Outcome outcome = run({"devices"});
  CHECK(outcome.status == 0);
  CHECK(starts_with(outcome.out, "eigen"));
  CHECK(outcome.out.find("eigen (default): CPU, ") == 0);
  // The level in use is printed before the list of built levels.
  const std::string level = oriel::backend::isa::table().name;
#if defined(__aarch64__)
  CHECK(outcome.out.find(", neon of those built, neon; ") != std::string::npos);
#else
  CHECK(outcome.out.find(", " + level + " of those built, baseline") != std::string::npos);
#endif
#if defined(__x86_64__)
  CHECK(outcome.out.find("baseline, avx2") != std::string::npos);
  CHECK(outcome.out.find(" and avx512") != std::string::npos);
#endif
  CHECK(outcome.out.find("; kernels: the tile machine\n") != std::string::npos);
  CHECK(outcome.out.find("\nnull: computes nothing\n") != std::string::npos);
#ifndef ORIEL_NO_COMPILED
  set_eigen_tier(EigenTier::compile);
  const Outcome compiled = run({"devices"});
  set_eigen_tier(EigenTier::tile);
  CHECK(compiled.out.find("; kernels: compiled; ") != std::string::npos);
  CHECK(compiled.out.find("compiler") != std::string::npos);
  CHECK(compiled.out.find("; disk cache ") != std::string::npos);
#endif
}

}  // namespace command_test
