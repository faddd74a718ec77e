#include "cli/view_program.hpp"

#include <algorithm>
#include <charconv>

#include "cli/words.hpp"
#include "fuzz/case.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/// Reads sizes: integers, and expressions over the symbols of a session if there is one.
class SizeParser {
 public:
  explicit SizeParser(GuardsSession* session) : session_(session) {}

  SymInt size(std::string_view step, std::string_view text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && end == text.data() + text.size() && error == std::errc()) return value;
    if (session_ != nullptr && !text.empty()) return session_->number(std::string(text), "view");
    const std::string reason =
        error == std::errc::result_out_of_range ? "' does not fit a signed 64-bit integer" : "' is not an integer";
    throw ParseError("view", "'" + std::string(text) + reason + " in '" + std::string(step) + "'");
  }

  /// Parses "4,2,3"; "" and "()" mean no numbers.
  Ints sizes(std::string_view step, std::string_view text) const {
    text = trim(text);
    if (text == "()" || (in_parentheses(text) && split_outside(text, ",").size() == 1)) {
      text = trim(text.substr(1, text.size() - 2));
    }
    Ints ints;
    if (text.empty()) return ints;
    for (const std::string_view part : split_outside(text, ",")) ints.push_back(size(step, part));
    return ints;
  }

 private:
  GuardsSession* session_;
};

/// Parses the ranges of shrink, "0:2,1:3", or the pairs of pad, "1,1 0,0".
Ranges parse_pairs(const SizeParser& parser, std::string_view step, bool shrink, std::string_view text) {
  Ranges pairs;
  for (const std::string_view part : split_outside(trim(text), shrink ? ", \t" : " \t")) {
    if (part.empty()) continue;
    const auto ends = split_outside(part, shrink ? ":" : ",");
    if (ends.size() != 2) {
      throw ParseError("view", "'" + std::string(part) + "' in '" + std::string(step) + "' is not a pair; write " +
                                   (shrink ? "shrink lo:hi,lo:hi" : "pad before,after before,after"));
    }
    pairs.push_back({parser.size(step, ends[0]), parser.size(step, ends[1])});
  }
  return pairs;
}

/// Parses the notation of View::str: "(2,3):(3,1)+5[0:2,1:3)".
class ViewReader {
 public:
  ViewReader(const SizeParser& parser, std::string_view text) : parser_(parser), whole_(text), text_(text) {}

  View read() {
    View view;
    view.shape = list();
    expect(":");
    view.strides = list();
    if (!text_.empty() && text_.front() != '[') view.offset = parser_.size(whole_, until(text_.find('[')));
    if (!text_.empty()) {
      expect("[");
      const std::string_view ranges = until(closing());
      expect(")");
      if (!text_.empty()) refuse("nothing");
      for (const std::string_view range : split_outside(ranges, ",")) {
        const auto ends = split_outside(range, ":");
        if (ends.size() != 2) refuse("a mask of ranges lo:hi");
        view.mask.push_back({parser_.size(whole_, ends[0]), parser_.size(whole_, ends[1])});
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
  /// The text up to that place, without a leading plus.
  std::string_view until(std::size_t end) {
    end = std::min(end, text_.size());
    std::string_view part = text_.substr(0, end);
    text_.remove_prefix(end);
    if (part.starts_with('+')) part.remove_prefix(1);
    return trim(part);
  }
  /// The first closing parenthesis that has no opening one before it.
  std::size_t closing() const {
    int depth = 0;
    for (std::size_t k = 0; k < text_.size(); ++k) {
      if (text_[k] == ')' && depth-- == 0) return k;
      if (text_[k] == '(') ++depth;
    }
    return text_.size();
  }
  Ints list() {
    expect("(");
    const std::string_view part = until(closing());
    expect(")");
    return parser_.sizes(whole_, part);
  }

  const SizeParser& parser_;
  std::string_view whole_;
  std::string_view text_;
};

/// Parses a shape, or views joined by " over ", outermost first.
ShapeTracker parse_start(const SizeParser& parser, std::string_view text) {
  if (text.find(':') == std::string_view::npos) return ShapeTracker(parser.sizes(text, text));
  constexpr std::string_view over = " over ";
  std::vector<View> innermost_first;
  while (true) {
    const std::size_t end = text.find(over);
    innermost_first.insert(innermost_first.begin(), ViewReader(parser, trim(text.substr(0, end))).read());
    if (end == std::string_view::npos) return ShapeTracker::from_views(innermost_first);
    text.remove_prefix(end + over.size());
  }
}

fuzz::Movement parse_movement(const SizeParser& parser, std::string_view step) {
  const std::size_t end = step.find_first_of(kSpace);
  const std::string_view rest = end == std::string_view::npos ? std::string_view() : step.substr(end);
  fuzz::Movement movement;
  movement.kind = fuzz::movement_named(step.substr(0, end), "view");
  if (fuzz::takes_pairs(movement.kind)) {
    movement.ranges = parse_pairs(parser, step, graph::row(movement.kind).takes == graph::Takes::Slices, rest);
  } else {
    movement.ints = parser.sizes(step, rest);
  }
  return movement;
}

}  // namespace

ViewProgram run_program(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, "|");
  ViewProgram program;
  std::size_t first = 0;
  if (parts[0].find('=') != std::string_view::npos && parts.size() > 1) {
    program.session = std::make_unique<GuardsSession>();
    program.session->add_symbol_texts(parts[0], "view");
    first = 1;
  }
  const SizeParser parser(program.session.get());
  if (parts[first].empty()) {
    throw ParseError(
        "view",
        "a program starts with a shape, such as 2,6, or () for a scalar, or with views, such as (2,3):(1,2); got '" +
            std::string(text) + "'");
  }
  std::vector<ViewStep>& steps = program.steps;
  steps.push_back({std::string(parts[first]), parse_start(parser, parts[first])});
  for (std::size_t k = first + 1; k < parts.size(); ++k) {
    const std::string_view step = parts[k];
    if (step.empty()) throw ParseError("view", "an empty step; between bars stands a movement, such as flip 0");
    steps.push_back({std::string(step), fuzz::apply(steps.back().tracker, parse_movement(parser, step))});
  }
  return program;
}

}  // namespace oriel::cli
