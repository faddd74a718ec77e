// The report of a campaign as one self-contained HTML page, a counterexample in several forms, and numbers for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fuzz/campaign.hpp"
#include "fuzz/eager.hpp"

namespace oriel::fuzz {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t n);
/// "438 ns", "10.8 us", "1.2 ms"; "-" for 0.
std::string duration_text(double nanoseconds);

/// The page: rates by kind and by length, verdicts, searches, times of merges, the hardest cases with their positions
/// as pictures, and the counterexample if there is one. It needs no other files.
std::string report_page(const CampaignOptions& options, const CampaignResult& result, const std::string& command);

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
