#include "cli/iterate_operands.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cli/json.hpp"
#include "cli/words.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {

Ints OperandParser::integers(std::string_view operand, std::string_view text) const {
  text = trim(text);
  if (in_parentheses(text)) text = trim(text.substr(1, text.size() - 2));
  Ints ints;
  if (text.empty()) return ints;
  for (const std::string_view entry : split_outside(text, ",")) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
    if (!entry.empty() && end == entry.data() + entry.size() && error == std::errc()) {
      ints.push_back(value);
    } else if (session_ != nullptr && !entry.empty()) {
      ints.push_back(session_->number(std::string(entry), "iterate"));
    } else {
      throw ParseError("iterate", fmt::format("'{}' in '{}' is not a 64-bit integer; write shape:strides, such as "
                                              "2,3:3,1",
                                              entry, operand));
    }
    if (ints.size() > kMaxRank) throw ParseError("iterate", fmt::format("there may be {} axes", kMaxRank));
  }
  return ints;
}

Layout OperandParser::layout(std::string_view text) const {
  text = trim(text);
  if (text.empty()) {
    throw ParseError("iterate", "an operand is missing; write shape:strides, such as 2,3:3,1, with + between operands");
  }
  const std::size_t colon = text.find(':');
  Shape shape = integers(text, text.substr(0, colon));
  if (colon == std::string_view::npos) return Layout::contiguous(shape);
  return Layout::make(std::move(shape), integers(text, text.substr(colon + 1)));
}

IterationOperand OperandParser::operand(std::string_view text) const {
  const std::size_t at = text.find('@');
  IterationOperand operand(layout(text.substr(0, at)));
  if (at == std::string_view::npos) return operand;
  const Ints offset = integers(trim(text), text.substr(at + 1));
  if (offset.size() != 1) {
    throw ParseError("iterate", fmt::format("'{}' has {} offsets; write shape:strides@offset, such as 2,3:3,1@0",
                                            trim(text), offset.size()));
  }
  operand.offset = offset[0];
  return operand;
}

std::vector<IterationOperand> OperandParser::operands(std::string_view text) const {
  std::vector<IterationOperand> operands;
  for (const std::string_view part : split_outside(text, "+")) operands.push_back(operand(part));
  return operands;
}

}  // namespace oriel::cli
