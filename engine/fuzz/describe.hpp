// A counterexample in every form that its finder may want.
#pragma once

#include <span>
#include <string>

#include "fuzz/campaign.hpp"
#include "fuzz/eager.hpp"

namespace oriel::fuzz {

/// Positions as rows of the last axis, a blank line where an outer axis but the last two moves on, -1 where invalid;
/// two blanks before each row.
std::string table_text(std::span<const std::int64_t> positions, const Shape& shape);

/// The failure, its smallest case as a table, as `oriel view` text, as JSON and, where it is this build's, as C++.
/// `found` says where: "found " stands before it.
std::string describe(Kind kind, const Counterexample& smallest, const std::string& found, bool external = false);

/// The same, and how to find it again.
/// `command` is what was run, without --seed and what depends on the case.
std::string describe(const CampaignFailure& failure, const CampaignOptions& options, const std::string& command);

/// A whole program that prints the case and its simplified form, and exits with 1 where the table, the number of views
/// or a second simplify shows the fault. For a fault of another property, such as an inverse, it is where to start
/// from.
std::string cpp_program(const Case& c, Kind kind, const Failure& failure);

}  // namespace oriel::fuzz
