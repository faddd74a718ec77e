// Numbers and pictures for people: text forms, a histogram, an index table.
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
/// With HTML's special characters written out.
std::string escaped(std::string_view text);

/// Bars on a logarithmic scale of counts, over time on a logarithmic scale.
std::string histogram_svg(const std::array<std::uint64_t, kTimeBuckets>& counts);
/// A column for each length that was seen, as high as its share of cases that are one view.
std::string shares_svg(const std::array<LengthTally, kLongest>& by_length);
/// The table as HTML: a row for each row of the last axis, a grid for each index of the outer axes but the last two,
/// coloured by position. Says so where it is too large.
std::string index_grid(const Table& table);

}  // namespace oriel::fuzz
