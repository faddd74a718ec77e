// The JSON-lines form of `oriel view`.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "oriel/shape_env.hpp"
#include "oriel/view.hpp"

namespace oriel::cli {

/// The most entries of a table in an answer.
inline constexpr std::int64_t kTableLimit = 10'000'000;

/// Whether a symbolic stack is contiguous for all values that satisfy the guards; nullopt if that depends on more.
std::optional<bool> known_contiguity(const ShapeTracker& tracker, const ShapeEnv& environment);

/// The answer to one line, without a newline: {"shape":..,"views":..,"contiguous":..}, with "table" if `table` is set,
/// or {"error":..}. With symbols: also "guards". Throws only std::bad_alloc.
std::string answer_line(std::string_view line, bool table);

/// Answers every line of `in`, in order.
void answer_lines(std::istream& in, std::ostream& out, bool table);

}  // namespace oriel::cli
