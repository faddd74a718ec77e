#include "codegen/definitions.hpp"

#include <algorithm>

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
  for (const Stage& stage : program.stages) {
    for (const std::vector<Instr>* list : {&stage.body, &stage.outer})
      for (const Instr& in : *list)
        if (in.result != kNoValue) definition[static_cast<std::size_t>(in.result)] = &in;
  }
  return definition;
}

std::size_t only_loops(const LoopProgram& program) {
  const auto& stages = program.stages;
  if (std::count_if(stages.begin(), stages.end(), has_loops) != 1) return stages.size();
  return static_cast<std::size_t>(std::find_if(stages.begin(), stages.end(), has_loops) - stages.begin());
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
    for (const ValueId v : {in.a, in.b, in.c})
      if (v != kNoValue) read[static_cast<std::size_t>(v)] = true;
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

}  // namespace oriel::codegen
