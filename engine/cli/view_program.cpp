#include "cli/view_program.hpp"

#include <array>
#include <charconv>

#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr std::string_view kMovements = "reshape, permute, expand, shrink, pad, flip";

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
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

SymInt parse_int(std::string_view step, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error != std::errc()) {
    const std::string reason =
        error == std::errc::result_out_of_range ? "' does not fit a signed 64-bit integer" : "' is not an integer";
    throw ParseError("view", "'" + std::string(text) + reason + " in '" + std::string(step) + "'");
  }
  return value;
}

/// "4,2,3", and "" or "()" for none.
Ints parse_ints(std::string_view step, std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = trim(text.substr(1, text.size() - 2));
  Ints ints;
  if (text.empty()) return ints;
  for (const std::string_view part : split(text, ",")) ints.push_back(parse_int(step, part));
  return ints;
}

/// shrink: "0:2,1:3"; pad: "1,1 0,0".
Ranges parse_pairs(std::string_view step, std::string_view movement, std::string_view text) {
  const bool shrink = movement == "shrink";
  Ranges pairs;
  for (const std::string_view part : split(trim(text), shrink ? ", \t" : " \t")) {
    if (part.empty()) continue;
    const auto ends = split(part, shrink ? ":" : ",");
    if (ends.size() != 2) {
      throw ParseError("view", "'" + std::string(part) + "' in '" + std::string(step) + "' is not a pair; write " +
                                   (shrink ? "shrink lo:hi,lo:hi" : "pad before,after before,after"));
    }
    pairs.push_back({parse_int(step, ends[0]), parse_int(step, ends[1])});
  }
  return pairs;
}

[[noreturn]] void throw_unknown(std::string_view movement) {
  throw ParseError("view", "unknown movement '" + std::string(movement) + "'; there are " + std::string(kMovements));
}

}  // namespace

bool takes_pairs(std::string_view movement) {
  if (movement == "shrink" || movement == "pad") return true;
  for (const std::string_view known : {"reshape", "permute", "expand", "flip"}) {
    if (movement == known) return false;
  }
  throw_unknown(movement);
}

ShapeTracker apply(const ShapeTracker& tracker, std::string_view movement, const Ints& arguments) {
  if (movement == "reshape") return tracker.reshape(arguments);
  if (movement == "permute") return tracker.permute(arguments);
  if (movement == "expand") return tracker.expand(arguments);
  if (movement == "flip") return tracker.flip(arguments);
  throw_unknown(movement);
}

ShapeTracker apply(const ShapeTracker& tracker, std::string_view movement, const Ranges& pairs) {
  if (movement == "shrink") return tracker.shrink(pairs);
  if (movement == "pad") return tracker.pad(pairs);
  throw_unknown(movement);
}

std::vector<ViewStep> run_program(std::string_view program) {
  const std::vector<std::string_view> parts = split(program, "|");
  if (parts[0].empty()) {
    throw ParseError(
        "view", "a program starts with a shape, such as 2,6, or () for a scalar; got '" + std::string(program) + "'");
  }
  std::vector<ViewStep> steps{{std::string(parts[0]), ShapeTracker(parse_ints(parts[0], parts[0]))}};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const std::string_view step = parts[k];
    if (step.empty()) throw ParseError("view", "an empty step; between bars stands one of " + std::string(kMovements));
    const std::size_t end = step.find_first_of(kSpace);
    const std::string_view movement = step.substr(0, end);
    const std::string_view rest = end == std::string_view::npos ? std::string_view() : step.substr(end);
    const ShapeTracker& before = steps.back().tracker;
    steps.push_back({std::string(step), takes_pairs(movement)
                                            ? apply(before, movement, parse_pairs(step, movement, rest))
                                            : apply(before, movement, parse_ints(step, rest))});
  }
  return steps;
}

}  // namespace oriel::cli
