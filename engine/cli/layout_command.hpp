// The command `oriel layout`: other people's notations for layouts, translated, compared and combined.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel layout arguments...` and returns the exit status: 0; 1 if a layout is wrong or the operation has no
/// result, with the error on `err`, or if `equal` finds a difference; 2 if the command line is wrong. With --json,
/// reads lines from `in` and answers each by one line on `out`.
int run_layout(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
