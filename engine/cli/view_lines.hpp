// The JSON-lines form of `oriel view`.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace oriel::cli {

/// The most entries of a table in an answer.
inline constexpr std::int64_t kTableLimit = 10'000'000;

/// The answer to one line, without a newline: {"shape":..,"views":..,"contiguous":..}, with "table" if `table` is set,
/// or {"error":..}. Throws only std::bad_alloc.
std::string answer_line(std::string_view line, bool table);

/// Answers every line of `in`, in order.
void answer_lines(std::istream& in, std::ostream& out, bool table);

}  // namespace oriel::cli
