// The JSON-lines form of `oriel guards`.
#pragma once

#include <string>
#include <string_view>

namespace oriel::cli {

/// The answer to one line, without a newline: answers, guards, what was learnt and what is checked later; or
/// {"error":..} with the line's id and the number of the question that failed. Throws nothing but std::bad_alloc.
std::string answer_guards_line(std::string_view line);

}  // namespace oriel::cli
