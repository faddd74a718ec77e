#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "cli/command.hpp"
#include "cli/guards_session.hpp"
#include "cli/lines.hpp"
#include "cli/options.hpp"
#include "cli/view_program.hpp"
#include "fuzz/report.hpp"
#include "inspect/collect.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kViewUsage = R"usage(usage: oriel view [--table] PROGRAM
       oriel view [--table] --jsonl
       oriel view --html [PROGRAM] > FILE.html

Applies movements to a view. Prints the stack of views after each movement, the index and valid expressions and, with
--table, the position of every index in the base (-1 if invalid). If several views remain, "refined" shows the split of
the axes under which the stack is one view, or "none" if no split was found.

  oriel view "2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1"
  oriel view "s0=5,s1=4 | s0,s1 | reshape s0*s1"

A program starts with the base's shape, or with views as this command prints them ("(4):(-1)+2[1:3) over (6):(1)",
outermost first). Movements follow, separated by bars:
  reshape 4,2,3      permute 1,0,2      expand 4,2,3      flip 0,2
  shrink 0:2,1:3     one lo:hi per axis
  pad 1,1 0,0        one before,after per axis
Sizes may be expressions over symbols, which the first part then declares: NAME=HINT, NAME=HINT:LO.. or NAME=HINT:LO..HI
for another range than 2 and above. The guards that the movements took are printed; for all values that satisfy them the
views are as printed. Expressions in pairs contain no blanks outside parentheses.

--html prints a page in which the program is edited in place, with the positions as a picture. Its address holds the
program, so that a link shows the same view.

With --jsonl, each line of standard input is a JSON object:
  {"base_shape":[2,6],"ops":[["pad",[[1,1],[0,0]]],["reshape",[4,2,3]],["flip",[1]]]}
  {"start_views":[{"shape":[6],"strides":[1],"offset":0,"mask":null}, ...]}    innermost first
  {"symbols":{"s0":{"hint":5,"lo":2}},"base_shape":["s0",4],"ops":[["reshape",["4*s0"]]]}
The answers come in order: {"shape":..,"views":[..],"contiguous":..}, with "table" if --table is given, or
{"error":".."}. With "symbols" (or "unbacked", an array of names), sizes may be strings; the answer has "guards", and
"contiguous" is null if the guards do not decide it. A line may also ask whether a layout can take another shape without a copy; one extent may be -1:
  {"shape":[2,3,4],"strides":[12,4,1],"new_shape":[6,-1]}
The answer is {"ok":true,"shape":[6,4],"strides":[4,1]}, or {"ok":false,"error":..} with one of incompatible_strides, size_mismatch, negative_size, two_minus_ones, ambiguous_minus_one.
)usage";

std::string stack_note(const ShapeTracker& stack, const ShapeTracker& simple) {
  if (stack.single()) return "one view";
  if (simple.single()) return fmt::format("{} views, merged into one", stack.views().size());
  if (simple.views().size() < stack.views().size()) {
    return fmt::format("{} views, merged into {}", stack.views().size(), simple.views().size());
  }
  return fmt::format("{} views, not merged", stack.views().size());
}

/// The split of the axes under which the stack is one view: "axis 0 as 4,3: (4,3,2):(1,4,12)".
std::string refinement_text(const ShapeTracker& tracker) {
  const std::optional<Refinement> refinement = tracker.refine();
  if (!refinement) return "none";
  std::string text;
  for (std::size_t d = 0; d < refinement->pieces.size(); ++d) {
    const Ints& pieces = refinement->pieces[d];
    if (pieces.size() < 2) continue;
    text += fmt::format("{}axis {} as ", text.empty() ? "" : ", ", d);
    for (std::size_t k = 0; k < pieces.size(); ++k) text += (k > 0 ? "," : "") + to_string(pieces[k]);
  }
  return text + ": " + refinement->view.str();
}

/// The text of `write`, or a message that there is no expression because its numbers are too large for C.
template <class Write>
std::string expression_text(Write write) {
  try {
    return write();
  } catch (const OverflowError&) {
    return "no expression in 64 bits";
  }
}

/// The guards of the steps, then the expressions. Where an expression rests on more than these guards, the further ones
/// follow it.
std::string symbolic_answer(const ShapeTracker& simple, const ShapeEnv& environment) {
  std::string answer;
  const auto guards = [&] {
    std::vector<std::string> texts;
    for (const auto& guard : environment.guards()) texts.push_back(guard.str());
    return texts;
  };
  const std::vector<std::string> taken = guards();
  for (const std::string& guard : taken) answer += fmt::format("guard: {}\n", guard);
  const std::optional<bool> contiguous = known_contiguity(simple, environment);
  try {
    answer += fmt::format("index: {}\n", expression_text([&] { return simple.index_expression(); }));
    answer += fmt::format("valid: {}\n", expression_text([&] { return simple.valid_expression(); }));
  } catch (const DataDependentError&) {
    answer += "index: depends on sizes without a hint\n";
  }
  for (const std::string& guard : guards()) {
    if (std::ranges::find(taken, guard) == taken.end()) answer += fmt::format("index only if: {}\n", guard);
  }
  answer += fmt::format("contiguous: {}\n", !contiguous ? "depends on the sizes" : *contiguous ? "yes" : "no");
  return answer;
}

/// The whole answer as one string, so that nothing is printed if a part throws.
std::string program_answer(const std::string& program, bool table) {
  const ViewProgram run = run_program(program);
  const std::vector<ViewStep>& steps = run.steps;
  std::size_t width = 0;
  for (const ViewStep& step : steps) width = std::max(width, step.text.size());
  std::string answer;
  for (const ViewStep& step : steps) {
    const ShapeTracker simple = step.tracker.simplify();
    answer += fmt::format("{:<{}}  {}  ({})\n", step.text, width, simple.str(), stack_note(step.tracker, simple));
  }
  const ShapeTracker simple = steps.back().tracker.simplify();
  if (run.session != nullptr) {
    if (table) throw ArgumentError("view", "a table needs plain sizes, but the program has symbols");
    return answer + symbolic_answer(simple, run.session->environment());
  }
  if (!simple.single()) answer += fmt::format("refined: {}\n", refinement_text(simple));
  answer +=
      fmt::format("index: {}\nvalid: {}\ncontiguous: {}\n", expression_text([&] { return simple.index_expression(); }),
                  expression_text([&] { return simple.valid_expression(); }), simple.is_contiguous() ? "yes" : "no");
  if (table) answer += "table:\n" + fuzz::table_text(simple.table(kTableLimit), simple.shape());
  return answer;
}

int run_view(Arguments arguments, const Streams& streams) {
  bool table = false;
  bool lines = false;
  bool html = false;
  std::optional<std::string> program;
  read_options(arguments, {{"--table", &table}, {"--jsonl", &lines}, {"--html", &html}},
               only(program, "one program, so quote it as a whole"));
  if (html) {
    if (lines || table) throw UsageError("--html takes no --jsonl and no --table");
    streams.out << runtime::views_page(program.value_or("2,6 | pad 1,1 0,0 | reshape 4,2,3 | flip 1"));
  } else if (lines) {
    if (program) throw UsageError("--jsonl reads standard input and takes no program");
    answer_lines(streams.in, streams.out, table);
  } else {
    if (!program) throw UsageError("a program is missing");
    streams.out << program_answer(*program, table);
  }
  return 0;
}

}  // namespace

constexpr Command kView{"view", "apply movements to a view: its stack, index expressions and table",
                        [] { return std::string(kViewUsage); }, run_view};

}  // namespace oriel::cli
