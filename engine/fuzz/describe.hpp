// Prints a counterexample in several forms.
#pragma once

#include <span>
#include <string>

#include "fuzz/campaign.hpp"
#include "fuzz/eager.hpp"

namespace oriel::fuzz {

/// Positions as a table with one line per row of the last axis, indented by two blanks. Invalid entries are -1. A blank
/// line separates the tables of the last two axes.
std::string table_text(std::span<const std::int64_t> positions, const Shape& shape);

/// The failure and its smallest case as a table, as `oriel view` text, as JSON and, unless the subject is external, as
/// C++. `found` describes how it was found and is printed after "found ".
std::string describe(Kind kind, const Counterexample& smallest, const std::string& found, bool external = false);

/// The same, with instructions to reproduce it. `command` is the command that was run, without --seed and options that
/// depend on the case.
std::string describe(const CampaignFailure& failure, const CampaignOptions& options, const std::string& command);

/// A complete program that prints the case and its simplified form. It exits with 1 if the table, the number of views
/// or a second simplify shows the fault. For faults of other properties, such as an inverse, it is a starting point.
std::string cpp_program(const Case& c, Kind kind, const Failure& failure);

}  // namespace oriel::fuzz
