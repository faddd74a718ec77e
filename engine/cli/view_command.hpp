// The command `oriel view`: applies movements to a view, for one program or for each line of input.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel view arguments...` and returns the exit status: 0; 1 if the program is wrong, with the error on `err`; 2
/// if the command line is wrong. With --jsonl, reads lines from `in` and answers each by one line on `out`.
int run_view(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
