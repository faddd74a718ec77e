#include "runtime/compiled.hpp"

#include <algorithm>
#include <utility>

#include "runtime/caches.hpp"
#include "runtime/observe.hpp"

namespace oriel::runtime {

schedule::FusionLimits limits_of(const backend::Backend& backend) {
  schedule::FusionLimits limits;
  limits.instructions = std::min(limits.instructions, backend.capabilities().max_instructions);
  limits.arguments = std::min(limits.arguments, backend.capabilities().max_arguments);
  limits.parameters = std::min(limits.parameters, backend.capabilities().max_parameters);
  limits.row_bytes = backend.capabilities().row_bytes;
  limits.parts = backend.capabilities().parts;
  limits.patterns = backend.capabilities().patterns;
  limits.online = limits.parts > 1;
  return limits;
}

schedule::DeviceLimits limits_of(const Key& key) {
  schedule::DeviceLimits limits;
  for (const Device device : key.devices) limits.set(device, limits_of(backend::backend_for(device)));
  return limits;
}

namespace {

/// Shows each device all its kernels together.
void prepare(const CompiledSchedule& schedule) {
  std::vector<std::pair<backend::Backend*, std::vector<std::shared_ptr<const backend::Kernel>>>> devices;
  for (const LaunchStep& step : schedule.steps) {
    if (step.kernel == nullptr) continue;
    auto known = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.first == step.device; });
    if (known == devices.end()) {
      devices.push_back({step.device, {}});
      known = std::prev(devices.end());
    }
    known->second.push_back(step.kernel);
  }
  for (const auto& [device, kernels] : devices) device->prepare(kernels);
}

/// The arguments of a kernel's program that hold floats.
std::vector<LaunchStep::Floats> floats_of(const codegen::LoopProgram& program) {
  std::vector<LaunchStep::Floats> out;
  out.reserve(program.arguments.size());
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    const codegen::Argument& argument = program.arguments[a];
    if (is_floating(argument.dtype) && !argument.local)
      out.push_back({static_cast<std::uint32_t>(a), argument.dtype, argument.elements.value(), argument.output});
  }
  return out;
}

/// Says which root each step works for.
void name_roots(CompiledSchedule& schedule) {
  std::vector<std::int32_t> root_of(schedule.output_bytes.size(), -1);
  for (std::size_t r = schedule.output_of_root.size(); r-- > 0;)
    root_of[static_cast<std::size_t>(schedule.output_of_root[r])] = static_cast<std::int32_t>(r);
  std::int32_t root = -1;
  for (auto step = schedule.steps.rbegin(); step != schedule.steps.rend(); ++step) {
    for (const std::int32_t output : step->stores) {
      if (root_of[static_cast<std::size_t>(output)] < 0) continue;  // kept, and no root
      root = root_of[static_cast<std::size_t>(output)];
      break;
    }
    step->root = root;
  }
}

}  // namespace

LaunchStep step_of(const codegen::LoopProgram& program, backend::Backend& device, bool copies) {
  LaunchStep step;
  step.device = &device;
  step.name = program.name;
  step.flops = program.flops;
  step.bytes = program.bytes;
  if (!copies) step.floats = floats_of(program);
  for (const codegen::Argument& argument : program.arguments)
    if (!argument.local) step.writes.push_back(argument.output);
  return step;
}

void add_step(CompiledSchedule& schedule, LaunchStep step, const PlannedKernel& kernel,
              std::vector<ArgumentSource> arguments, std::int64_t bytes) {
  for (std::size_t a = 0; a < arguments.size(); ++a)
    if (step.writes[a] && arguments[a].kind == ArgumentSource::Kind::Output) step.stores.push_back(arguments[a].index);
  step.arguments = std::move(arguments);
  step.lines = kernel.lines;
  step.node = kernel.node;
  if (kernel.copied_from) {
    step.copied_from = &backend::backend_for(*kernel.copied_from);
    step.copied_bytes = bytes;
    if (step.writes[0]) std::swap(step.arguments[0], step.arguments[1]);
    step.writes = {false, true};
  }
  schedule.steps.push_back(std::move(step));
}

void finish(CompiledSchedule& schedule, const Plan& plan, std::span<const PlannedOutput> outputs,
            schedule::MemoryPlan memory) {
  for (const PlannedOutput& o : outputs) {
    schedule.output_bytes.push_back(o.bytes);
    schedule.output_home.push_back(o.home);
    schedule.output_device.push_back(o.device);
  }
  schedule.output_of_root = plan.output_of_root;
  schedule.kept = plan.kept;
  schedule.context = plan.arena->home().context;
  name_roots(schedule);
  schedule.memory = std::move(memory);
  prepare(schedule);
}

std::shared_ptr<const CompiledSchedule> compile_schedule(std::span<const graph::NodePtr> roots, const Key& key,
                                                         KernelCache& kernels) {
  auto compiled = std::make_shared<CompiledSchedule>();
  const auto add = [&](const PlannedKernel& k) {
    LaunchStep step = step_of(k.lowered.program, backend::backend_for(k.device), k.copied_from.has_value());
    if (!k.copied_from) step.kernel = kernels.compile(*step.device, k.lowered.program);
    add_step(*compiled, std::move(step), k, k.arguments, k.bytes);
  };
  const std::uint16_t context = roots.front()->device.context;
  const bool watched = plan_watched(context);
  const Plan plan = make_plan(roots, key, limits_of(key), watched ? KernelSink{} : KernelSink(add));
  if (watched) {
    // Observe the plan first, so that a dump also shows a kernel that a device refuses.
    const PlanNumbers seen = inspection().observe_plan(plan, key.order.size());
    compiled->dumped = seen.dumped;
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      if (!plan.kernels[k].runs) continue;
      add(plan.kernels[k]);
      if (seen.reported) compiled->steps.back().reported = *seen.reported + static_cast<std::int64_t>(k);
    }
  }
  finish(*compiled, plan, plan.outputs, plan.memory);
  compiled->key_words = key.words;
  return compiled;
}

}  // namespace oriel::runtime
