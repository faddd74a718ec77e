#include "cli/guards_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/words.hpp"
#include "oriel/error.hpp"
#include "sym/environment.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"

namespace oriel::cli {
namespace {

constexpr std::array<std::string_view, 7> kKinds{"bool", "known", "int", "expect", "or_false", "or_true", "constrain"};

// Where the text is `evaluated`, its divisors are not 0.
sym::Expr parse_in(ShapeEnv& environment, const std::string& text, bool evaluated) {
  sym::Environment& env = environment.environment();
  const auto symbol_of = [&](std::string_view name) {
    const auto* const symbol = env.symbols.find(name);
    return symbol == nullptr ? nullptr : symbol->expr;
  };
  std::vector<sym::Expr> divisors;
  const sym::Expr read = sym::parse(env.pool, text, symbol_of, &divisors);
  for (const sym::Expr divisor : divisors)
    if (evaluated) sym::state_divisor(divisor, "divide", Site::unknown());
  return read;
}

SymBool condition_of(sym::Expr e, const std::string& text) {
  if (!e->is_condition()) throw ParseError("guards", "'" + text + "' is a number; a condition is asked for");
  return SymBool(e);
}

SymInt number_of(sym::Expr e, const std::string& text, std::string_view command = "guards") {
  if (e->is_condition()) throw ParseError(command, "'" + text + "' is a condition; a number is asked for");
  return SymInt(e);
}

}  // namespace

std::optional<QuestionKind> question_kind(std::string_view word) noexcept {
  const auto found = std::ranges::find(kKinds, word);
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<QuestionKind>(found - kKinds.begin());
}

bool GuardsSession::is_condition(const std::string& text) {
  return parse_in(environment_, text, false)->is_condition();
}

void GuardsSession::add_symbol_texts(std::string_view texts, std::string_view command) {
  for (const std::string_view text : split(texts, ",")) add_symbol_text(text, command);
}

void GuardsSession::add_symbol_text(std::string_view text, std::string_view command) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return add_unbacked(std::string(text));
  const std::string name(trim(text.substr(0, equals)));
  std::string_view hint = text.substr(equals + 1);
  SymBounds bounds{2, {}};
  if (const std::size_t colon = hint.find(':'); colon != std::string_view::npos) {
    const std::string_view range = hint.substr(colon + 1);
    hint = hint.substr(0, colon);
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) {
      throw ParseError(command, fmt::format("'{}' has no range after ':'; write LO.. or LO..HI", text));
    }
    bounds.lo = parse_number(trim(range.substr(0, dots)), text, command);
    if (const std::string_view hi = trim(range.substr(dots + 2)); !hi.empty()) {
      bounds.hi = parse_number(hi, text, command);
    }
  }
  add_symbol(name, parse_number(trim(hint), text, command), bounds);
}

SymInt GuardsSession::number(const std::string& text, std::string_view command) {
  return number_of(parse_in(environment_, text, true), text, command);
}

Answer GuardsSession::ask(const Question& question) {
  const bool asks_what_is_known = question.kind == QuestionKind::known || question.kind == QuestionKind::or_false ||
                                  question.kind == QuestionKind::or_true;
  const sym::Expr e = parse_in(environment_, question.text, !asks_what_is_known);
  const Site none = Site::unknown();
  switch (question.kind) {
    case QuestionKind::number:
      return environment_.guard(number_of(e, question.text), none);
    case QuestionKind::constrain:
      environment_.constrain_range(number_of(e, question.text), question.bounds, none);
      return {};
    default:
      break;
  }
  const SymBool condition = condition_of(e, question.text);
  switch (question.kind) {
    case QuestionKind::known:
    case QuestionKind::or_false:
      return environment_.or_false(condition);
    case QuestionKind::or_true:
      return environment_.or_true(condition);
    case QuestionKind::expect:
      environment_.expect_true(condition, none);
      return {};
    default:
      return environment_.guard(condition, none);
  }
}

}  // namespace oriel::cli
