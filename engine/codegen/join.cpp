#include "codegen/join.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/cost.hpp"
#include "codegen/stack.hpp"
#include "oriel/error.hpp"
#include "schedule/shared_loops.hpp"

namespace oriel::codegen {

namespace {

std::int64_t points(const Ints& extents) { return numel(extents, "join").value(); }

template <class Program, class F>
void for_instructions(Program& program, F&& f) {
  for (auto& stage : program.stages) {
    for (auto* list : {&stage.body, &stage.outer})
      for (auto& in : *list) f(in);
  }
}

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
      for (std::vector<Instr>* list : {&stage.body, &stage.outer}) {
        for (Instr& in : *list) {
          for (ValueId* v : {&in.result, &in.a, &in.b, &in.c}) shift(*v);
          if (in.code == Code::Const) in.aux += constants;
          if (has_access(in)) in.aux += accesses;
        }
      }
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
  std::vector<std::int32_t> number(program.accesses.size(), -1);
  for (Stage stage : program.stages) {
    if (stage.part != part) continue;
    if (out.stages.empty()) out.outer.insert(out.outer.end(), stage.columns.begin(), stage.columns.end());
    stage.part = 0;
    stage.columns.clear();
    out.stages.push_back(std::move(stage));
  }
  for_instructions(out, [&](Instr& in) {
    if (!has_access(in)) return;
    std::int32_t& known = number[static_cast<std::size_t>(in.aux)];
    if (known < 0) {
      known = static_cast<std::int32_t>(out.accesses.size());
      Access access = program.accesses[static_cast<std::size_t>(in.aux)];
      if (one_row && access.buffer >= 0 && program.arguments[static_cast<std::size_t>(access.buffer)].local) {
        View view = stack_of(access).views().back();
        for (std::size_t d = 0; d < program.outer.size(); ++d) view.strides[d] = SymInt(0);
        access.remap(ShapeTracker(view.canonical()));
      }
      out.accesses.push_back(std::move(access));
    }
    in.aux = known;
  });
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

}  // namespace oriel::codegen
