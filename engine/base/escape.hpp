// Foreign bytes in messages.
#pragma once

#include <string>
#include <string_view>

namespace oriel::base {

/// The text with everything that could act on a terminal written as \xNN: control characters (C0, DEL, C1), bytes that
/// are no UTF-8, and the characters that reverse the direction of what follows. Line ends and tabs stay with
/// `keep_lines`.
std::string escaped(std::string_view text, bool keep_lines = false);

}  // namespace oriel::base
