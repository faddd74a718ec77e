#include "oriel/settings.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/environment.hpp"
#include "base/settings.hpp"
#include "base/subprocess.hpp"
#include "oriel/error.hpp"

namespace settings_test {

using namespace oriel;

TEST_CASE("the bounds on laziness") {
  CHECK(lazy_limits().nodes == 8192);
  CHECK(lazy_limits().bytes == std::int64_t{1} << 30);
  set_lazy_limits({.nodes = 5, .bytes = 0});
  CHECK(lazy_limits().nodes == 5);
  CHECK(lazy_limits().bytes == 0);
  CHECK_THROWS_WITH_AS(set_lazy_limits({.nodes = -1, .bytes = 7}),
                       "set_lazy_limits: nodes -1 and bytes 7 must be >= 0 (0 means no bound)", ArgumentError);
  CHECK(lazy_limits().nodes == 5);
}

TEST_CASE("numbers from the environment") {
  CHECK_FALSE(base::env_count("ORIEL_TEST_UNSET"));
  setenv("ORIEL_TEST_SET", "123", 1);
  CHECK(base::env_count("ORIEL_TEST_SET") == 123);
  for (const char* bad : {"-1", "12x", "many", "99999999999999999999"}) {
    setenv("ORIEL_TEST_SET", bad, 1);
    CHECK_THROWS_WITH_AS(
        base::env_count("ORIEL_TEST_SET"),
        ("ORIEL_TEST_SET: \"" + std::string(bad) + "\" is not a whole number >= 0 (0 means no bound)").c_str(),
        ArgumentError);
  }
}

TEST_CASE("the tier of the CPU's kernels") {
  setenv("ORIEL_EIGEN", "fastest", 1);
  CHECK_THROWS_WITH_AS(eigen_tier(), "ORIEL_EIGEN: \"fastest\" is no tier; use tile, compile, auto", ArgumentError);
  setenv("ORIEL_EIGEN", "compile", 1);
#ifdef ORIEL_NO_COMPILED
  CHECK_THROWS_WITH_AS(eigen_tier(),
                       "ORIEL_EIGEN: EigenTier::compile (\"compile\") needs the compiled tier, which this build lacks; "
                       "use tile or auto, or build Oriel with -Dcompiled=enabled (the profile full has it)",
                       ArgumentError);
#else
  CHECK(eigen_tier() == EigenTier::compile);
  setenv("ORIEL_EIGEN", "tile", 1);
  CHECK(eigen_tier() == EigenTier::compile);  // the environment is read once
#endif
  set_eigen_tier(EigenTier::tile);
  CHECK(eigen_tier() == EigenTier::tile);
}

TEST_CASE("the default treatment of positions outside an axis") {
  setenv("ORIEL_BOUNDS", "clip", 1);
  CHECK_THROWS_WITH_AS(default_bounds(), "ORIEL_BOUNDS: \"clip\" is no treatment of bounds; use zero, checked",
                       ArgumentError);
  setenv("ORIEL_BOUNDS", "zero", 1);
  CHECK(default_bounds() == Bounds::zero);
  set_default_bounds(Bounds::checked);
  CHECK(default_bounds() == Bounds::checked);
  unsetenv("ORIEL_BOUNDS");
}

TEST_CASE("a thread with an environment of its own, and the programs that it runs, see no other") {
  setenv("ORIEL_TEST_SET", "before", 1);
  const auto copy = base::copy_environment();
  setenv("ORIEL_TEST_SET", "after", 1);
  CHECK(base::env_text("ORIEL_TEST_SET") == "after");
  const std::vector<std::string> show{"/usr/bin/env"};
  {
    const base::ThreadEnvironment own(copy);
    CHECK(base::env_text("ORIEL_TEST_SET") == "before");
    CHECK(base::run_program(show, {}).output.find("ORIEL_TEST_SET=before\n") != std::string::npos);
    std::thread other([] { CHECK(base::env_text("ORIEL_TEST_SET") == "after"); });
    other.join();
  }
  CHECK(base::env_text("ORIEL_TEST_SET") == "after");
}

TEST_CASE("a process with rights that its user lacks takes no setting from the environment") {
  if (geteuid() != 0) return;  // others would need a setuid file of another user
  setenv("ORIEL_TEST_SET", "anything", 1);
  REQUIRE(base::env_text("ORIEL_TEST_SET").has_value());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (setresuid(65534, 0, 0) != 0) _exit(2);
    const std::vector<std::string> show{"/usr/bin/env"};
    const std::string seen = base::run_program(show, {.variables = {"NAME=value"}}).output;
    _exit(!base::env_text("ORIEL_TEST_SET") && seen == "NAME=value\nPATH=/usr/local/bin:/usr/bin:/bin\n" ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace settings_test
