// The JSON-lines forms of the commands. That of `oriel guards` is in guards_lines.hpp.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"
#include "oriel/shape_env.hpp"
#include "oriel/view.hpp"

namespace oriel::cli {

/// The most entries of a table in an answer.
inline constexpr std::int64_t kTableLimit = 10'000'000;

/// Whether a symbolic stack is contiguous for all values that satisfy the guards; nullopt if that depends on more.
std::optional<bool> known_contiguity(const ShapeTracker& tracker, const ShapeEnv& environment);

/// The answer to one line of `oriel view`, without a newline: {"shape":..,"views":..,"contiguous":..}, with "table" if
/// `table` is set, or {"error":..}. With symbols: also "guards". Throws only std::bad_alloc.
std::string answer_line(std::string_view line, bool table);

/// Answers every line of `in`, in order, as `oriel view`.
void answer_lines(std::istream& in, std::ostream& out, bool table);

/// The answer to one line of `oriel iterate`, without a newline: the result's layout and its formats, and the loops
/// over the operands; or
/// {"error":..}, with "mismatch_dim" if the shapes do not broadcast. Throws only std::bad_alloc.
std::string answer_iterate_line(std::string_view line);

/// One size of a shape: a number, a name, or "?" for a symbol without a name. nullopt for another text.
std::optional<lang::ArgumentSize> read_size(std::string_view text);

/// The answer to one line of `oriel ranges`. Throws only std::bad_alloc.
std::string answer_ranges(std::string_view line, const ComprehensionOptions& options);
/// Answers every line of `in`, in order, as `oriel ranges`.
void answer_ranges_lines(std::istream& in, std::ostream& out, const ComprehensionOptions& options);

}  // namespace oriel::cli
