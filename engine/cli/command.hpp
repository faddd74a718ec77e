// The command `oriel` without its process: arguments and streams in, exit status out.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "oriel/error.hpp"

namespace oriel::cli {

/// The exit status of a command that was called wrongly.
inline constexpr int kUsageError = 2;
/// Says so, with how the command is called, and returns that status.
int usage_error(std::string_view command, std::string_view message, std::string_view usage, std::ostream& err);

/// Says what went wrong, with nothing in it that acts on a terminal, and returns the exit status of failed work, 1. A
/// fault in a comprehension stands as its diagnostic.
int failed(const Error& error, std::ostream& err);

/// The argument asks how the command is called.
inline bool asks_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

/// Runs `oriel arguments...` (the program's name left out). Returns the exit status: 0; 1 where the work failed, with
/// the error's message on `err`; 2 where the command line is wrong, with the usage on `err`. Throws nothing of Oriel's.
int run(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
