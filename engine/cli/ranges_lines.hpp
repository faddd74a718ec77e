// `oriel ranges --jsonl`: one definition with its shapes per line.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "oriel/comprehension.hpp"

namespace oriel::cli {

/// The answer to one line. Throws only std::bad_alloc.
std::string answer_ranges(std::string_view line, const ComprehensionOptions& options);
/// Answers every line of `in`, in order.
void answer_ranges_lines(std::istream& in, std::ostream& out, const ComprehensionOptions& options);

}  // namespace oriel::cli
