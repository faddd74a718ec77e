// The parts of texts on the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oriel::cli {

/// The text without leading and trailing blanks.
std::string_view trim(std::string_view text);
/// The parts between separators, each of which is one of these characters, trimmed. A text without any is one part.
std::vector<std::string_view> split(std::string_view text, std::string_view separators);
/// The same with the separators that stand outside all parentheses.
std::vector<std::string_view> split_outside(std::string_view text, std::string_view separators);
/// Does the parenthesis at the start close at the end?
bool in_parentheses(std::string_view text);
/// The 64-bit integer that `text` says, else ParseError, which names `command` and cites `where`.
std::int64_t parse_number(std::string_view text, std::string_view where, std::string_view command);

/// The whole file. Throws IoError, which names the command and the file, if it cannot be read or holds more than 2^24
/// bytes.
std::string read_text(const char* command, const std::string& path);

}  // namespace oriel::cli
