#include "runtime/symbolic_plan.hpp"

#include <algorithm>
#include <utility>

#include "runtime/memory_assignment.hpp"
#include "runtime/observe.hpp"

namespace oriel::runtime {

SymbolicPlan::SymbolicPlan(std::vector<graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits)
    : roots_(std::move(roots)),
      parameters_(key.parameter_values),
      size_parameters_(key.size_parameters),
      nodes_(key.order.size()) {
  plan_ = make_plan(
      roots_, key, limits, [&](PlannedKernel&& kernel) { add(std::move(kernel), limits); }, true);
  collect(key);
}

void SymbolicPlan::add(PlannedKernel&& kernel, const schedule::DeviceLimits& limits) {
  // Steps of one program differ in what is told of them.
  codegen::KernelParts told;
  for (codegen::LoweredKernel& part : kernel.parts.kernels)
    told.kernels.push_back({{}, {}, std::move(part.notes), std::move(part.domain_before), {}, {}});
  const std::size_t program =
      number_of({std::exchange(kernel.parts, std::move(told)), &backend::backend_for(kernel.device),
                 limits.of(kernel.device).row_bytes, !kernel.copied_from});
  ++programs_[program].steps;
  steps_.push_back({program, std::move(kernel)});
}

schedule::EntryId SymbolicPlan::stored(const PlannedKernel& kernel) const {
  return plan_.graph.kernels[static_cast<std::size_t>(kernel.id)].root;
}

std::size_t SymbolicPlan::number_of(Program program) {
  const std::uint64_t hash = hash_value(program.parts);
  const auto [first, last] = program_of_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Program& other = programs_[known->second];
    if (other.device == program.device && other.runs == program.runs && same_parts(other.parts, program.parts))
      return known->second;
  }
  program_of_hash_.emplace(hash, programs_.size());
  programs_.push_back(std::move(program));
  return programs_.size() - 1;
}

void SymbolicPlan::collect(const Key& key) {
  const schedule::Arena& arena = *plan_.arena;
  for (const Program& program : programs_) codegen::add_sizes(program.parts, sizes_);
  for (const Step& step : steps_)
    if (step.kernel.copied_from) sizes_.add(arena[stored(step.kernel)].shape());
  for (const PlannedOutput& output : plan_.outputs) sizes_.add(arena[output.entry].shape());
  for (const schedule::EntryId value : plan_.first_values) sizes_.add(arena[value].shape());
  for (const Key::SizeParameter& p : key.size_parameters) sizes_.add(p.size);
  for (const graph::NodePtr& root : roots_) sizes_.add(kinds_.emplace_back(graph::realized_kind(*root)));
  sizes_.compile();
  if (variables().empty()) return;
  for (Program& program : programs_)
    if (program.runs && program.parts.kernels.size() == 1)
      program.family = program.device->family(program.parts.kernels.front().program, variables());
}

std::int64_t SymbolicPlan::bytes_at(const graph::Sizes::At& at, schedule::EntryId value) const {
  const schedule::Entry& entry = (*plan_.arena)[value];
  return bytes_of(at(entry.shape()), entry.dtype);
}

void SymbolicPlan::add_steps(CompiledSchedule& schedule, const graph::Sizes::At& at,
                             std::span<const std::int64_t> values, KernelCache& kernels) const {
  struct Launch {
    LaunchStep step;
    std::vector<codegen::Binding> bindings;
    std::size_t steps;  // that are still to be made
  };
  std::vector<Launch> launches;
  launches.reserve(programs_.size());
  for (const Program& program : programs_) {
    codegen::LoweredKernel sized = codegen::complete(codegen::at(program.parts, at), program.row_bytes);
    Launch& launch = launches.emplace_back(
        Launch{step_of(sized.program, *program.device, !program.runs), std::move(sized.bindings), program.steps});
    if (program.runs)
      launch.step.kernel = kernels.compile(*program.device, std::move(sized), program.family.get(), values);
  }
  schedule.steps.reserve(steps_.size());
  for (const Step& step : steps_) {
    Launch& launch = launches[step.program];
    std::vector<ArgumentSource> arguments;
    arguments.reserve(launch.bindings.size());
    for (const codegen::Binding& binding : launch.bindings)
      arguments.push_back(step.kernel.arguments[static_cast<std::size_t>(binding.entry)]);
    add_step(schedule, --launch.steps == 0 ? std::move(launch.step) : launch.step, step.kernel, std::move(arguments),
             step.kernel.copied_from ? bytes_at(at, stored(step.kernel)) : 0);
  }
}

SymbolicPlan::Memory SymbolicPlan::memory_at(const graph::Sizes::At& at) const {
  Memory memory{plan_.outputs, {}};
  for (PlannedOutput& output : memory.outputs) output.bytes = bytes_at(at, output.entry);
  std::vector<schedule::Lifetime> lifetimes = plan_.lifetimes;
  for (std::size_t t = 0; t < lifetimes.size(); ++t) lifetimes[t].bytes = bytes_at(at, plan_.first_values[t]);
  memory.temporaries = schedule::plan_memory(lifetimes);
  return memory;
}

Plan SymbolicPlan::shown_at(const graph::Sizes::At& at, const Memory& memory) const {
  Plan out;
  out.arena = plan_.arena;
  out.graph = plan_.graph;
  out.view_merges = plan_.view_merges;
  out.outputs = memory.outputs;
  out.memory = memory.temporaries;
  for (const Step& step : steps_) {
    const Program& program = programs_[step.program];
    codegen::KernelParts parts = codegen::at(program.parts, at);
    for (std::size_t p = 0; p < parts.kernels.size(); ++p) {
      parts.kernels[p].notes = step.kernel.parts.kernels[p].notes;
      parts.kernels[p].domain_before = step.kernel.parts.kernels[p].domain_before;
    }
    PlannedKernel& kernel = out.kernels.emplace_back(step.kernel);
    kernel.lowered = codegen::complete(std::move(parts), program.row_bytes);
    kernel.arguments.clear();
    for (codegen::Binding& binding : kernel.lowered.bindings) {
      kernel.arguments.push_back(step.kernel.arguments[static_cast<std::size_t>(binding.entry)]);
      binding = step.kernel.values[static_cast<std::size_t>(binding.entry)];
    }
    if (kernel.copied_from) kernel.bytes = bytes_at(at, stored(kernel));
  }
  return out;
}

SymbolicPlan::Schedule SymbolicPlan::at(std::span<const std::int64_t> values, KernelCache& kernels) const {
  const graph::Sizes::At at = sizes_.at(values);
  auto compiled = std::make_shared<CompiledSchedule>();
  Memory memory = memory_at(at);
  PlanNumbers seen;
  // Observe the plan first, so that a dump also shows a kernel that a device refuses.
  if (plan_watched(plan_.arena->home().context)) seen = inspection().observe_plan(shown_at(at, memory), nodes_);
  add_steps(*compiled, at, values, kernels);
  for (std::size_t k = 0; seen.reported && k < compiled->steps.size(); ++k)
    compiled->steps[k].reported = *seen.reported + static_cast<std::int64_t>(k);
  compiled->dumped = seen.dumped;
  finish(*compiled, plan_, memory.outputs, std::move(memory.temporaries));
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    LaunchStep& step = compiled->steps[k];
    step.site = step.node >= 0   ? (*plan_.arena)[stored(steps_[k].kernel)].node->site
                : step.root >= 0 ? roots_[static_cast<std::size_t>(step.root)]->site
                                 : Site::unknown();
  }

  Schedule out{std::move(compiled), parameters_, {}};
  for (const Key::SizeParameter& p : size_parameters_) {
    const graph::Scalar number = graph::Scalar::of_size(p.dtype, at(p.size).value());
    out.parameters[p.parameter] = is_half(p.dtype) ? number.cast(DType::float32) : number;
  }
  for (const graph::RealizedKind& kind : kinds_) out.roots.push_back(at(kind));
  return out;
}

}  // namespace oriel::runtime
