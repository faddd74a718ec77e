#include "codegen/definitions.hpp"

#include <algorithm>
#include <optional>

#include "codegen/stack.hpp"
#include "view/plain.hpp"

namespace oriel::codegen {

Definitions::Definitions(const LoopProgram& program, std::size_t stage)
    : program_(program), definition_(program.values.size(), nullptr) {
  for (std::size_t s = 0; s < stage; ++s) {
    add(program.stages[s].body);
    add(program.stages[s].outer);
  }
  add(program.stages[stage].body);
}

void Definitions::add(const std::vector<Instr>& list) {
  for (const Instr& in : list) {
    if (in.result != kNoValue) definition_[static_cast<std::size_t>(in.result)] = &in;
  }
}

bool Definitions::gather(ValueId v, std::vector<Instr>& list) const {
  // Depth first, with an explicit stack because a chain may be long.
  std::vector<bool> done(program_.values.size(), false);
  std::vector<ValueId> pending{v};
  while (!pending.empty()) {
    const ValueId at = pending.back();
    const auto k = static_cast<std::size_t>(at);
    const Instr* in = of(at);
    if (in == nullptr) return false;
    bool ready = true;
    for (const ValueId operand : {in->a, in->b, in->c}) {
      if (operand == kNoValue || done[static_cast<std::size_t>(operand)]) continue;
      pending.push_back(operand);
      ready = false;
    }
    if (!ready) continue;
    pending.pop_back();
    if (done[k]) continue;
    done[k] = true;
    list.push_back(*in);
  }
  return true;
}

std::vector<const Instr*> definitions_of(const LoopProgram& program) {
  std::vector<const Instr*> definition(program.values.size(), nullptr);
  each_instruction(program, [&](const Instr& in) {
    if (in.result != kNoValue) definition[static_cast<std::size_t>(in.result)] = &in;
  });
  return definition;
}

std::size_t only_loops(const LoopProgram& program) {
  const auto& stages = program.stages;
  if (std::count_if(stages.begin(), stages.end(), has_loops) != 1) return stages.size();
  return static_cast<std::size_t>(std::find_if(stages.begin(), stages.end(), has_loops) - stages.begin());
}

std::vector<std::int32_t> drop_unused_accesses(LoopProgram& program) {
  std::vector<std::int32_t> number(program.accesses.size(), -1), former;
  std::vector<Access> accesses;
  each_instruction(program, [&](Instr& in) {
    if (!has_access(in)) return;
    std::int32_t& now = number[static_cast<std::size_t>(in.aux)];
    if (now < 0) {
      now = static_cast<std::int32_t>(accesses.size());
      former.push_back(in.aux);
      accesses.push_back(std::move(program.accesses[static_cast<std::size_t>(in.aux)]));
    }
    in.aux = now;
  });
  program.accesses = std::move(accesses);
  return former;
}

LoopProgram without_loops(const LoopProgram& program, Ints outer) {
  LoopProgram out;
  out.name = program.name;
  out.outer = std::move(outer);
  out.stages.emplace_back();
  out.arguments = program.arguments;
  out.constants = program.constants;
  out.values = program.values;
  return out;
}

LoopProgram after_stage(const LoopProgram& program, std::size_t stage, const Ints& order, const Ints& extents) {
  std::vector<const Instr*> all;
  const auto collect = [&](const std::vector<Instr>& list) {
    for (const Instr& in : list) all.push_back(&in);
  };
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    if (s != stage) collect(program.stages[s].body);
    collect(program.stages[s].outer);
  }
  // Drops instructions whose results only the stage's loops read.
  std::vector<bool> read(program.values.size(), false);
  std::vector<const Instr*> kept;
  for (std::size_t k = all.size(); k-- > 0;) {
    const Instr& in = *all[k];
    if (in.result != kNoValue && !read[static_cast<std::size_t>(in.result)]) continue;
    each_operand(in, [&](ValueId v) { read[static_cast<std::size_t>(v)] = true; });
    kept.push_back(&in);
  }
  std::reverse(kept.begin(), kept.end());
  LoopProgram out = without_loops(program, extents);
  for (const Instr* from : kept) {
    Instr in = *from;
    if (has_access(in)) {
      Access access = program.accesses[static_cast<std::size_t>(in.aux)];
      access.permute(order);
      in.aux = static_cast<std::int32_t>(out.accesses.size());
      out.accesses.push_back(std::move(access));
    }
    out.stages[0].outer.push_back(in);
  }
  return out;
}

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
  each_instruction(program, [&](const Instr& in) {
    if (in.code == Code::Gather) fixed[argument_of(program.accesses[static_cast<std::size_t>(in.aux)])] = true;
  });
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
