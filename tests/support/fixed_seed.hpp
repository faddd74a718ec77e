// The seed of a property test: the same for the same commit, unless somebody asks for another one.
#pragma once

#include <cstdlib>
#include <string>

namespace oriel::test {

/// Gives RapidCheck a fixed seed where RC_PARAMS names none, so that a test run says the same of the same commit every
/// time. Fresh seeds are for scripts/fuzz. Call it before the first rc::check. True where the seed is the fixed one.
inline bool fix_seed() {
  const char* const given = std::getenv("RC_PARAMS");
  const std::string parameters = given == nullptr ? "" : given;
  if (parameters.find("seed=") != std::string::npos) return false;
  setenv("RC_PARAMS", (parameters + (parameters.empty() ? "" : " ") + "seed=1").c_str(), 1);
  return true;
}

}  // namespace oriel::test
