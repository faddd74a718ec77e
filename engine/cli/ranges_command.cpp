#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <ostream>

#include "cli/command.hpp"
#include "cli/lines.hpp"
#include "cli/options.hpp"
#include "cli/words.hpp"
#include "inspect/collect.hpp"
#include "lang/report.hpp"
#include "oriel/comprehension.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kRangesUsage =
    R"usage(usage: oriel ranges FILE.tc|-e TEXT [--def NAME] [NAME=SHAPE ..] [--zero-origin] [--html]
       oriel ranges --jsonl [--temporaries] [--zero-origin]

Infers the ranges of all indices of a definition (the last one, unless --def names another) for parameters of the given
shapes. Prints each range with the round and the accesses that decided it, the view through which each affine access
reads its operand, and the accesses that inference alone does not prove in bounds. Scalars need no shape. With
--zero-origin, a result whose first index is not 0 is an error. Warnings follow, each with its place in the text: an
operand that is read only in part because another access bounds an index (partial_read), a conditional that is always
true because of inference (narrowing_guard), += on an unassigned tensor (uninitialized_reduction), and positions read
from a tensor that may be out of range (unchecked_gather).

  oriel ranges -e 'def conv(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i + k) * W(k) }' X=10 W=3
  oriel ranges tests/examples/tc/matmul.tc A=3,4 B=4,5

Sizes may be symbols: leave out a shape, or write a name or ? for a size. Symbols are at least 1. Ranges are then
formulas, and the conditions that depend on the sizes are listed ("requires"): inference accepts exactly the sizes that satisfy them, unless a condition is marked as sufficient, or a where clause is empty.

  oriel ranges -e 'def f(float(I) B) -> (A) { A(i) = B(2*i) }'           0 <= i < (I + 1) // 2
  oriel ranges tests/examples/tc/matmul.tc A=n,4 B=?,n

--html prints a page that draws the positions that each affine access reads, over the loops of its statement.

With --jsonl, each line of standard input is a JSON object:
  {"def":"def f(..) -> (..) {..}","inputs":{"X":[10],"W":[3]},"scalars":{}}
The answers come in order: {"ranges_by_stmt":[{"i":[0,8],"k":[0,3]}],"outputs":{"Y":[8]},"origin":{},"preconditions":[..],
"warnings":[..],"views":[..],"warning_details":[..]}, or {"error":KIND,"message":".."}. The
details of a warning are its kind, statement, tensor, line, column, length and message. With "open":true, inputs may be left
out; a size may be a name or null: {"def":"..","inputs":{"X":["n",null]},"open":true}. Then "sizes" holds the symbols,
{"n":{"lo":1}}; ranges, outputs and origins are numbers or formulas (Python's operators); each of the preconditions has
"statement" and "status": "required", with "condition", "reason", "exact" (false: sufficient, perhaps not necessary) and,
if an access asks for it, "access", "tensor" and "dim"; "guarded" and "data_dependent" as above. There are no views and no
warning_details. In this form a statement that assigns neither an input nor a
listed result is an error (temporary_not_listed), as in other implementations of the notation, unless --temporaries is
given.
)usage";

std::optional<std::vector<lang::ArgumentSize>> read_shape(std::string_view text) {
  std::vector<lang::ArgumentSize> shape;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::optional<lang::ArgumentSize> size = read_size(part);
    if (!size) return {};
    shape.push_back(*size);
    if (part.size() + 1 == text.size()) return {};  // nothing after the last comma
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return shape;
}

struct RangesRequest {
  std::optional<std::string> file;
  std::optional<std::string> text;
  std::string definition;
  std::map<std::string, std::vector<lang::ArgumentSize>, std::less<>> shapes;
  bool lines = false;
  bool temporaries = false;
  bool html = false;
  ComprehensionOptions options;
};

/// Fills the request. Returns what is wrong with the arguments, or an empty string.
void read_arguments(Arguments arguments, RangesRequest& request) {
  const ReadValue file = only(request.file, "one file");
  read_options(arguments,
               {{"--jsonl", &request.lines},
                {"--temporaries", &request.temporaries},
                {"--html", &request.html},
                {"--zero-origin", &request.options.zero_origin},
                {"-e", into(request.text), "takes a text"},
                {"--def", into(request.definition), "takes a name"}},
               [&](const std::string& argument) {
                 const std::size_t sign = argument.find('=');
                 if (sign == std::string::npos) return file(argument);
                 const auto shape = read_shape(std::string_view(argument).substr(sign + 1));
                 if (!shape) throw UsageError(fmt::format("'{}' is no NAME=SHAPE, as in A=3,4 or A=n,?", argument));
                 request.shapes[argument.substr(0, sign)] = *shape;
               });
  if (request.lines) {
    if (request.file || request.text || request.html)
      throw UsageError("--jsonl reads standard input and takes no text and no --html");
  } else if (request.file.has_value() == request.text.has_value()) {
    throw UsageError("one of FILE.tc and -e TEXT is needed");
  }
}

std::string page_or_text(const RangesRequest& request, const std::string& program, const std::string& table,
                         std::vector<runtime::AnswerPage::Stack> stacks) {
  if (!request.html) return table;
  return runtime::answer_page({request.file.value_or("oriel ranges"), program + "\n\n" + table, {}, std::move(stacks)});
}

std::string answer(const RangesRequest& request) {
  const std::string text = request.text ? *request.text : read_text("ranges", *request.file);
  const lang::ProgramPtr program =
      lang::select(lang::check(text, request.file ? *request.file : "-e"), request.definition);
  std::vector<std::string> names;
  std::vector<lang::ArgumentShape> shapes;
  for (const lang::Parameter& parameter : program->definition.parameters) {
    names.emplace_back(parameter.name);
    const auto found = request.shapes.find(parameter.name);
    lang::ArgumentShape& shape = shapes.emplace_back();
    if (found != request.shapes.end()) {
      shape = found->second;
    } else if (parameter.dims.empty()) {
      shape.emplace();
    }
  }
  for (const auto& [name, shape] : request.shapes) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw ArgumentError("ranges", fmt::format("'{}' is no parameter of {}; there are {}", name,
                                                program->definition.name, fmt::join(names, ", ")));
    }
  }
  const lang::Inference inference = lang::infer_symbolic(*program, shapes);
  lang::check_options(*program, inference, request.options);
  if (inference.symbolic()) return page_or_text(request, text, lang::ranges_table(*program, inference), {});
  const ComprehensionRanges report = lang::report(*program, inference);
  std::vector<runtime::AnswerPage::Stack> stacks;
  for (const ComprehensionRanges::AccessView& view : report.views)
    stacks.push_back(
        {fmt::format("{}: {}, over the loops", report.statements[view.statement].target, view.access), {view.view}});
  return page_or_text(request, text, report.table, std::move(stacks));
}

int run_ranges(Arguments arguments, const Streams& streams) {
  RangesRequest request;
  read_arguments(arguments, request);
  if (request.lines) {
    request.options.only_results = !request.temporaries;
    answer_ranges_lines(streams.in, streams.out, request.options);
  } else {
    streams.out << answer(request);
  }
  return 0;
}

}  // namespace

constexpr Command kRanges{"ranges", "infer the ranges of a comprehension: rounds, views, preconditions",
                          [] { return std::string(kRangesUsage); }, run_ranges};

}  // namespace oriel::cli
