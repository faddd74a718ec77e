// The seed of a property test: fixed, unless somebody asks for another one.
#pragma once

#include <cstdlib>
#include <string>

namespace oriel::test {

/// Gives RapidCheck a fixed seed unless RC_PARAMS names one, so that the tests of a commit always have the same result.
/// scripts/fuzz uses new seeds. Call this before the first rc::check. Returns true if the seed is the fixed one.
inline bool fix_seed() {
  const char* const given = std::getenv("RC_PARAMS");
  const std::string parameters = given == nullptr ? "" : given;
  if (parameters.find("seed=") != std::string::npos) return false;
  setenv("RC_PARAMS", (parameters + (parameters.empty() ? "" : " ") + "seed=1").c_str(), 1);
  return true;
}

}  // namespace oriel::test
