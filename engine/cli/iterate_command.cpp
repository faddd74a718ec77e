#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <sstream>
#include <vector>

#include "cli/command.hpp"
#include "cli/guards_session.hpp"
#include "cli/iterate_operands.hpp"
#include "cli/json.hpp"
#include "cli/lines.hpp"
#include "cli/options.hpp"
#include "cli/words.hpp"
#include "inspect/collect.hpp"
#include "oriel/error.hpp"
#include "oriel/iterate.hpp"
#include "oriel/layout_conditions.hpp"
#include "oriel/view.hpp"
#include "sym/decide.hpp"
#include "view/plain.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kIterateUsage = R"(usage: oriel iterate [--html] [OUTPUT "<-"] OPERANDS
       oriel iterate [--html] --reduce AXES [--keepdim] OPERAND
       oriel iterate --jsonl

Computes the joint iteration of layouts by the rules of PyTorch's TensorIterator. Prints the shape to which they
broadcast, their strides over it, the order of its axes (fastest first), the loops that remain after neighbours are
joined, and the layout of the result.

  oriel iterate "2,3,4,5:60,1,15,3 + 3,4,5:20,5,1"

An operand is shape:strides, or only a shape, which is contiguous. () is an operand without axes, such as a number.

Write an existing output first, followed by an arrow. All operands with an offset share one memory; each of the others
has its own. An output is refused if two of its indices share an element, or if it shares elements with an input at
other indices.

  oriel iterate "2,3:3,1@0 <- 2,3:3,1@0 + 3"

With --reduce, one operand is reduced over axes, such as 0,2, or over all axes. Negative axes count from the last. With
--keepdim the axes stay with extent 1. Reduced axes are the fastest loops, and the output has stride 0 along them.

  oriel iterate --reduce 0,-1 "2,3,4:12,1,3"

Sizes and strides may be expressions over symbols, which come first: NAME=HINT, NAME=HINT:LO..HI (at least 2 without a
range), or NAME alone, which has no hint. Sums stand in parentheses. The answer holds for all values that satisfy the
guards, which are printed last.

  oriel iterate "n=4,c=8 | n,c,5 + (c+1),1,5:5,5,1"

--html prints a page that draws where the elements of each operand lie, over its own axes and over the loops.

With --jsonl, each line of standard input is a JSON object:
  {"op":"add","operands":[{"shape":[2,3],"strides":[3,1]},{"shape":[3],"strides":[1]}]}
The answers come in order. An answer has the result's shape and strides; its formats (is_contiguous, is_channels_last,
is_channels_last_3d, non_overlapping_and_dense, like_channels_last, like_channels_last_3d, suggest, suggest_exact); and
the iteration: path (contiguous, channels_last, non_overlapping_dense or none), perm and effective_strides (null unless
the path is none), loop_shape and loop_strides (fastest first, the output's strides first). Or it is {"error":".."}. The
member "out" is the layout of an existing output. Layouts may have an "offset". Ops are neg exp abs, add sub mul maximum eq div, where addcmul lerp, add_scalar (one operand and a
number), none, which tells of its one operand and iterates nothing, and reduce, of one operand over "axes" (all without
them), which stay where "keepdim" is true.

With "symbols":{"n":{"hint":4,"lo":2}} or "unbacked":["u0"], sizes and strides may be strings; a layout without strides
is contiguous. The answer has the memory formats as conditions (contiguous_if, channels_last_if, channels_last_3d_if,
non_overlapping_and_dense_if: true, false or a formula), the iteration, and "guards". Op none also answers "contiguous"
by branching on each size and stride. With "trace":true the guards are all conditions that were asked, in order, instead
of the fewest that fix the answer:
  {"op":"none","trace":true,"symbols":{"x":{"hint":3},"y":{"hint":5}},"operands":[{"shape":["x",5],"strides":["y",1]}]}
)";

/// "contiguous", "contiguous, channels_last", "dense", "strided".
std::string formats(const Layout& layout) {
  std::string text;
  if (!detail::is_plain(layout.shape, layout.strides)) {
    const SymBool contiguous = contiguity(layout);
    const std::optional<bool> known = sym::known(contiguous);
    if (!known) return "contiguous if " + to_string(contiguous);
    if (*known) return "contiguous";
    const SymBool dense = density(layout);
    return sym::known(dense).value_or(false) ? "dense" : "not contiguous";
  }
  for (const MemoryFormat format :
       {MemoryFormat::contiguous, MemoryFormat::channels_last, MemoryFormat::channels_last_3d}) {
    if (!layout.is_contiguous(format)) continue;
    text += text.empty() ? "" : ", ";
    text += name(format);
  }
  if (!text.empty()) return text;
  if (layout.is_non_overlapping_and_dense()) return "dense";
  const MemoryFormat like = layout.suggest_memory_format();
  return like == MemoryFormat::contiguous ? "strided" : fmt::format("strided, like {}", name(like));
}

void print_layouts(const std::vector<std::string>& labels, const std::vector<Layout>& layouts, std::ostream& out) {
  std::size_t width = 0;
  for (const Layout& layout : layouts) width = std::max(width, layout.str().size());
  for (std::size_t k = 0; k < layouts.size(); ++k) {
    out << fmt::format("{:<11}{:<{}}  {}\n", labels[k], layouts[k].str(), width, formats(layouts[k]));
  }
}

void print_guards(const GuardsSession* session, std::ostream& out) {
  if (session == nullptr) return;
  const auto guards = session->environment().guards();
  if (guards.empty()) out << "guards     none\n";
  for (std::size_t k = 0; k < guards.size(); ++k) {
    out << fmt::format("{:<11}{}\n", k == 0 ? "guards" : "", guards[k].str());
  }
}

/// Operands in text, behind the symbols that they use: "n=4 | n,3 + 3".
struct Program {
  std::unique_ptr<GuardsSession> session;  // null if no symbols are declared
  std::string operands;

  explicit Program(const std::string& text) : operands(text) {
    const std::size_t bar = text.find('|');
    if (bar == std::string::npos) return;
    session = std::make_unique<GuardsSession>();
    session->add_symbol_texts(std::string_view(text).substr(0, bar), "iterate");
    operands = text.substr(bar + 1);
  }
  OperandParser parser() const { return OperandParser(session.get()); }
};

using Stacks = std::vector<runtime::AnswerPage::Stack>;

/// Adds the positions of each operand over its axes, and over the loops. Those of symbolic sizes are left out.
void add_stacks(const std::vector<std::string>& labels, const std::vector<IterationOperand>& operands,
                const Iteration& it, std::size_t first_input, Stacks& stacks) {
  const auto add = [&](std::string title, const Shape& shape, const Ints& strides, SymInt offset) {
    if (detail::is_plain(shape, strides) && !offset.is_symbolic())
      stacks.push_back({std::move(title), {View::make(shape, strides, offset)}});
  };
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const SymInt offset = operands[k].offset.value_or(0);
    add(labels[k], operands[k].layout.shape, operands[k].layout.strides, offset);
    // The loops are told fastest first.
    Shape shape(it.loop_shape.rbegin(), it.loop_shape.rend());
    const Ints& strides = it.loop_strides[k + first_input];
    if (!shape.empty()) add(labels[k] + ", over the loops", shape, Ints(strides.rbegin(), strides.rend()), offset);
  }
}

void print_iteration(const std::string& text, std::ostream& out, Stacks& stacks) {
  const Program program(text);
  const std::size_t arrow = program.operands.find("<-");
  std::optional<IterationOperand> output;
  const std::string_view whole = program.operands;
  if (arrow != std::string::npos) output = program.parser().operand(whole.substr(0, arrow));
  const std::vector<IterationOperand> operands = program.parser().operands(output ? whole.substr(arrow + 2) : whole);
  std::vector<std::string> labels;
  std::vector<Layout> layouts;
  if (output) {
    labels.emplace_back("output");
    layouts.push_back(output->layout);
  }
  for (std::size_t k = 0; k < operands.size(); ++k) {
    labels.push_back(fmt::format("operand {}", k));
    layouts.push_back(operands[k].layout);
  }
  std::ostringstream before;  // what is known of the operands before the iteration takes guards
  print_layouts(labels, layouts, before);
  const Iteration it = iterate(operands, {&output, 1});
  out << before.str() << it.str();
  print_layouts({"result"}, it.outputs, out);
  add_stacks({labels.end() - static_cast<std::ptrdiff_t>(operands.size()), labels.end()}, operands, it,
             it.outputs.size(), stacks);
  print_guards(program.session.get(), out);
}

void print_reduction(const std::string& text, const std::string& axes, bool keepdim, std::ostream& out,
                     Stacks& stacks) {
  const Program program(text);
  const IterationOperand operand = program.parser().operand(program.operands);
  std::ostringstream before;
  print_layouts({"operand 0"}, {operand.layout}, before);
  const Iteration it = trim(axes) == "all"
                           ? iterate_reduction(operand, {}, keepdim)
                           : iterate_reduction(operand, Axes(OperandParser(nullptr).integers(axes, axes)), keepdim);
  out << before.str() << it.str();
  print_layouts({"result"}, it.outputs, out);
  add_stacks({"operand 0"}, {operand}, it, it.outputs.size(), stacks);
  print_guards(program.session.get(), out);
}

int run_iterate(Arguments arguments, const Streams& streams) {
  bool lines = false;
  bool html = false;
  bool keepdim = false;
  std::optional<std::string> operands, axes;
  read_options(arguments,
               {{"--jsonl", &lines},
                {"--html", &html},
                {"--keepdim", &keepdim},
                {"--reduce", into(axes), "takes axes, such as 0,2, or all"}},
               only(operands, "one text, so quote all operands as one"));
  if (lines) {
    if (operands || axes || keepdim || html)
      throw UsageError("--jsonl reads standard input and takes no operands and no --html");
    answer_each_line(streams.in, streams.out, answer_iterate_line);
    return 0;
  }
  if (!operands) throw UsageError("the operands are missing");
  if (keepdim && !axes) throw UsageError("--keepdim is for reductions; add --reduce AXES");
  std::ostringstream answer;
  Stacks stacks;
  if (axes)
    print_reduction(*operands, *axes, keepdim, answer, stacks);
  else
    print_iteration(*operands, answer, stacks);
  streams.out << (html ? runtime::answer_page({*operands, answer.str(), {}, std::move(stacks)}) : answer.str());
  return 0;
}

}  // namespace

constexpr Command kIterate{"iterate", "compute the joint iteration of layouts, as PyTorch's TensorIterator does",
                           [] { return std::string(kIterateUsage); }, run_iterate};

}  // namespace oriel::cli
