// The commands that run a program and show what its kernels did.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace oriel::cli {

/// Runs `oriel inspect arguments...`: a program with ORIEL_REPORT set, whose page is written when it ends. Returns the
/// program's exit status, or 2 if the command line is wrong, or 1 if the program cannot be run or made no kernels.
int run_inspect(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

/// Runs `oriel profile arguments...`: the same, and prints a table of kernels from what the page is made of, with the
/// next gain.
int run_profile(std::span<const std::string> arguments, std::ostream& out, std::ostream& err);

}  // namespace oriel::cli
