// Runs a command of `oriel` without starting a process.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace oriel::test {

/// The exit status of a command and what it printed.
struct Outcome {
  int status;
  std::string out;
  std::string err;
};

/// Runs `oriel ARGUMENTS` with `input` as its standard input.
inline Outcome run_command(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  const int status = cli::run(arguments, in, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace oriel::test
