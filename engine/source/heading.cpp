#include "source/heading.hpp"

#include <algorithm>

#include "codegen/expression.hpp"

namespace oriel::source {

using codegen::Access;
using codegen::LoopProgram;

namespace {

std::string loop_list(const Ints& extents, char letter) {
  std::string list;
  for (std::size_t d = 0; d < extents.size(); ++d)
    list += fmt::format("{}{}{} < {}", d == 0 ? "" : ", ", letter, d, extents[d].value());
  return list.empty() ? std::string("none") : list;
}

}  // namespace

void Heading::add_loops(const LoopProgram& program) {
  add("Outer loops: {}", loop_list(program.outer, 'o'));
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    if (!program.stages[s].inner.empty())
      add("Inner loops of stage {}: {}", s, loop_list(program.stages[s].inner, 'r'));
}

std::string Heading::argument(const codegen::Argument& argument) {
  return fmt::format("{}[{}]{}", oriel::name(argument.dtype), argument.elements.value(),
                     argument.output ? ", written" : "");
}

void Heading::add_accesses(const LoopProgram& program, const std::vector<std::string>& buffers) {
  std::string last;
  for (const Access& access : program.accesses) {
    const std::size_t rank = access.loops();
    const std::size_t outer = std::min(rank, program.outer.size());
    const codegen::AccessText where = codegen::expression(access, codegen::loop_names(outer, rank - outer));
    std::string reached = fmt::format("{}[{}]{}  by {}",
                                      access.buffer < 0 ? "position" : buffers[static_cast<std::size_t>(access.buffer)],
                                      where.index, where.valid == "1" ? "" : " if " + where.valid, access.stack_text());
    if (reached != last) add("{}", reached);
    last = std::move(reached);
  }
}

}  // namespace oriel::source
