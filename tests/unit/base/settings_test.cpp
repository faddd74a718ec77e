#include "oriel/settings.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/settings.hpp"
#include "oriel/error.hpp"

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
  CHECK(eigen_tier() == EigenTier::compile);
  setenv("ORIEL_EIGEN", "tile", 1);
  CHECK(eigen_tier() == EigenTier::compile);  // read once
  set_eigen_tier(EigenTier::tile);
  CHECK(eigen_tier() == EigenTier::tile);
}
