// `oriel ranges --jsonl`: one definition with its shapes per line.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "lang/infer.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::cli {

/// One size of a shape: a number, a name, or "?" for a symbol without a name. nullopt for another text.
std::optional<lang::ArgumentSize> read_size(std::string_view text);

/// The answer to one line. Throws only std::bad_alloc.
std::string answer_ranges(std::string_view line, const ComprehensionOptions& options);
/// Answers every line of `in`, in order.
void answer_ranges_lines(std::istream& in, std::ostream& out, const ComprehensionOptions& options);

}  // namespace oriel::cli
