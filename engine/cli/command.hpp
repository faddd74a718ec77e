// The command `oriel` as a function: it takes arguments and streams and returns the exit status.
#pragma once

#include <iosfwd>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oriel/error.hpp"

namespace oriel::cli {

/// The exit status for a wrong command line.
inline constexpr int kUsageError = 2;

/// What is wrong with the command line. Its message and the usage are printed, and the exit status is kUsageError.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Arguments = std::span<const std::string>;

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

/// One of the commands, which NAME_command.cpp defines.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::string (*usage)();
  /// Returns the exit status, 0 for success. Throws UsageError, and an Error if the work failed, whose status is 1.
  int (*run)(Arguments rest, const Streams& streams);
  bool help_first = false;  // only the first argument asks for help: those behind a program are for it
};
extern const Command kEval, kView, kLayout, kInspect, kProfile, kFuzz, kIterate, kRanges, kGrad, kGuards, kShard;

/// Prints the error's message, escaped for terminals, and returns the exit status of failed work, 1. For an error in a
/// comprehension it prints the diagnostic.
int failed(const Error& error, std::ostream& err);

/// True if the argument asks for help.
inline bool asks_help(std::string_view argument) { return argument == "--help" || argument == "-h"; }

/// Runs `oriel arguments...` (without the program's name). Returns the exit status: 0; 1 if the work failed, with the
/// error's message on `err`; 2 if the command line is wrong, with the usage on `err`. Throws none of Oriel's errors.
int run(Arguments arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
