// The comment at the head of a rendered source: its loops, arguments and accesses.
#include "source/cpp/heading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "codegen/expression.hpp"

namespace oriel::source::cpp {

using codegen::Access;
using codegen::Argument;
using codegen::LoopProgram;

std::string heading(const LoopProgram& program, const std::vector<std::string>& buffers) {
  std::string text = fmt::format(
      "// Kernel {}\n// Build with -std=c++17 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off "
      "-fno-strict-aliasing; and Eigen 3.4 "
      "where it is included.\n//\n",
      program.name);
  const auto add = [&]<class... T>(fmt::format_string<T...> format, T&&... arguments) {
    text += "// ";
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(arguments)...);
    text += '\n';
  };
  const auto loops = [](const Ints& extents, char letter) {
    std::string list;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      list += fmt::format("{}{}{} < {}", d == 0 ? "" : ", ", letter, d, extents[d].value());
    }
    return list.empty() ? std::string("none") : list;
  };
  add("Outer loops: {}", loops(program.outer, 'o'));
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    if (!program.stages[s].inner.empty()) add("Inner loops of stage {}: {}", s, loops(program.stages[s].inner, 'r'));
  }
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    const Argument& argument = program.arguments[a];
    add("arguments[{}] {}: {}[{}]{}", a, buffers[a], name(argument.dtype), argument.elements,
        argument.output ? ", written" : "");
  }
  for (std::size_t c = 0; c < program.constants.size(); ++c) {
    const codegen::Constant& constant = program.constants[c];
    if (constant.parameter >= 0) add("parameters[{}] c{}: {}", constant.parameter, c, name(constant.value.dtype));
  }
  std::string last;
  for (const Access& access : program.accesses) {
    const std::size_t rank = access.tracker.shape().size();
    const std::size_t outer = std::min(rank, program.outer.size());
    const codegen::AccessText where = codegen::expression(access.tracker, codegen::loop_names(outer, rank - outer));
    std::string reached = fmt::format(
        "{}[{}]{}  by {}", access.buffer < 0 ? "position" : buffers[static_cast<std::size_t>(access.buffer)],
        where.index, where.valid == "1" ? "" : " if " + where.valid, access.tracker.str());
    if (reached != last) add("{}", reached);
    last = std::move(reached);
  }
  return text;
}

}  // namespace oriel::source::cpp
