// `oriel ranges`: the results of range inference for a definition and given shapes.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel ranges arguments...`; errors and exit status as for run() in command.hpp.
int run_ranges(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
