#include "runtime/open_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "oriel/error.hpp"
#include "runtime/places.hpp"
#include "schedule/describe.hpp"

namespace oriel::runtime {

namespace {

/// Names the kernel in the message of one that cannot be lowered with symbolic sizes.
codegen::OpenStep open_step(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId id) {
  try {
    return codegen::open_step(arena, graph, id);
  } catch (const ArgumentError& error) {
    const std::string_view why = error.reason();
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
    codegen::OpenStep open = open_step(*plan_.arena, graph, id);
    Step& step = steps_.emplace_back();
    for (std::size_t v = 0; v < open.values.size(); ++v)
      step.values.push_back(open.between(v) ? ArgumentSource{} : places.source(open.values[v], s));
    if (kernel.copy) {
      const schedule::EntryId source = (*plan_.arena)[kernel.root].source[0];
      step.copied_from = &backend::backend_for(plan_.arena->device(source));
      step.copied = kernel.root;
    }
    step.program = number_of({std::move(open.program), &backend::backend_for(kernel.device),
                              limits.of(kernel.device).row_bytes, !kernel.copy});
    ++programs_[step.program].steps;
  }
  lifetimes_ = places.lifetimes();
  first_values_ = places.first_values();
}

std::size_t OpenPlan::number_of(Program program) {
  const std::uint64_t hash = hash_value(program.open);
  const auto [first, last] = program_of_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const Program& other = programs_[known->second];
    if (other.device == program.device && other.runs == program.runs && same_program(other.open, program.open))
      return known->second;
  }
  program_of_hash_.emplace(hash, programs_.size());
  programs_.push_back(std::move(program));
  return programs_.size() - 1;
}

void OpenPlan::collect(const Key& key) {
  const schedule::Arena& arena = *plan_.arena;
  for (const Program& program : programs_) codegen::add_sizes(program.open, sizes_);
  for (const Step& step : steps_)
    if (step.copied != schedule::kNone) sizes_.add(arena[step.copied].shape());
  for (const PlannedOutput& output : plan_.outputs) sizes_.add(arena[output.entry].shape());
  for (const schedule::EntryId value : first_values_) sizes_.add(arena[value].shape());
  for (const Key::SizeParameter& p : key.size_parameters) sizes_.add(p.size);
  for (const graph::NodePtr& root : roots_) sizes_.add(kinds_.emplace_back(graph::realized_kind(*root)));
  sizes_.compile();
  for (Program& program : programs_)
    if (program.runs && program.open.kernels.size() == 1)
      program.family = program.device->family(program.open.kernels.front(), variables());
}

std::int64_t OpenPlan::bytes_at(const graph::Sizes::At& at, schedule::EntryId value) const {
  const schedule::Entry& entry = (*plan_.arena)[value];
  return bytes_of(at(entry.shape()), entry.dtype);
}

std::vector<LaunchStep> OpenPlan::steps_at(const graph::Sizes::At& at, std::span<const std::int64_t> values,
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
    codegen::LoweredKernel closed = codegen::close_at(program.open, at, program.row_bytes);
    launches[p].bindings = std::move(closed.bindings);
    launches[p].steps = program.steps;
    for (std::size_t a = 0; a < launches[p].bindings.size(); ++a)
      launches[p].outputs.push_back(closed.program.arguments[a].output);
    LaunchStep& step = launches[p].step;
    step.device = program.device;
    step.flops = closed.program.flops;
    step.bytes = closed.program.bytes;
    step.name = closed.program.name;
    if (program.runs) step.floats = floats_of(closed.program);
    if (program.runs) step.kernel = kernels.compile(*program.device, std::move(closed), program.family.get(), values);
  }
  std::vector<LaunchStep> steps;
  steps.reserve(steps_.size());
  for (const Step& from : steps_) {
    Launch& launch = launches[from.program];
    LaunchStep& step =
        --launch.steps == 0 ? steps.emplace_back(std::move(launch.step)) : steps.emplace_back(launch.step);
    step.arguments.reserve(launch.bindings.size());
    for (std::size_t a = 0; a < launch.bindings.size(); ++a) {
      const ArgumentSource source = from.values[static_cast<std::size_t>(launch.bindings[a].entry)];
      step.arguments.push_back(source);
      if (launch.outputs[a] && source.kind == ArgumentSource::Kind::Output) step.stores.push_back(source.index);
    }
    if (from.copied_from == nullptr) continue;
    if (launch.outputs[0]) std::swap(step.arguments[0], step.arguments[1]);
    step.copied_from = from.copied_from;
    step.copied_bytes = bytes_at(at, from.copied);
  }
  return steps;
}

OpenPlan::Schedule OpenPlan::at(std::span<const std::int64_t> values, KernelCache& kernels) const {
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

}  // namespace oriel::runtime
