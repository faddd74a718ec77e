#include "runtime/open_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"
#include "runtime/places.hpp"
#include "schedule/describe.hpp"

namespace oriel::runtime {

namespace {

/// Names the kernel in the message of one that cannot be lowered with symbolic sizes.
codegen::OpenKernel lower_symbolic(const schedule::Arena& arena, const schedule::KernelGraph& graph,
                                   schedule::KernelId id) {
  try {
    return codegen::lower_open(arena, graph, id);
  } catch (const ArgumentError& error) {
    const std::string_view why = error.message().substr(error.operation().size() + 2);
    const schedule::Entry& root = arena[graph.kernels[static_cast<std::size_t>(id)].root];
    const std::string line = schedule::site_text(root.node->site);
    throw ArgumentError("schedule", fmt::format("the kernel that computes {} {}{}: {}", graph::snake_name(root.op),
                                                to_string(root.shape()), line.empty() ? "" : " (" + line + ")", why));
  }
}

}  // namespace

OpenPlan::OpenPlan(std::vector<graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits)
    : roots_(std::move(roots)), parameters_(key.parameter_values), size_parameters_(key.size_parameters) {
  lower(key, limits);
  collect(key);
}

void OpenPlan::lower(const Key& key, const schedule::DeviceLimits& limits) {
  const LeafNumbers leaves(key);
  plan_ = schedule_graph(roots_, key, leaves, limits, true);
  const schedule::KernelGraph& graph = plan_.graph;
  Places places(plan_, leaves, true);
  steps_.reserve(graph.order.size());
  for (std::size_t s = 0; s < graph.order.size(); ++s) {
    const schedule::KernelId id = graph.order[s];
    const schedule::Kernel& kernel = graph.kernels[static_cast<std::size_t>(id)];
    places.store(kernel, s);
    if (numel(kernel.root_shape) == 0) continue;
    Program program{lower_symbolic(*plan_.arena, graph, id), &backend::backend_for(kernel.device),
                    limits.of(kernel.device).row_bytes, !kernel.copy};
    Step& step = steps_.emplace_back();
    const codegen::LoweredKernel& lowered = program.kernel.lowered;
    for (std::size_t a = 0; a < lowered.bindings.size(); ++a) {
      const ArgumentSource source = places.source(lowered.bindings[a], s);
      step.arguments.push_back(source);
      if (lowered.program.arguments[a].output && source.kind == ArgumentSource::Kind::Output)
        step.stores.push_back(source.index);
    }
    if (kernel.copy) {
      const schedule::EntryId source = (*plan_.arena)[kernel.root].source[0];
      step.copied_from = &backend::backend_for(plan_.arena->device(source));
      step.copied = kernel.root;
      if (lowered.program.arguments[0].output) std::swap(step.arguments[0], step.arguments[1]);
    }
    step.program = number_of(std::move(program));
  }
  lifetimes_ = places.lifetimes();
  first_values_ = places.first_values();
}

std::size_t OpenPlan::number_of(Program program) {
  const std::uint64_t hash = hash_value(program.kernel);
  const auto [first, last] = program_of_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Program& other = programs_[known->second];
    if (other.device == program.device && other.runs == program.runs && same_kernel(other.kernel, program.kernel))
      return known->second;
  }
  program_of_hash_.emplace(hash, programs_.size());
  programs_.push_back(std::move(program));
  return programs_.size() - 1;
}

void OpenPlan::collect(const Key& key) {
  const schedule::Arena& arena = *plan_.arena;
  for (const Program& program : programs_) codegen::add_sizes(program.kernel, sizes_);
  for (const Step& step : steps_)
    if (step.copied != schedule::kNone) sizes_.add(arena[step.copied].shape());
  for (const PlannedOutput& output : plan_.outputs) sizes_.add(arena[output.entry].shape());
  for (const schedule::EntryId value : first_values_) sizes_.add(arena[value].shape());
  for (const Key::SizeParameter& p : key.size_parameters) sizes_.add(p.size);
  for (const graph::NodePtr& root : roots_) sizes_.add(kinds_.emplace_back(graph::realized_kind(*root)));
  sizes_.compile();
}

std::int64_t OpenPlan::bytes_at(const graph::Sizes::At& at, schedule::EntryId value) const {
  const schedule::Entry& entry = (*plan_.arena)[value];
  return bytes_of(at(entry.shape()), entry.dtype);
}

std::vector<LaunchStep> OpenPlan::steps_at(const graph::Sizes::At& at, KernelCache& kernels) const {
  std::vector<LaunchStep> launches(programs_.size());  // without what differs from step to step
  for (std::size_t p = 0; p < programs_.size(); ++p) {
    const Program& program = programs_[p];
    codegen::LoopProgram closed = codegen::close_at(program.kernel, at, program.row_bytes).program;
    launches[p].device = program.device;
    launches[p].flops = closed.flops;
    launches[p].bytes = closed.bytes;
    if (program.runs) launches[p].kernel = kernels.compile(*program.device, closed);
    launches[p].name = std::move(closed.name);
  }
  std::vector<LaunchStep> steps;
  steps.reserve(steps_.size());
  for (const Step& step : steps_) {
    LaunchStep& launch = steps.emplace_back(launches[step.program]);
    launch.arguments = step.arguments;
    launch.stores = step.stores;
    if (step.copied_from == nullptr) continue;
    launch.copied_from = step.copied_from;
    launch.copied_bytes = bytes_at(at, step.copied);
  }
  return steps;
}

OpenPlan::Schedule OpenPlan::at(std::span<const std::int64_t> values, KernelCache& kernels) const {
  const graph::Sizes::At at = sizes_.at(values);
  auto compiled = std::make_shared<CompiledSchedule>();
  compiled->steps = steps_at(at, kernels);
  for (const PlannedOutput& output : plan_.outputs) {
    compiled->output_bytes.push_back(bytes_at(at, output.entry));
    compiled->output_home.push_back(output.home);
    compiled->output_device.push_back(output.device);
  }
  compiled->output_of_root = plan_.output_of_root;
  name_roots(*compiled);
  std::vector<schedule::Lifetime> lifetimes = lifetimes_;
  for (std::size_t t = 0; t < lifetimes.size(); ++t) lifetimes[t].bytes = bytes_at(at, first_values_[t]);
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

bool joins_kernels(const std::vector<graph::NodePtr>& roots) {
  LookedAt looked(roots, Due::left);
  Key& key = looked.key;
  key.keep_leaves();
  const schedule::DeviceLimits limits = limits_of(key);
  if (std::ranges::all_of(key.devices, [&](Device device) { return limits.of(device).parts == 1; })) return false;
  return !schedule_graph(roots, key, LeafNumbers(key), limits, false).graph.joined.empty();
}

}  // namespace oriel::runtime
