// The JSON-lines form of `oriel iterate`.
#pragma once

#include <string>
#include <string_view>

namespace oriel::cli {

/// The answer to one line, without a newline: the result's layout, what it is, and how the operands are walked; or
/// {"error":..}, with "mismatch_dim" where the shapes do not broadcast. Throws nothing but std::bad_alloc.
std::string answer_iterate_line(std::string_view line);

}  // namespace oriel::cli
