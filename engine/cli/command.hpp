// The command `oriel` as a function: it takes arguments and streams and returns the exit status.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "oriel/error.hpp"

namespace oriel::cli {

/// The exit status for a wrong command line.
inline constexpr int kUsageError = 2;
/// Prints the message and the usage, and returns kUsageError.
int usage_error(std::string_view command, std::string_view message, std::string_view usage, std::ostream& err);

/// Prints the error's message, escaped for terminals, and returns the exit status of failed work, 1. For an error in a
/// comprehension it prints the diagnostic.
int failed(const Error& error, std::ostream& err);

/// True if the argument asks for help.
inline bool asks_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

/// Runs `oriel arguments...` (without the program's name). Returns the exit status: 0; 1 if the work failed, with the
/// error's message on `err`; 2 if the command line is wrong, with the usage on `err`. Throws none of Oriel's errors.
int run(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
