#include "runtime/symbolic_plan.hpp"

#include <algorithm>

#include "runtime/memory_assignment.hpp"

namespace oriel::runtime {

SymbolicPlan::SymbolicPlan(std::vector<graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits)
    : roots_(std::move(roots)), parameters_(key.parameter_values), size_parameters_(key.size_parameters) {
  plan_ = make_plan(
      roots_, key, limits, [&](PlannedKernel&& kernel) { add(std::move(kernel), limits); }, true);
  collect(key);
}

void SymbolicPlan::add(PlannedKernel&& kernel, const schedule::DeviceLimits& limits) {
  Step& step = steps_.emplace_back();
  step.values = std::move(kernel.arguments);
  step.kernel = kernel.id;
  step.lines = std::move(kernel.lines);
  step.node = kernel.node;
  if (kernel.copied_from) step.copied_from = &backend::backend_for(*kernel.copied_from);
  step.program = number_of({std::move(kernel.parts), &backend::backend_for(kernel.device),
                            limits.of(kernel.device).row_bytes, !kernel.copied_from});
  ++programs_[step.program].steps;
}

schedule::EntryId SymbolicPlan::copied(const Step& step) const {
  return plan_.graph.kernels[static_cast<std::size_t>(step.kernel)].root;
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
    if (step.copied_from != nullptr) sizes_.add(arena[copied(step)].shape());
  for (const PlannedOutput& output : plan_.outputs) sizes_.add(arena[output.entry].shape());
  for (const schedule::EntryId value : plan_.first_values) sizes_.add(arena[value].shape());
  for (const Key::SizeParameter& p : key.size_parameters) sizes_.add(p.size);
  for (const graph::NodePtr& root : roots_) sizes_.add(kinds_.emplace_back(graph::realized_kind(*root)));
  sizes_.compile();
  for (Program& program : programs_)
    if (program.runs && program.parts.kernels.size() == 1)
      program.family = program.device->family(program.parts.kernels.front().program, variables());
}

std::int64_t SymbolicPlan::bytes_at(const graph::Sizes::At& at, schedule::EntryId value) const {
  const schedule::Entry& entry = (*plan_.arena)[value];
  return bytes_of(at(entry.shape()), entry.dtype);
}

std::vector<LaunchStep> SymbolicPlan::steps_at(const graph::Sizes::At& at, std::span<const std::int64_t> values,
                                               KernelCache& kernels) const {
  struct Launch {
    LaunchStep step;  // without what differs from step to step
    std::vector<codegen::Binding> bindings;
    InlineVector<bool, 8> outputs;
    std::size_t steps;  // that are still to be made
  };
  std::vector<Launch> launches(programs_.size());
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    const Program& program = programs_[p];
    codegen::LoweredKernel sized = codegen::complete(codegen::at(program.parts, at), program.row_bytes);
    launches[p].bindings = std::move(sized.bindings);
    launches[p].steps = program.steps;
    for (std::size_t a = 0; a < launches[p].bindings.size(); ++a)
      launches[p].outputs.push_back(sized.program.arguments[a].output);
    LaunchStep& step = launches[p].step;
    step.device = program.device;
    step.flops = sized.program.flops;
    step.bytes = sized.program.bytes;
    step.name = sized.program.name;
    if (program.runs) step.floats = floats_of(sized.program);
    if (program.runs) step.kernel = kernels.compile(*program.device, std::move(sized), program.family.get(), values);
  }
  std::vector<LaunchStep> steps;
  steps.reserve(steps_.size());
  for (const Step& from : steps_) {
    Launch& launch = launches[from.program];
    LaunchStep& step =
        --launch.steps == 0 ? steps.emplace_back(std::move(launch.step)) : steps.emplace_back(launch.step);
    step.lines = from.lines;
    step.node = from.node;
    step.arguments.reserve(launch.bindings.size());
    for (std::size_t a = 0; a < launch.bindings.size(); ++a) {
      const ArgumentSource source = from.values[static_cast<std::size_t>(launch.bindings[a].entry)];
      step.arguments.push_back(source);
      if (launch.outputs[a] && source.kind == ArgumentSource::Kind::Output) step.stores.push_back(source.index);
    }
    if (from.copied_from == nullptr) continue;
    if (launch.outputs[0]) std::swap(step.arguments[0], step.arguments[1]);
    step.copied_from = from.copied_from;
    step.copied_bytes = bytes_at(at, copied(from));
  }
  return steps;
}

SymbolicPlan::Schedule SymbolicPlan::at(std::span<const std::int64_t> values, KernelCache& kernels) const {
  const graph::Sizes::At at = sizes_.at(values);
  auto compiled = std::make_shared<CompiledSchedule>();
  compiled->steps = steps_at(at, values, kernels);
  for (const PlannedOutput& output : plan_.outputs) {
    compiled->output_bytes.push_back(bytes_at(at, output.entry));
    compiled->output_home.push_back(output.home);
    compiled->output_device.push_back(output.device);
  }
  compiled->output_of_root = plan_.output_of_root;
  compiled->context = plan_.arena->home().context;
  name_roots(*compiled);
  std::vector<schedule::Lifetime> lifetimes = plan_.lifetimes;
  for (std::size_t t = 0; t < lifetimes.size(); ++t) lifetimes[t].bytes = bytes_at(at, plan_.first_values[t]);
  compiled->memory = schedule::plan_memory(lifetimes);
  prepare(*compiled);

  Schedule out{std::move(compiled), parameters_, {}};
  for (const Key::SizeParameter& p : size_parameters_) {
    const graph::Scalar number = graph::Scalar::of_size(p.dtype, at(p.size).value());
    out.parameters[p.parameter] = is_half(p.dtype) ? number.cast(DType::float32) : number;
  }
  for (const graph::RealizedKind& kind : kinds_) out.roots.push_back(at(kind));
  return out;
}

}  // namespace oriel::runtime
