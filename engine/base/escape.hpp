// Escapes text from outside for use in messages.
#pragma once

#include <string>
#include <string_view>

namespace oriel::base {

/// The text with everything that could affect a terminal written as \xNN: control characters (C0, DEL, C1), bytes that
/// are not UTF-8, and characters that change the direction of the following text. With `keep_lines`, line ends and tabs
/// stay.
std::string escaped(std::string_view text, bool keep_lines = false);

}  // namespace oriel::base
