#include "cli/view_program.hpp"

#include <algorithm>
#include <charconv>

#include "fuzz/case.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

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

/// Parses "4,2,3"; "" and "()" mean no numbers.
Ints parse_ints(std::string_view step, std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = trim(text.substr(1, text.size() - 2));
  Ints ints;
  if (text.empty()) return ints;
  for (const std::string_view part : split(text, ",")) ints.push_back(parse_int(step, part));
  return ints;
}

/// Parses the ranges of shrink, "0:2,1:3", or the pairs of pad, "1,1 0,0".
Ranges parse_pairs(std::string_view step, bool shrink, std::string_view text) {
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

/// Parses the notation of View::str: "(2,3):(3,1)+5[0:2,1:3)".
class ViewReader {
 public:
  explicit ViewReader(std::string_view text) : whole_(text), text_(text) {}

  View read() {
    View view;
    view.shape = list();
    expect(":");
    view.strides = list();
    if (!text_.empty() && text_.front() != '[') view.offset = parse_int(whole_, until("["));
    if (!text_.empty()) {
      expect("[");
      const std::string_view ranges = until(")");
      expect(")");
      if (!text_.empty()) refuse("nothing");
      for (const std::string_view range : split(ranges, ",")) {
        const auto ends = split(range, ":");
        if (ends.size() != 2) refuse("a mask of ranges lo:hi");
        view.mask.push_back({parse_int(whole_, ends[0]), parse_int(whole_, ends[1])});
      }
    }
    return View::make(view.shape, view.strides, view.offset, view.mask);
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw ParseError("view", "expected " + expected + " at '" + std::string(text_) + "' in the view '" +
                                 std::string(whole_) + "'; a view is written (shape):(strides)+offset[lo:hi,lo:hi)");
  }
  void expect(std::string_view token) {
    if (!text_.starts_with(token)) refuse("'" + std::string(token) + "'");
    text_.remove_prefix(token.size());
  }
  /// The text before the token, without a leading plus.
  std::string_view until(std::string_view token) {
    const std::size_t end = std::min(text_.find(token), text_.size());
    std::string_view part = text_.substr(0, end);
    text_.remove_prefix(end);
    if (part.starts_with('+')) part.remove_prefix(1);
    return trim(part);
  }
  Ints list() {
    expect("(");
    const std::string_view part = until(")");
    expect(")");
    return parse_ints(whole_, part);
  }

  std::string_view whole_;
  std::string_view text_;
};

/// Parses a shape, or views joined by " over ", outermost first.
ShapeTracker parse_start(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return ShapeTracker(parse_ints(text, text));
  constexpr std::string_view over = " over ";
  std::vector<View> innermost_first;
  while (true) {
    const std::size_t end = text.find(over);
    innermost_first.insert(innermost_first.begin(), ViewReader(trim(text.substr(0, end))).read());
    if (end == std::string_view::npos) return ShapeTracker::from_views(innermost_first);
    text.remove_prefix(end + over.size());
  }
}

fuzz::Movement parse_movement(std::string_view step) {
  const std::size_t end = step.find_first_of(kSpace);
  const std::string_view rest = end == std::string_view::npos ? std::string_view() : step.substr(end);
  fuzz::Movement movement;
  movement.kind = fuzz::movement_named(step.substr(0, end), "view");
  if (fuzz::takes_pairs(movement.kind)) {
    movement.ranges = parse_pairs(step, movement.kind == fuzz::MovementKind::Shrink, rest);
  } else {
    movement.ints = parse_ints(step, rest);
  }
  return movement;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(trim(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<ViewStep> run_program(std::string_view program) {
  const std::vector<std::string_view> parts = split(program, "|");
  if (parts[0].empty()) {
    throw ParseError(
        "view",
        "a program starts with a shape, such as 2,6, or () for a scalar, or with views, such as (2,3):(1,2); got '" +
            std::string(program) + "'");
  }
  std::vector<ViewStep> steps{{std::string(parts[0]), parse_start(parts[0])}};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const std::string_view step = parts[k];
    if (step.empty()) throw ParseError("view", "an empty step; between bars stands a movement, such as flip 0");
    steps.push_back({std::string(step), fuzz::apply(steps.back().tracker, parse_movement(step))});
  }
  return steps;
}

}  // namespace oriel::cli
