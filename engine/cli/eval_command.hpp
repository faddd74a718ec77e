// `oriel eval`: evaluates a comprehension on files.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel eval arguments...`; errors and exit status as for run() in command.hpp.
int run_eval(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
