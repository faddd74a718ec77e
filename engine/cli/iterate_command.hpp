// The command `oriel iterate`: the joint iteration of several layouts.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel iterate arguments...` and returns the exit status: 0; 1 if the operands are wrong, with the error on
/// `err`; 2 if the command line is wrong. With --jsonl, reads lines from `in` and answers each by one line on `out`.
int run_iterate(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
