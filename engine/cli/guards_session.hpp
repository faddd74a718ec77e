// Questions about symbolic sizes, asked in turn: what both forms of `oriel guards` share.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "oriel/shape_env.hpp"

namespace oriel::cli {

/// What is asked of a condition or a number.
enum class QuestionKind {
  condition,  ///< "bool": turned into a bool, with a guard where it is not known
  known,      ///< whether it holds for all values in range that satisfy the guards; never records
  number,     ///< "int": turned into a number
  expect,     ///< stated; checked later where a symbol has no hint
  or_false,   ///< known, else false
  or_true,    ///< known, else true
  constrain,  ///< a symbol stated to be in a range
};
/// "bool", "known", ... Nothing for another word.
std::optional<QuestionKind> question_kind(std::string_view word) noexcept;

struct Question {
  QuestionKind kind = QuestionKind::condition;
  std::string text;       ///< of a condition or number; the symbol of constrain
  SymBounds bounds = {};  ///< of constrain
};

/// A bool, a number, or nothing (of expect and constrain).
using Answer = std::variant<std::monostate, bool, std::int64_t>;

/// An environment with named symbols, and questions in infix text.
class GuardsSession {
 public:
  explicit GuardsSession(ShapeEnv::Mode mode = ShapeEnv::Mode::minimal)
      : environment_(ShapeEnv::Options{.mode = mode}) {}
  void add_symbol(const std::string& name, std::int64_t hint, SymBounds bounds) {
    environment_.symbol(name, hint, bounds);
  }
  void add_unbacked(const std::string& name) { environment_.unbacked({}, name); }
  /// NAME, NAME=HINT, NAME=HINT:LO.. or NAME=HINT:LO..HI; a symbol with a hint is at least 2 unless it has a range. An
  /// error in the text names `command`.
  void add_symbol_text(std::string_view text, std::string_view command);
  /// The same of several symbols, between commas.
  void add_symbol_texts(std::string_view texts, std::string_view command);

  /// Throws what ShapeEnv throws, and ParseError for a text that is no condition (or number, where one is wanted).
  Answer ask(const Question& question);
  /// Whether the text is a condition; else it is a number.
  bool is_condition(const std::string& text);

  /// The size that a text says. Throws ParseError for a text that is no number; it names `command`.
  SymInt number(const std::string& text, std::string_view command);

  const ShapeEnv& environment() const noexcept { return environment_; }

 private:
  ShapeEnv environment_;
};

}  // namespace oriel::cli
