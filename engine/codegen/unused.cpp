#include "codegen/unused.hpp"

#include <utility>

namespace oriel::codegen {

void drop_unused_accesses(LoweredKernel& kernel) {
  LoopProgram& program = kernel.program;
  std::vector<std::int32_t> number(program.accesses.size(), -1);
  std::vector<Access> accesses;
  std::vector<AccessNote> notes;
  kernel.former_accesses.clear();
  for (Stage& stage : program.stages) {
    for (std::vector<Instr>* list : {&stage.body, &stage.outer}) {
      for (Instr& in : *list) {
        if (!has_access(in)) continue;
        const auto a = static_cast<std::size_t>(in.aux);
        if (number[a] < 0) {
          number[a] = static_cast<std::int32_t>(accesses.size());
          kernel.former_accesses.push_back(in.aux);
          accesses.push_back(std::move(program.accesses[a]));
          if (!kernel.notes.empty()) notes.push_back(kernel.notes[a]);
        }
        in.aux = number[a];
      }
    }
  }
  program.accesses = std::move(accesses);
  kernel.notes = std::move(notes);
}

}  // namespace oriel::codegen
