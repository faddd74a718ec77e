// The command `oriel iterate`: what several layouts give when they are iterated together.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel iterate arguments...` and returns the exit status: 0; 1 where the operands are wrong, with the error on
/// `err`; 2 where the command line is wrong. With --jsonl, lines are read from `in` and each is answered by one line on
/// `out`.
int run_iterate(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
