// The command `oriel fuzz`: property-based fuzzing of Oriel's view algebra, or of another implementation.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel fuzz arguments...` and returns the exit status: 0 if every property holds, 1 if one is violated (the
/// smallest case is printed on `out`), 2 if the command line is wrong. Progress is printed on `err` if that is a
/// terminal.
int run_fuzz(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
