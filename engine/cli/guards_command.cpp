#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>
#include <vector>

#include "cli/command.hpp"
#include "cli/guards_lines.hpp"
#include "cli/guards_session.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/words.hpp"
#include "inspect/collect.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kGuardsUsage = R"(usage: oriel guards [--html] "SYMBOLS | QUESTION | QUESTION ..."
       oriel guards --jsonl

Answers questions about symbolic sizes in turn, as a program that branches on them would, and prints what that records.
A symbol has a hint, its value in this call, and is at least 2. A question is answered without a guard where ranges and
earlier guards decide it for all values; else the hints answer and the condition, or its negation, becomes a guard.

  oriel guards "s0=12,s1=4 | s0 == 3*s1 | s0 % 4 == 0"

Symbols: NAME=HINT, NAME=HINT:LO.. or NAME=HINT:LO..HI for other ranges, NAME alone for one without a hint (unbacked).
A question is a condition, which becomes a bool, or a number, which becomes an int; or one of
  known C           true only if C holds for all values in range that pass the guards; never records
  expect C          states C: a guard, or with symbols that have no hint a check when they are known
  or_false C, or_true C     as known, with that answer where it is not known
  constrain NAME LO HI      states LO <= NAME <= HI; - for no bound
Texts are infix with Python's meaning: + - * // % == != < <= > >= and or not max(,) min(,).

--html prints the answers as a page.

With --jsonl each line of standard input is one JSON object,
  {"id":1,"symbols":{"s0":{"hint":12,"lo":2}},"unbacked":["u0"],"ask":[{"kind":"bool","text":"s0 % 4 == 0"},
   {"kind":"constrain","symbol":"u0","lo":0,"hi":9}]}
answered in order by one with answers (true, false, a number, or null for what is only stated), guards, replaced (what
symbols equal), ranges ([lo, hi], null for no bound) and deferred (checks when unbacked symbols are known); or by
{"error":"..","question":N}. Kinds are bool, known, int, expect, or_false, or_true and constrain. A symbol without "lo" or
"hi" has no such bound.
)";

Question parse_question(GuardsSession& session, std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  const auto kind = question_kind(word);
  if (!kind || space == std::string_view::npos) {
    const bool condition = session.is_condition(std::string(text));
    return {condition ? QuestionKind::condition : QuestionKind::number, std::string(text), {}};
  }
  const std::string_view rest = trim(text.substr(space));
  if (*kind != QuestionKind::constrain) return {*kind, std::string(rest), {}};
  const std::vector<std::string_view> words = split(rest, " ");
  if (words.size() != 3) {
    throw ParseError("guards", fmt::format("'{}' must read: constrain NAME LO HI, with - for no bound", text));
  }
  const auto bound = [&](std::string_view number) {
    return number == "-" ? std::optional<std::int64_t>() : parse_number(number, text, "guards");
  };
  return {QuestionKind::constrain, std::string(words[0]), {bound(words[1]), bound(words[2])}};
}

std::string text_of(const Answer& answer) {
  if (const bool* const truth = std::get_if<bool>(&answer)) return *truth ? "True" : "False";
  if (const std::int64_t* const number = std::get_if<std::int64_t>(&answer)) return std::to_string(*number);
  return "stated";
}

std::string text_of(const SymBounds& range) {
  return fmt::format("{}..{}", range.lo ? std::to_string(*range.lo) : "", range.hi ? std::to_string(*range.hi) : "");
}

/// The answers as tables: the questions, what was recorded, and the symbols.
std::vector<runtime::AnswerPage::Table> ask_all(const std::vector<std::string_view>& texts, GuardsSession& session) {
  runtime::AnswerPage::Table questions{"Questions", {"question", "answer"}, {}};
  for (const std::string_view text : texts)
    questions.rows.push_back({std::string(text), text_of(session.ask(parse_question(session, text)))});
  const ShapeEnv& environment = session.environment();
  runtime::AnswerPage::Table recorded{"Recorded", {"what", "condition"}, {}};
  for (const auto& guard : environment.guards()) recorded.rows.push_back({"guard", guard.str()});
  for (const auto& check : environment.deferred_checks())
    recorded.rows.push_back({fmt::format("check when {} is known", check.symbol), to_string(check.condition)});
  runtime::AnswerPage::Table symbols{"Symbols", {"symbol", "range", "hint", "equals"}, {}};
  for (const auto& symbol : environment.symbols()) {
    symbols.rows.push_back(
        {symbol.name, text_of(symbol.range), symbol.hint ? std::to_string(*symbol.hint) : "", symbol.replacement});
  }
  return {std::move(questions), std::move(recorded), std::move(symbols)};
}

void print_session(const std::vector<runtime::AnswerPage::Table>& tables, std::ostream& out) {
  std::size_t width = 0;
  for (const auto& row : tables[0].rows) width = std::max(width, row[0].size());
  for (const auto& row : tables[0].rows) out << fmt::format("{:<{}}  {}\n", row[0], width, row[1]);
  for (const auto& row : tables[1].rows) out << fmt::format("{}: {}\n", row[0], row[1]);
  for (const auto& row : tables[2].rows) {
    out << fmt::format("{}: {}", row[0], row[1]);
    if (!row[2].empty()) out << ", hint " << row[2];
    if (!row[3].empty()) out << ", equals " << row[3];
    out << '\n';
  }
}

int run_guards(Arguments arguments, const Streams& streams) {
  bool lines = false;
  bool html = false;
  std::optional<std::string> program;
  read_options(arguments, {{"--jsonl", &lines}, {"--html", &html}},
               only(program, "one text, so quote all questions as one"));
  if (lines) {
    if (program || html) throw UsageError("--jsonl reads standard input and takes no text and no --html");
    answer_each_line(streams.in, streams.out, answer_guards_line);
    return 0;
  }
  if (!program) throw UsageError("the symbols and questions are missing");
  GuardsSession session;
  const std::vector<std::string_view> parts = split(*program, "|");
  session.add_symbol_texts(parts[0], "guards");
  const auto tables = ask_all({parts.begin() + 1, parts.end()}, session);
  if (html)
    streams.out << runtime::answer_page({*program, "", tables, {}});
  else
    print_session(tables, streams.out);
  return 0;
}

}  // namespace

constexpr Command kGuards{"guards",
                          "answer questions about symbolic sizes: guards, what is learnt, what is known without",
                          [] { return std::string(kGuardsUsage); }, run_guards};

}  // namespace oriel::cli
