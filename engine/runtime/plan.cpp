#include "runtime/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/sizes.hpp"
#include "oriel/error.hpp"
#include "runtime/memory_assignment.hpp"
#include "schedule/describe.hpp"
#include "schedule/donation.hpp"
#include "schedule/fused_kernels.hpp"

namespace oriel::runtime {

using schedule::EntryId;
using schedule::KernelId;

namespace {

/// The requested values, each once. `early` holds the ones that are among the last roots of the key.
struct Requested {
  std::vector<EntryId> all;
  std::vector<EntryId> early;
};

Requested request(Plan& plan, std::size_t roots, std::size_t early) {
  const schedule::Arena& arena = *plan.arena;
  Requested requested;
  std::vector<std::int32_t> output_of(arena.size(), -1);
  for (std::size_t i = 0; i < roots; ++i) {
    const EntryId e = arena.root(i);
    std::int32_t& output = output_of[static_cast<std::size_t>(e)];
    if (output < 0) {
      output = static_cast<std::int32_t>(plan.outputs.size());
      plan.outputs.push_back({e, bytes_of(arena[e]), -1, arena.device(e)});
      requested.all.push_back(e);
      if (i + early >= roots) requested.early.push_back(e);
    }
    plan.output_of_root.push_back(output);
  }
  return requested;
}

/// Returns why a leaf may not be overwritten, or an empty string if it may.
schedule::LeafGuard leaf_guard(const Key& key, const LeafNumbers& leaves) {
  return [&](const mem::BufferPtr& buffer) -> std::string {
    if (!buffer->writable()) return "is borrowed memory, which is read-only";
    switch (key.leaf_readers[static_cast<std::size_t>(leaves.of(buffer.get()))]) {
      case Usage::Readers::none:
        return "";
      case Usage::Readers::pending:
        return "is still read by pending tensors that the program holds; realise them first";
      default:
        return "can still be read from elsewhere";
    }
  };
}

/// Decides which kernels there are, in which order they run, and which values reuse memory.
void schedule_kernels(Plan& plan, const Key& key, const LeafNumbers& leaves, const Requested& requested,
                      const schedule::DeviceLimits& limits) {
  const schedule::Arena& arena = *plan.arena;
  plan.graph = schedule::form_kernels(arena, requested.all, limits, leaf_guard(key, leaves), requested.early);
  schedule::join_kernels(arena, requested.all, limits, plan.graph);
  if (!limits.of(arena.home()).donates) return;
  const auto dies = [&](EntryId e) {
    return bool{key.leaf_dies[static_cast<std::size_t>(leaves.of(arena[e].buffer().get()))]};
  };
  schedule::donate_memory(arena, requested.all, dies, plan.graph);
}

/// Names the kernel in the message of one that cannot be lowered with symbolic sizes.
codegen::KernelParts symbolic_parts(const Plan& plan, KernelId id) {
  try {
    return codegen::lower_parts(*plan.arena, plan.graph, id);
  } catch (const ArgumentError& error) {
    const std::string_view why = error.reason();
    const schedule::Entry& root = (*plan.arena)[plan.graph.kernels[static_cast<std::size_t>(id)].root];
    const std::string line = schedule::site_text(root.node->site);
    throw ArgumentError("schedule", fmt::format("the kernel that computes {} {}{}: {}", graph::snake_name(root.op),
                                                to_string(root.shape()), line.empty() ? "" : " (" + line + ")", why));
  }
}

/// Lowers a kernel to the device's program, or to a copy of bytes. Its arguments are in places that are known so far.
PlannedKernel plan_kernel(const Plan& plan, std::size_t step, MemoryAssignment& assignment,
                          const schedule::DeviceLimits& limits, bool symbolic) {
  const schedule::Arena& arena = *plan.arena;
  const KernelId id = plan.graph.order[step];
  const schedule::Kernel& kernel = plan.graph.kernels[static_cast<std::size_t>(id)];
  PlannedKernel planned;
  planned.id = id;
  planned.device = kernel.device;
  planned.runs = numel(kernel.root_shape) != 0;
  assignment.store(kernel, step);
  if (!planned.runs) return planned;
  if (kernel.copy) {
    planned.copied_from = arena.device(arena[kernel.root].source[0]);
    planned.bytes = bytes_of(arena[kernel.root]);
  }
  if (!symbolic) {
    planned.lowered = codegen::lower(arena, plan.graph, id, limits.of(kernel.device).row_bytes);
    for (const codegen::Binding& b : planned.lowered.bindings) planned.arguments.push_back(assignment.source(b, step));
    return planned;
  }
  planned.parts = symbolic_parts(plan, id);
  const std::vector<codegen::Binding> values = codegen::number_values(planned.parts);
  const std::vector<EntryId>& between = planned.parts.fused.between;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const bool local = !values[v].leaf && std::ranges::find(between, static_cast<EntryId>(v)) != between.end();
    planned.arguments.push_back(local ? ArgumentSource{} : assignment.source(values[v], step));
  }
  return planned;
}

}  // namespace

Plan make_plan(std::span<const graph::NodePtr> roots, const Key& key, const schedule::DeviceLimits& limits,
               const KernelSink& sink, bool symbolic) {
  const detail::MergeStatistics before = detail::thread_merge_statistics();
  const LeafNumbers leaves(key);
  Plan plan;
  plan.arena = std::make_unique<schedule::Arena>(roots, key.order, key.parameters);
  schedule_kernels(plan, key, leaves, request(plan, roots.size(), key.early), limits);
  MemoryAssignment assignment(plan, leaves);
  if (!sink) plan.kernels.reserve(plan.graph.order.size());
  for (std::size_t step = 0; step < plan.graph.order.size(); ++step) {
    PlannedKernel planned = plan_kernel(plan, step, assignment, limits, symbolic);
    if (!sink)
      plan.kernels.push_back(std::move(planned));
    else if (planned.runs)
      sink(std::move(planned));
  }
  plan.memory = assignment.memory();
  if (symbolic) {
    plan.lifetimes = assignment.lifetimes();
    plan.first_values = assignment.first_values();
  }
  plan.view_merges = detail::thread_merge_statistics() - before;
  return plan;
}

}  // namespace oriel::runtime
