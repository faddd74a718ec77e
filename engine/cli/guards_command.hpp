// The command `oriel guards`: questions about symbolic sizes and what answering them records.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel guards arguments...` and returns the exit status: 0; 1 where a question is wrong or cannot be answered,
/// with the error on `err`; 2 where the command line is wrong. With --jsonl, lines are read from `in` and each is
/// answered by one line on `out`.
int run_guards(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
