#include "codegen/expression.hpp"

#include "oriel/error.hpp"

namespace oriel::codegen {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A tracker's own expressions hold numbers, operators and the variables i0, i1, ...; nothing else starts with a letter.
std::string rename(const std::string& text, std::span<const std::string> names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != 'i') {
      out += text[at++];
      continue;
    }
    std::size_t axis = 0;
    for (++at; at < text.size() && is_digit(text[at]); ++at)
      axis = axis * 10 + static_cast<std::size_t>(text[at] - '0');
    out += names[axis];
  }
  return out;
}

}  // namespace

AccessText expression(const ShapeTracker& tracker, std::span<const std::string> names) {
  if (names.size() != tracker.shape().size()) {
    throw InternalError("expression", std::to_string(names.size()) + " names for the " +
                                          std::to_string(tracker.shape().size()) + " axes of " + tracker.str());
  }
  return {rename(tracker.index_expression(), names), rename(tracker.valid_expression(), names)};
}

std::vector<std::string> loop_names(std::size_t outer, std::size_t inner) {
  std::vector<std::string> names;
  names.reserve(outer + inner);
  for (std::size_t d = 0; d < outer; ++d) names.push_back("o" + std::to_string(d));
  for (std::size_t d = 0; d < inner; ++d) names.push_back("r" + std::to_string(d));
  return names;
}

}  // namespace oriel::codegen
