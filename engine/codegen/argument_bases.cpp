#include "codegen/argument_bases.hpp"

#include <optional>

#include "codegen/stack.hpp"
#include "view/plain.hpp"

namespace oriel::codegen {

std::vector<std::int64_t> take_bases(LoopProgram& program) {
  const std::size_t count = program.arguments.size();
  std::vector<std::size_t> memory(count);  // the argument whose memory it is
  for (std::size_t k = 0; k < count; ++k)
    memory[k] = program.arguments[k].shares < 0 ? k : static_cast<std::size_t>(program.arguments[k].shares);
  std::vector<std::optional<std::int64_t>> bases(count);
  std::vector<bool> fixed(count, false);
  for (std::size_t k = 0; k < count; ++k) fixed[memory[k]] = fixed[memory[k]] || program.arguments[k].local;
  const auto argument_of = [&](const Access& access) { return memory[static_cast<std::size_t>(access.buffer)]; };
  for (const Access& access : program.accesses) {
    if (access.buffer < 0) continue;
    const std::size_t k = argument_of(access);
    if (!access.affine()) fixed[k] = true;
    if (!bases[k]) bases[k] = access.offset();
  }
  for (const Stage& stage : program.stages) {
    for (const std::vector<Instr>* code : {&stage.body, &stage.outer})
      for (const Instr& in : *code)
        if (in.code == Code::Gather) fixed[argument_of(program.accesses[static_cast<std::size_t>(in.aux)])] = true;
  }
  for (Access& access : program.accesses) {
    if (access.buffer < 0) continue;
    const std::size_t k = argument_of(access);
    if (fixed[k] || *bases[k] == 0) continue;
    View view = stack_of(access).views().front();
    view.offset -= *bases[k];
    access.remap(detail::trusted_stack({&view, 1}));
  }
  std::vector<std::int64_t> out(count, 0);
  for (std::size_t k = 0; k < count; ++k)
    if (!fixed[memory[k]]) out[k] = bases[memory[k]].value_or(0);
  return out;
}

}  // namespace oriel::codegen
