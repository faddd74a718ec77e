#include "cli/iterate_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <optional>
#include <ostream>
#include <vector>

#include "cli/command.hpp"
#include "cli/iterate_lines.hpp"
#include "cli/json.hpp"
#include "cli/words.hpp"
#include "oriel/error.hpp"
#include "oriel/iterate.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kIterateUsage = R"(usage: oriel iterate [OUTPUT "<-"] OPERANDS
       oriel iterate --reduce AXES [--keepdim] OPERAND
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

With --jsonl, each line of standard input is a JSON object:
  {"op":"add","operands":[{"shape":[2,3],"strides":[3,1]},{"shape":[3],"strides":[1]}]}
The answers come in order. An answer has the result's shape and strides; its formats (is_contiguous, is_channels_last,
is_channels_last_3d, non_overlapping_and_dense, like_channels_last, like_channels_last_3d, suggest, suggest_exact); and
the iteration: path (contiguous, channels_last, non_overlapping_dense or none), perm and effective_strides (null unless
the path is none), loop_shape and loop_strides (fastest first, the output's strides first). Or it is {"error":".."}. The
member "out" is the layout of an existing output. Layouts may have an "offset". Ops are neg exp abs, add sub mul maximum eq div, where addcmul lerp, add_scalar (one operand and a
number), none, which tells of its one operand and iterates nothing, and reduce, of one operand over "axes" (all without
them), which stay where "keepdim" is true.
)";

Ints parse_operand_ints(std::string_view operand, std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') text = trim(text.substr(1, text.size() - 2));
  Ints ints;
  if (text.empty()) return ints;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = trim(text.substr(0, comma));
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
    if (entry.empty() || end != entry.data() + entry.size() || error != std::errc()) {
      throw ParseError("iterate", fmt::format("'{}' in '{}' is not a 64-bit integer; write shape:strides, such as "
                                              "2,3:3,1",
                                              entry, operand));
    }
    ints.push_back(value);
    if (ints.size() > kMaxRank) throw ParseError("iterate", fmt::format("there may be {} axes", kMaxRank));
    if (comma == std::string_view::npos) return ints;
    text.remove_prefix(comma + 1);
  }
}

Layout parse_layout(std::string_view text) {
  text = trim(text);
  if (text.empty()) {
    throw ParseError("iterate", "an operand is missing; write shape:strides, such as 2,3:3,1, with + between operands");
  }
  const std::size_t colon = text.find(':');
  Shape shape = parse_operand_ints(text, text.substr(0, colon));
  if (colon == std::string_view::npos) return Layout::contiguous(shape);
  return Layout::make(std::move(shape), parse_operand_ints(text, text.substr(colon + 1)));
}

IterationOperand parse_operand(std::string_view text) {
  const std::size_t at = text.find('@');
  IterationOperand operand(parse_layout(text.substr(0, at)));
  if (at == std::string_view::npos) return operand;
  const Ints offset = parse_operand_ints(trim(text), text.substr(at + 1));
  if (offset.size() != 1) {
    throw ParseError("iterate", fmt::format("'{}' has {} offsets; write shape:strides@offset, such as 2,3:3,1@0",
                                            trim(text), offset.size()));
  }
  operand.offset = offset[0];
  return operand;
}

std::vector<IterationOperand> parse_operands(std::string_view text) {
  std::vector<IterationOperand> operands;
  while (true) {
    const std::size_t plus = text.find('+');
    operands.push_back(parse_operand(text.substr(0, plus)));
    if (plus == std::string_view::npos) return operands;
    text.remove_prefix(plus + 1);
  }
}

/// "contiguous", "contiguous, channels_last", "dense", "strided".
std::string formats(const Layout& layout) {
  std::string text;
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

void print_iteration(const std::string& text, std::ostream& out) {
  const std::size_t arrow = text.find("<-");
  std::optional<IterationOperand> output;
  if (arrow != std::string::npos) output = parse_operand(std::string_view(text).substr(0, arrow));
  const std::vector<IterationOperand> operands =
      parse_operands(output ? std::string_view(text).substr(arrow + 2) : std::string_view(text));
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
  const Iteration it = iterate(operands, {&output, 1});
  print_layouts(labels, layouts, out);
  out << it.str();
  print_layouts({"result"}, it.outputs, out);
}

void print_reduction(const std::string& text, const std::string& axes, bool keepdim, std::ostream& out) {
  const IterationOperand operand = parse_operand(text);
  const Iteration it = trim(axes) == "all" ? iterate_reduction(operand, {}, keepdim)
                                           : iterate_reduction(operand, Axes(parse_operand_ints(axes, axes)), keepdim);
  print_layouts({"operand 0"}, {operand.layout}, out);
  out << it.str();
  print_layouts({"result"}, it.outputs, out);
}

}  // namespace

int run_iterate(std::span<const std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
  bool lines = false;
  bool keepdim = false;
  const std::string* operands = nullptr;
  const std::string* axes = nullptr;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    if (asks_help(argument)) {
      out << kIterateUsage;
      return 0;
    }
    if (argument == "--jsonl") {
      lines = true;
    } else if (argument == "--keepdim") {
      keepdim = true;
    } else if (argument == "--reduce") {
      if (++k == arguments.size())
        return usage_error("iterate", "--reduce takes axes, such as 0,2, or all", kIterateUsage, err);
      axes = &arguments[k];
    } else if (argument.starts_with("-")) {
      return usage_error("iterate", fmt::format("unknown option '{}'", argument), kIterateUsage, err);
    } else if (operands != nullptr) {
      return usage_error("iterate",
                         fmt::format("one text is taken, but '{}' follows; quote all operands as one", argument),
                         kIterateUsage, err);
    } else {
      operands = &argument;
    }
  }
  if (lines) {
    if (operands != nullptr || axes != nullptr || keepdim)
      return usage_error("iterate", "--jsonl reads standard input and takes no operands", kIterateUsage, err);
    answer_each_line(in, out, answer_iterate_line);
    return 0;
  }
  if (operands == nullptr) return usage_error("iterate", "the operands are missing", kIterateUsage, err);
  if (keepdim && axes == nullptr)
    return usage_error("iterate", "--keepdim is for reductions; add --reduce AXES", kIterateUsage, err);
  try {
    if (axes != nullptr)
      print_reduction(*operands, *axes, keepdim, out);
    else
      print_iteration(*operands, out);
  } catch (const Error& error) {
    return failed(error, err);
  }
  return 0;
}

}  // namespace oriel::cli
