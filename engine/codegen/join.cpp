#include "codegen/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/cost.hpp"
#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "schedule/shared_loops.hpp"

namespace oriel::codegen {

namespace {

std::int64_t points(const Ints& extents) { return numel(extents, "join").value(); }

class Joiner {
 public:
  Joiner(std::span<const LoweredKernel* const> kernels, const schedule::FusedKernels& fused)
      : kernels_(kernels), fused_(fused) {}

  LoweredKernel run() {
    for (std::size_t p = 0; p < kernels_.size(); ++p) add(p);
    finish_program();
    return std::move(out_);
  }

 private:
  std::int32_t argument_of(const LoweredKernel& kernel, std::size_t a) {
    const Binding& binding = kernel.bindings[a];
    const Argument& argument = kernel.program.arguments[a];
    const std::vector<schedule::EntryId>& between = fused_.between;
    const bool local = !binding.leaf && std::find(between.begin(), between.end(), binding.entry) != between.end();
    for (std::size_t k = 0; k < out_.bindings.size(); ++k) {
      const Argument& known = out_.program.arguments[k];
      if (out_.bindings[k].entry == binding.entry && out_.bindings[k].leaf == binding.leaf &&
          (local || known.output == argument.output)) {
        return static_cast<std::int32_t>(k);
      }
    }
    int serial = 0;
    for (const Argument& known : out_.program.arguments)
      serial += known.local == local && (local || known.output == argument.output);
    Argument added = argument;
    added.local = local;
    added.output = argument.output || local;
    added.name = fmt::format("{}{}", local ? "row" : argument.output ? "out" : "in", serial);
    out_.program.arguments.push_back(std::move(added));
    out_.bindings.push_back(binding);
    return static_cast<std::int32_t>(out_.bindings.size()) - 1;
  }

  void add(std::size_t p) {
    const LoweredKernel& kernel = *kernels_[p];
    const LoopProgram& from = kernel.program;
    const Ints& units = fused_.loops.units_of[p];
    if (units.size() != from.outer.size())
      throw InternalError("join", "kernel " + from.name + " has other loops than the schedule knows");
    LoopProgram& to = out_.program;
    const auto values = static_cast<ValueId>(to.values.size());
    const auto accesses = static_cast<std::int32_t>(to.accesses.size());
    const auto constants = static_cast<std::int32_t>(to.constants.size());
    to.outer = fused_.loops.extents;
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    to.constants.insert(to.constants.end(), from.constants.begin(), from.constants.end());
    for (const Access& access : from.accesses) {
      Access here = access;
      if (here.buffer >= 0) here.buffer = argument_of(kernel, static_cast<std::size_t>(access.buffer));
      here.remap(schedule::over_shared(fused_.loops, p, from.outer, stack_of(access)));
      to.accesses.push_back(std::move(here));
    }
    Ints columns;
    for (std::size_t d = 0; d < units.size(); ++d)
      if (schedule::over_columns(units[d])) columns.push_back(from.outer[d]);
    for (Stage stage : from.stages) {
      stage.part = static_cast<std::int32_t>(p);
      stage.columns = columns;
      const auto shift = [&](ValueId& v) { v += v == kNoValue ? 0 : values; };
      each_instruction(stage, [&](Instr& in) {
        for (ValueId* v : {&in.result, &in.a, &in.b, &in.c}) shift(*v);
        if (in.code == Code::Const) in.aux += constants;
        if (has_access(in)) in.aux += accesses;
      });
      for (Reduction& r : stage.reductions) {
        shift(r.input);
        shift(r.result);
      }
      to.stages.push_back(std::move(stage));
    }
    out_.notes.insert(out_.notes.end(), kernel.notes.begin(), kernel.notes.end());
    out_.domain_before += (p == 0 ? "" : "; ") + kernel.domain_before;
    out_.change.refined = out_.change.refined || kernel.change.refined;
    out_.change.permuted = out_.change.permuted || kernel.change.permuted;
    out_.change.coalesced = out_.change.coalesced || kernel.change.coalesced;
  }

  // Inputs come first, then outputs. Local arguments come last because a launch does not pass them.
  void finish_program() {
    LoopProgram& program = out_.program;
    std::vector<std::size_t> order(program.arguments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Argument& x = program.arguments[a];
      const Argument& y = program.arguments[b];
      return x.output + x.local < y.output + y.local;
    });
    std::vector<std::int32_t> place(order.size());
    std::vector<Argument> arguments;
    std::vector<Binding> bindings;
    for (const std::size_t a : order) {
      place[a] = static_cast<std::int32_t>(arguments.size());
      arguments.push_back(program.arguments[a]);
      if (!program.arguments[a].local) bindings.push_back(out_.bindings[a]);
    }
    program.arguments = std::move(arguments);
    out_.bindings = std::move(bindings);
    for (Access& access : program.accesses) {
      if (access.buffer >= 0) access.buffer = place[static_cast<std::size_t>(access.buffer)];
    }
    program.online = fused_.online;
    finish(program);
    program.orientation = Orientation::Inner;
  }

  std::span<const LoweredKernel* const> kernels_;
  const schedule::FusedKernels& fused_;
  LoweredKernel out_;
};

}  // namespace

LoweredKernel join(std::span<const LoweredKernel* const> kernels, const schedule::FusedKernels& fused) {
  return Joiner(kernels, fused).run();
}

int parts_of(const LoopProgram& program) { return program.stages.empty() ? 1 : program.stages.back().part + 1; }

LoopProgram part_program(const LoopProgram& program, int part, bool one_row) {
  LoopProgram out;
  out.name = fmt::format("{}_part{}", program.name, part);
  out.outer = program.outer;
  out.arguments = program.arguments;
  out.constants = program.constants;
  out.values = program.values;
  const std::int64_t rows = points(program.outer);
  if (one_row) {
    for (Argument& a : out.arguments)
      if (a.local) a.elements = a.elements / rows;
  }
  for (Stage stage : program.stages) {
    if (stage.part != part) continue;
    if (out.stages.empty()) out.outer.insert(out.outer.end(), stage.columns.begin(), stage.columns.end());
    stage.part = 0;
    stage.columns.clear();
    out.stages.push_back(std::move(stage));
  }
  out.accesses = program.accesses;
  drop_unused_accesses(out);
  for (Access& access : out.accesses) {
    if (!one_row || access.buffer < 0 || !program.arguments[static_cast<std::size_t>(access.buffer)].local) continue;
    View view = stack_of(access).views().back();
    for (std::size_t d = 0; d < program.outer.size(); ++d) view.strides[d] = SymInt(0);
    access.remap(ShapeTracker(view.canonical()));
  }
  const std::string name = out.name;
  finish(out);
  out.name = name;
  // A part without columns was lowered to run along rows and may keep some of them, so the orientation stays.
  if (out.outer.size() == program.outer.size()) out.orientation = Orientation::Inner;
  return out;
}

std::int64_t local_row_bytes(const LoopProgram& program) {
  const std::int64_t rows = std::max<std::int64_t>(1, points(program.outer));
  std::int64_t bytes = 0;
  for (const Argument& a : program.arguments) {
    if (a.local) bytes += a.elements.value() / rows * static_cast<std::int64_t>(itemsize(a.dtype));
  }
  return bytes;
}

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
