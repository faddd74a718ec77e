#include "cli/words.hpp"

#include <fmt/format.h>

#include <charconv>

#include "io/file.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> split_outside(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth > 0 || separators.find(text[k]) == std::string_view::npos) continue;
    parts.push_back(trim(text.substr(from, k - from)));
    from = k + 1;
  }
  parts.push_back(trim(text.substr(from)));
  return parts;
}

bool in_parentheses(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  int depth = 0;
  for (std::size_t k = 0; k + 1 < text.size(); ++k) {
    depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
    if (depth == 0) return false;
  }
  return true;
}

std::int64_t parse_number(std::string_view text, std::string_view where, std::string_view command) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error != std::errc()) {
    throw ParseError(command, fmt::format("'{}' in '{}' is not a 64-bit integer", text, where));
  }
  return value;
}

std::string read_text(const char* command, const std::string& path) {
  constexpr std::size_t kLimit = std::size_t{1} << 24;
  io::Bytes bytes;
  io::InputFile(command, path).read_rest(bytes, kLimit);
  return {bytes.begin(), bytes.end()};
}

}  // namespace oriel::cli
