#include "codegen/argument_bases.hpp"

#include <optional>

#include "codegen/stack.hpp"
#include "view/plain.hpp"

namespace oriel::codegen {

std::vector<std::int64_t> argument_bases(const LoopProgram& program) {
  const std::size_t count = program.arguments.size();
  // An output in the memory of an input counts as that one.
  const auto memory_of = [&](std::size_t k) {
    const std::int32_t shares = program.arguments[k].shares;
    return shares < 0 ? k : static_cast<std::size_t>(shares);
  };
  std::vector<std::optional<std::int64_t>> bases(count);
  std::vector<bool> fixed(count, false);
  for (std::size_t k = 0; k < count; ++k)
    if (program.arguments[k].local) fixed[memory_of(k)] = true;
  const auto argument_of = [&](const Access& access) { return memory_of(static_cast<std::size_t>(access.buffer)); };
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
  std::vector<std::int64_t> out(count, 0);
  for (std::size_t k = 0; k < count; ++k)
    if (!fixed[memory_of(k)]) out[k] = bases[memory_of(k)].value_or(0);
  return out;
}

void take_bases(LoopProgram& program) {
  const std::vector<std::int64_t> bases = argument_bases(program);
  for (Access& access : program.accesses) {
    if (access.buffer < 0) continue;
    const std::int64_t base = bases[static_cast<std::size_t>(access.buffer)];
    if (base == 0) continue;
    View view = stack_of(access).views().front();
    view.offset -= base;
    access.remap(detail::trusted_stack({&view, 1}));
  }
}

}  // namespace oriel::codegen
