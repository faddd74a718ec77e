// The command `oriel` without its process: arguments and streams in, exit status out.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel arguments...` (the program's name left out). Returns the exit status: 0; 1 where the work failed, with
/// the error's message on `err`; 2 where the command line is wrong, with the usage on `err`. Throws nothing of Oriel's.
int run(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
