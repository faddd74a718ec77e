// Numbers and drawings for the report: text forms, a histogram, an index table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/eager.hpp"
#include "fuzz/tally.hpp"

namespace oriel::fuzz {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t n);
/// "438 ns", "10.8 us", "1.2 ms"; "-" for 0.
std::string duration_text(double nanoseconds);
/// The text with HTML's special characters escaped.
std::string escaped(std::string_view text);

/// A histogram of times. Both axes, time and count, are logarithmic.
std::string histogram_svg(const std::array<std::uint64_t, kTimeBuckets>& counts);
/// A bar chart: for each length of cases, the share of cases that are one view.
std::string shares_svg(const std::array<LengthTally, kLongest>& by_length);
/// The table as HTML, coloured by position: one grid for each index of the axes before the last two. A table that is
/// too large is replaced by a note.
std::string index_grid(const Table& table);

}  // namespace oriel::fuzz
