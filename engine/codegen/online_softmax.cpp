#include "codegen/online_softmax.hpp"

#include <algorithm>

#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"

namespace oriel::codegen {

namespace {

std::size_t buffer_of(const LoopProgram& program, const Instr& in) {
  return static_cast<std::size_t>(program.accesses[static_cast<std::size_t>(in.aux)].buffer);
}

// Drops the last stage. The stage of the sum stores its powers instead.
void store_powers(const OnlineSoftmax& softmax, OnlineParts& parts) {
  std::vector<Stage>& stages = parts.weights.stages;
  Instr store = *std::find_if(stages.back().body.begin(), stages.back().body.end(),
                              [](const Instr& in) { return in.code == Code::Store; });
  store.a = softmax.power;
  store.dtype = store.from = softmax.dtype;
  stages[softmax.sum_stage].body.push_back(store);
  stages.pop_back();
  for (LoopProgram* part : {&parts.scores, &parts.weights, &parts.products}) {
    part->arguments[softmax.weights_argument].dtype = softmax.dtype;
    for (Access& access : part->accesses)
      if (access.buffer == static_cast<std::int32_t>(softmax.weights_argument)) access.dtype = softmax.dtype;
    for (Stage& stage : part->stages)
      for (Instr& in : stage.body)
        if (in.code == Code::Load && buffer_of(*part, in) == softmax.weights_argument) in.from = softmax.dtype;
  }
}

void set_pitch(LoopProgram& part, std::size_t outer, std::int64_t columns, std::int64_t pitch) {
  for (Access& access : part.accesses) {
    if (access.buffer < 0 || !part.arguments[static_cast<std::size_t>(access.buffer)].local) continue;
    View view = stack_of(access).views().back();
    for (std::size_t d = 0; d < outer; ++d) view.strides[d] = SymInt(view.strides[d].value() / columns * pitch);
    access.remap(ShapeTracker(view));
  }
}

}  // namespace

OnlineSoftmax online_softmax_of(const LoopProgram& program) {
  std::vector<std::size_t> reductions;
  std::size_t first = program.stages.size();
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    if (program.stages[s].part != 1) continue;
    first = std::min(first, s);
    if (!program.stages[s].reductions.empty()) reductions.push_back(s);
  }
  const Stage& stage = program.stages[reductions[1]];
  const Reduction& sum = stage.reductions[0];
  const std::vector<const Instr*> definitions = definitions_of(program);
  OnlineSoftmax out;
  out.dtype = sum.dtype;
  out.columns = stage.inner[0].value();
  out.max_stage = reductions[0] - first;
  out.sum_stage = reductions[1] - first;
  // The only local arguments are the rows between the parts.
  out.scores_argument = program.arguments.size() - 2;
  out.weights_argument = program.arguments.size() - 1;
  out.power = sum.input;
  out.shifted = definitions[static_cast<std::size_t>(definitions[static_cast<std::size_t>(sum.input)]->a)]->a;
  return out;
}

OnlineParts online_parts(const LoopProgram& program, std::int64_t pitch) {
  const OnlineSoftmax& softmax = *online_softmax_in(program.form);
  OnlineParts parts{part_program(program, 0, false), part_program(program, 1, false), part_program(program, 2, false)};
  store_powers(softmax, parts);
  for (LoopProgram* part : {&parts.scores, &parts.weights, &parts.products})
    set_pitch(*part, program.outer.size(), softmax.columns, pitch);
  parts.weights.form = form_of(parts.weights);  // its last stage is gone
  return parts;
}

}  // namespace oriel::codegen
