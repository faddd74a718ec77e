// The JSON-lines form of `oriel iterate`.
#pragma once

#include <string>
#include <string_view>

namespace oriel::cli {

/// The answer to one line, without a newline: the result's layout and its formats, and the loops over the operands; or
/// {"error":..}, with "mismatch_dim" if the shapes do not broadcast. Throws only std::bad_alloc.
std::string answer_iterate_line(std::string_view line);

}  // namespace oriel::cli
