// The command `oriel fuzz`: property-based fuzzing of the view algebra, this one or another.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel fuzz arguments...` and returns the exit status: 0 where every property holds, 1 where one is broken (the
/// smallest case is on `out`), 2 where the command line is wrong. Progress goes to `err` where that is a terminal.
int run_fuzz(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
