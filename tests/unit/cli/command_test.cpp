// The command line's own errors and answers; what `oriel view` says has its own test.
#include "cli/command.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "oriel/settings.hpp"

namespace {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome run(const std::vector<std::string>& arguments) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  const int status = oriel::cli::run(arguments, in, out, err);
  return {status, out.str(), err.str()};
}

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
  for (const char* command : {"help", "version", "devices"}) {
    const Outcome outcome = run({command, "more"});
    CHECK(outcome.status == 2);
    CHECK(starts_with(outcome.err, std::string("oriel: ") + command + " takes no arguments, but got 'more'\n"));
  }
}

TEST_CASE("devices lists the CPU and marks the default, and says how kernels are run") {
  using namespace oriel;
  set_eigen_tier(EigenTier::tile);
  const Outcome outcome = run({"devices"});
  CHECK(outcome.status == 0);
  CHECK(starts_with(outcome.out, "eigen"));
  CHECK(outcome.out.find("eigen (default): CPU, ") == 0);
  // The level in use stands in front of those that are built.
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
  set_eigen_tier(EigenTier::compile);
  const Outcome compiled = run({"devices"});
  set_eigen_tier(EigenTier::tile);
  CHECK(compiled.out.find("; kernels: compiled; ") != std::string::npos);
  CHECK(compiled.out.find("compiler") != std::string::npos);
  CHECK(compiled.out.find("; disk cache ") != std::string::npos);
}
